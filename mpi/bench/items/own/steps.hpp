// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/items/pattern.hpp"

namespace hocket::bench {

/// What a step of a pattern does. `item`: a run of another item.
enum class Action { send, recv, isend, irecv, sendrecv, wait, put, get, fence, flush, barrier, compute, item };

/// By its name in a suite: "isend".
std::optional<Action> action_of(std::string_view name);
inline constexpr std::string_view actions = "send|recv|isend|irecv|sendrecv|wait|put|get|fence|flush|barrier|compute";

/// Whether all ranks of the communicator or window have to make the call.
constexpr bool is_collective(Action action) { return action == Action::fence || action == Action::barrier; }

/// One line of a pattern: what each rank that it is for does.
struct Step {
    Action action = Action::wait;
    std::string on = "all";  ///< ranks: "all", "even", "odd", or one peer's name
    std::string to, from;    ///< peers
    int tag = 0, times = 1, us = 0;
    std::optional<std::int64_t> bytes;  ///< else those of the point
    const Item* item = nullptr;
    std::vector<std::pair<std::string, std::string>> options;  ///< of the item
};

/// "left", "right", "partner" (0 with 1, 2 with 3), "others", "first", "last", a number, "rank+2", "rank-2".
inline constexpr std::string_view peer_names = "left, right, partner, others, first, last, a rank, rank+N, rank-N";
bool is_peer(std::string_view name);
/// The ranks that the name means on `rank`; none where there is no such rank.
std::vector<int> peers(std::string_view name, int rank, int ranks);

/// The item "pattern.NAME".
Item pattern_of_steps(const std::string& name, const std::string& what, std::vector<Step> steps);

}  // namespace hocket::bench
