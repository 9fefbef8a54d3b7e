// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/plan_in_force.hpp"

#include <utility>

namespace hocket::interpose {

PlanInForce& plan_in_force = *new PlanInForce;
std::atomic<std::uint32_t> active_collectives{0};
std::atomic<bool> plan_is_in_background{false};

void PlanInForce::set(Plan plan) {
    plan_ = std::move(plan);
    planned_ = 0;
    for (const PlanEntry& entry : plan_.entries()) planned_ |= 1U << static_cast<unsigned>(entry.collective);
}

}  // namespace hocket::interpose
