// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

#include "hocket/network/network.hpp"
#include "hocket/search/tree.hpp"

namespace hocket::search {

/// The network as the search sees it: computer r is rank r. Bandwidths are rounded to whole bytes/s, latencies to whole
/// ns; unlimited bandwidth is 2^50 bytes/s. Ranks that share a node, without memory links, hang on it behind unlimited cables.
/// @throws InvalidInput  if the network is not a tree, a bandwidth is below 1 byte/s, bytes < 1, or the numbers are so large
///         that the time of a broadcast cannot be counted in ns.
Tree tree_of(const Network&, std::int64_t bytes);

}  // namespace hocket::search
