// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/base/index.hpp"

namespace hocket {

enum class Collective : std::uint8_t {
    bcast, reduce, allreduce, allgather, alltoall, reduce_scatter_block, scatter, gather, barrier,
};

/// MPI's name in lower case without the prefix: "bcast", "reduce_scatter_block".
std::string_view name_of(Collective);
/// @throws InvalidInput  listing the accepted names.
Collective collective_from(std::string_view name);

/// Chunks first .. first+count-1.
struct ChunkRange {
    std::int32_t first;
    std::int32_t count;
    bool operator==(const ChunkRange&) const = default;
};

enum class OpKind : std::uint8_t {
    send,               ///< send the current values of the chunks, in the order listed, as one message
    recv,               ///< receive one message and store its chunks
    recv_reduce_left,   ///< receive; chunk = received (op) own: the received value is the left operand
    recv_reduce_right,  ///< receive; chunk = own (op) received
};

/// One operation of one rank. It starts when all its dependencies have completed. A send completes when its buffer may be
/// overwritten, which a network may delay until the receiver has taken the message.
struct Op {
    OpKind kind;
    Rank peer;
    std::int32_t first_range, num_ranges;            ///< into RankSchedule::ranges; none = an empty message (barrier)
    std::int32_t first_dependency, num_dependencies; ///< into RankSchedule::dependencies
};

/// What one rank does: operations in an order in which dependencies point backwards only.
/// The k-th send of a to b (in this order) is received by the k-th receive of b from a.
struct RankSchedule {
    std::vector<Op> ops;
    std::vector<ChunkRange> ranges;
    std::vector<std::int32_t> dependencies;  ///< indices into ops, smaller than the index of the op that has them

    /// Appends an op; returns its index. Ranges of count 0 are dropped.
    std::int32_t add(OpKind kind, Rank peer, std::initializer_list<ChunkRange> chunks,
                     std::initializer_list<std::int32_t> after);
    std::int32_t add(OpKind kind, Rank peer, const std::vector<ChunkRange>& chunks,
                     const std::vector<std::int32_t>& after);
};

/// A collective operation, symbolically: free of sizes, times and links.
///
/// Chunks. With p ranks and c pieces per block:
///   bcast, reduce, allreduce                          p-independent: chunks 0 .. c-1 of the one message
///   scatter, gather, allgather, reduce_scatter_block  block b of rank b: chunks b*c .. b*c+c-1
///   alltoall                                          block from s to d: chunks (s*p+d)*c ...
///   barrier                                           chunk r = "rank r has entered"; messages carry no bytes, and a
///                                                     message tells all that its sender knows
/// Each rank has one place for each chunk; a receive overwrites it or combines with it.
struct Schedule {
    Collective collective;
    std::string algorithm;  ///< "pipelined_chain"; "custom" when a search found it
    std::int32_t num_ranks;
    Rank root;              ///< of bcast, reduce, scatter, gather; else rank 0
    std::int32_t pieces;    ///< pieces per block, >= 1
    std::vector<RankSchedule> ranks;
};

/// Number of chunks in the whole space of the collective (see Schedule).
std::int64_t num_chunks(Collective, std::int32_t num_ranks, std::int32_t pieces);

}  // namespace hocket
