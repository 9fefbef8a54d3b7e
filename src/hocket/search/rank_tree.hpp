// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/schedule/schedule.hpp"

namespace hocket::search {

/// Broadcast of `segments` chunks, each passed on as it comes, down a tree of ranks: `children[r]` are the ranks that r
/// sends to, in this order. Algorithm "pipelined_tree".
/// @throws InvalidInput  if that is not a tree of all ranks from the root.
Schedule bcast_down(std::span<const std::vector<Rank>> children, Rank root, std::int32_t segments);

/// The children of a tree over an order of ranks: the first of a stretch is the parent of the first ranks of the
/// `fanout` nearly equal stretches into which the rest is cut. So subtrees are stretches, which are neighbours on the
/// network if the order is depth first. Fanout 1 is a chain.
std::vector<std::vector<Rank>> split_tree(std::span<const Rank> order, std::int32_t fanout);

/// The same backwards in time: a bcast becomes a reduce, a scatter a gather. Each message goes the other way, after
/// those that it came before. The reduce combines in the order of its messages, which is that of ranks only by chance.
/// @throws InvalidInput  for other collectives.
Schedule reversed(const Schedule&);

/// The same, but each send of a rank begins when the receiver of the one before has answered by an empty message, so
/// that the first receiver can pass on while the others still wait: in a binomial tree of n ranks the last gets the
/// message after log2(n) times of one message, where sends that share the link of their rank take up to log2(n)
/// (log2(n) + 1) / 2. To wait for the send alone is not enough: an MPI calls it complete when its bytes lie in the
/// socket (perf/send_after_send.py). For schedules in which receives wait for nothing but receives, as those of bcast
/// and scatter down trees.
/// @throws InvalidInput  for other collectives.
Schedule one_send_at_a_time(const Schedule&);

/// Several schedules of one collective at once, each for every so-manieth segment: m schedules of c segments a block
/// make one of m c segments. The n-th messages of all to a peer come before the (n+1)-th.
/// @throws InvalidInput  if they differ in collective, ranks, root or segments, or have an order of operations that
///         does not allow that.
Schedule merged(std::span<const Schedule>);

}  // namespace hocket::search
