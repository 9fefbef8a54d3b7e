// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/network/network.hpp"

namespace hocket::network {

/// Which branch of the network a walk takes first.
enum class Branch : std::uint8_t {
    listed,         ///< by node id
    fastest_first,  ///< by bandwidth
    slowest_first,
    deepest_last,  ///< the branch with the farthest member last, so that a chain need not come back from it
};

/// Positions in `members` in the order of a depth-first walk of the network from the first host of `start`; ranks of
/// one host are neighbours. On a tree, a ring in this order crosses each directed link between members once, which is
/// the least possible.
std::vector<Rank> depth_first_order(const Network&, std::span<const Rank> members, Rank start, Branch);

}  // namespace hocket::network
