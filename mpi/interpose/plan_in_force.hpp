// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hocket/plan/plan.hpp"
#include "hocket/schedule/schedule.hpp"

namespace hocket::interpose {

constexpr std::size_t num_collectives = 9;

/// The plan that serves the program's calls, alike on all ranks. Session sets it before the first call that it serves.
class PlanInForce {
public:
    void set(Plan plan);
    [[nodiscard]] const Plan& plan() const { return plan_; }
    [[nodiscard]] const std::vector<PlanEntry>& entries() const { return plan_.entries(); }
    [[nodiscard]] bool has_entries_for(Collective collective) const {
        return (planned_ >> static_cast<unsigned>(collective) & 1U) != 0;
    }
    /// Bit c: there are entries for collective c.
    [[nodiscard]] std::uint32_t planned() const { return planned_; }

private:
    Plan plan_{};
    std::uint32_t planned_ = 0;
};

/// Not destroyed, since other threads may still run when the process ends.
extern PlanInForce& plan_in_force;

/// Bit c: the session is on, and the plan has entries for collective c or calls are counted. The only thing that a call
/// looks at if not.
extern std::atomic<std::uint32_t> active_collectives;

/// The plan serves non-blocking collectives too: there is progress in the background, on all ranks.
extern std::atomic<bool> plan_is_in_background;

inline bool is_active(Collective collective) {
    return (active_collectives.load(std::memory_order_acquire) >> static_cast<unsigned>(collective) & 1U) != 0;
}

}  // namespace hocket::interpose
