// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/network/network.hpp"
#include "hocket/schedule/schedule.hpp"

namespace hocket::search {

/// Allreduce around a ring of which some links are slow: algorithm "uneven_ring".
///
/// Each block is reduced along the ring from its start to the rank before that, from where the result goes back the
/// same way: so it never crosses between these two. Let the ring have s slow cables, and one of B = s equal blocks of a
/// message of n bytes start behind each. A stretch of ranks between two slow cables then gets n (1 - 1/s) bytes over
/// one of them and as many over the other, 2 n (1 - 1/s) in all, which is the least possible for s parts
/// (cost/wire_limit.cpp, 2). The textbook ring [Patarasuk09] gives 2 n (1 - 1/p) with p ranks.
///
/// `order`: ranks around the ring; `starts`: positions in it, each at most once; `segments` per block.
/// @throws InvalidInput  if the order is not a permutation, or starts or segments are out of range.
Schedule uneven_ring_allreduce(std::span<const Rank> order, std::span<const std::int32_t> starts,
                               std::int32_t segments);

/// Allgather around such a ring: also algorithm "uneven_ring".
///
/// Each block goes on from its rank to the end of the stretch before its own, and back to the start of its own. So the
/// slow cable into a stretch of k ranks carries the n - k blocks that come from elsewhere, the least possible, where
/// the textbook ring carries n - 1. Cables within stretches carry blocks in both directions.
///
/// Arguments and errors as above; the blocks are the ranks'.
Schedule uneven_ring_allgather(std::span<const Rank> order, std::span<const std::int32_t> starts,
                               std::int32_t segments);

/// Positions in `order` whose message from the rank before takes as long per byte as the slowest (to 1 %).
std::vector<std::int32_t> behind_slow_links(const Network&, std::span<const Rank> members, std::span<const Rank> order);

}  // namespace hocket::search
