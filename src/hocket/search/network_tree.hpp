// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>

#include "hocket/network/network.hpp"
#include "hocket/search/tree.hpp"

namespace hocket::search {

/// The search keeps a rate for each pair of computers.
inline constexpr std::size_t most_computers = 4096;

/// The network as the search sees it: computer i is rank members[i], or rank i if no members are given. Bandwidths are
/// rounded to whole bytes/s, latencies to whole ns; unlimited bandwidth is 2^50 bytes/s. Ranks that share a node,
/// without memory links, hang on it behind unlimited cables.
/// @throws InvalidInput  if the network is not a tree, a member is not a rank of it or comes twice, there are more than
///         most_computers, a bandwidth is below 1 byte/s, bytes < 1, or the numbers are so large that the time of a
///         broadcast cannot be counted in ns.
Tree tree_of(const Network&, std::int64_t bytes, std::span<const Rank> members = {});

}  // namespace hocket::search
