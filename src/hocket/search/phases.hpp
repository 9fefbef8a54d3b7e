// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/network/network.hpp"
#include "hocket/schedule/schedule.hpp"

namespace hocket::search {

struct Message {
    Rank source, target;
    auto operator<=>(const Message&) const = default;
};

/// The messages of an all-to-all in phases: within one, no two messages share a directed link of the tree, and a rank
/// sends at most one message and receives at most one. There are as many phases as messages cross the busiest link, the
/// fewest possible [Faraj05]. Ranks are positions in `members`, network ranks in communicator order.
/// @throws InvalidInput  if the network is not a tree, a member is not a rank of it or comes twice, or there are more
///         than 4096 members.
std::vector<std::vector<Message>> contention_free_phases(const Network&, std::span<const Rank> members);

/// The all-to-all in which each rank sends in the order of the phases, one message at a time, and receives at any time:
/// algorithm "tree_phases", one segment a block. Ranks that were to wait for what they receive as well would hold each
/// other up: on two clusters of 8 that takes a third longer.
Schedule alltoall_in_phases(std::int32_t num_ranks, std::span<const std::vector<Message>> phases);

}  // namespace hocket::search
