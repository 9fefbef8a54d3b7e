// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <functional>

#include "hocket/circuits/circuit_schedule.hpp"

/// Broadcast of one message from node 0 where the switch performs one set-up or teardown at a time.
namespace hocket::search {

struct SerialAnswer {
    circuits::CircuitSchedule schedule;
    bool optimal;  ///< the search has seen all; it is tried up to 8 nodes
};

/// @param go_on  asked from time to time
SerialAnswer broadcast_serially(const circuits::Rules&, double bytes, const std::function<bool()>& go_on);

}  // namespace hocket::search
