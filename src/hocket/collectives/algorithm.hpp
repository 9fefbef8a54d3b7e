// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hocket/schedule/schedule.hpp"

/// Textbook algorithms as index arithmetic. Each can emit the part of one rank alone, in time and memory proportional
/// to that part, or to the number of ranks where a message has a block for each.
namespace hocket::collectives {

/// What an algorithm is asked for.
struct Shape {
    std::int32_t num_ranks;
    /// How fine to cut for pipelining, >= 1. An algorithm that itself cuts the message of bcast or allreduce into
    /// blocks (one for each rank, say) cuts each of those into this many; segments_for() computes what
    /// Schedule::segments becomes.
    std::int32_t segments = 1;
    /// Positions in the order at which a stretch of ranks begins, increasing; empty: each. For algorithms with
    /// Algorithm::has_starts; whoever asks keeps them.
    std::span<const std::int32_t> starts{};
};

/// An algorithm for virtual ranks 0 .. p-1 with root 0. Other roots and rank orders are made by relabelling.
struct Algorithm {
    Collective collective;
    std::string_view name;    ///< as in the literature: "pipelined_chain"
    std::string_view source;  ///< key in docs/literature.bib
    bool pipelines;           ///< segments > 1 makes sense: segments travel as messages of their own
    bool preserves_order;     ///< with root 0 and no order given it reduces in rank order, for any p (see Validation)
    std::int32_t (*cuts)(const Shape&);  ///< blocks that the algorithm cuts one message into; 1 for most
    /// A lower bound on its messages, in one segment, near enough to refuse at once what would take seconds to find too
    /// large.
    std::int64_t (*least_messages)(const Shape&);
    RankSchedule (*emit)(std::int32_t virtual_rank, const Shape&);
    bool has_starts = false;  ///< Shape::starts say where the network is slow, or where another node begins
};

/// Every algorithm, grouped by collective.
std::span<const Algorithm> all_algorithms();
/// @throws InvalidInput  listing the algorithms of the collective.
const Algorithm& find_algorithm(Collective, std::string_view name);

/// Schedule::segments of this algorithm for this shape: cuts * segments; 1 for barrier.
/// @throws InvalidInput  if the shape is not valid or comes to more than 2^31 - 1 chunks, or 2^22 if they travel one by
/// one.
std::int32_t segments_for(const Algorithm&, const Shape&);

/// Shape::segments, whatever it is now, for messages of `bytes` (as in lower()) in segments of at most
/// `segment_bytes`; 1 if the algorithm does not pipeline. The number is rounded up to three significant binary digits,
/// so that calls of similar sizes share one schedule, and is never more than segments_for() accepts.
/// @throws InvalidInput  if bytes < 0, segment_bytes < 1, or the number of ranks or the starts are not valid
std::int32_t segments_of_size(const Algorithm&, const Shape&, std::int64_t bytes, std::int64_t segment_bytes);

/// How virtual ranks map to real ones.
/// `order` is a cyclic sequence of all ranks (empty = 0 .. p-1); for rooted collectives it is rotated so that the root
/// comes first; for the others it starts as given. order[v] is the real rank of virtual rank v; block v becomes block
/// order[v].
struct Placement {
    Rank root{0};
    std::span<const Rank> order;
};

/// The part of real rank `self`.
/// @throws InvalidInput  if the shape, root, self or order is not valid (order not a permutation).
/// Without an order, time and memory are those of the part; with one, plus O(p).
RankSchedule emit_rank(const Algorithm&, const Shape&, const Placement&, Rank self);
/// The whole Schedule. @throws InvalidInput  also if it comes to more than 10^8 ops.
Schedule emit(const Algorithm&, const Shape&, const Placement&);

}  // namespace hocket::collectives
