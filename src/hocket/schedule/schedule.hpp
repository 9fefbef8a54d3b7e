// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/base/index.hpp"

namespace hocket {

/// The collective operations of MPI that a Schedule can carry out.
enum class Collective : std::uint8_t {
    bcast,
    reduce,
    allreduce,
    allgather,
    alltoall,
    reduce_scatter_block,
    scatter,
    gather,
    barrier,
};

/// MPI's name in lower case without the prefix: "bcast", "reduce_scatter_block".
std::string_view name_of(Collective);
/// Of all nine, in their order.
std::span<const std::string_view> collective_names();
std::optional<Collective> find_collective(std::string_view name);
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

std::string_view name_of(OpKind);
/// True for the two kinds that combine.
constexpr bool reduces(OpKind kind) { return kind == OpKind::recv_reduce_left || kind == OpKind::recv_reduce_right; }

/// One operation of one rank. It starts when all its dependencies have completed. A send completes when its buffer may
/// be overwritten, which a network may delay until the receiver has taken the message.
///
/// A receive that reduces takes its message into a buffer of its own, and takes it early: as soon as the sends that it
/// depends on have started (not completed) and its other dependencies have completed. It combines when all have
/// completed. So two ranks can exchange the same chunk, as recursive doubling does and MPI_Sendrecv allows, though each
/// must not combine before its own send is done; an executor that took the message later would deadlock on large
/// messages.
struct Op {
    OpKind kind;
    Rank peer;
    std::int32_t first_range, num_ranges;             ///< into RankSchedule::ranges; none = an empty message
    std::int32_t first_dependency, num_dependencies;  ///< into RankSchedule::dependencies
    bool operator==(const Op&) const = default;
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

    [[nodiscard]] std::span<const ChunkRange> chunks_of(const Op& op) const {
        return {ranges.data() + op.first_range, static_cast<std::size_t>(op.num_ranges)};
    }
    [[nodiscard]] std::span<const std::int32_t> dependencies_of(const Op& op) const {
        return {dependencies.data() + op.first_dependency, static_cast<std::size_t>(op.num_dependencies)};
    }
    bool operator==(const RankSchedule&) const = default;
};

/// A collective operation, symbolically: free of sizes, times and links.
///
/// Chunks. With p ranks and c segments per block:
///   bcast, reduce, allreduce                          p-independent: chunks 0 .. c-1 of the one message
///   scatter, gather, allgather, reduce_scatter_block  block b of rank b: chunks b*c .. b*c+c-1
///   alltoall                                          block from s to d: chunks (s*p+d)*c ...
///   barrier                                           chunk r = "rank r has entered"; segments = 1; messages list no
///                                                     chunks and carry no bytes; a message shows all that its sender
///                                                     knew at its start, that is by the receives it depends on
/// Each rank has one place for each chunk; a receive overwrites it or combines with it. A message without chunks
/// announces its receiver that what its sender waited for has happened: a transfer that must not share a link with
/// another one waits so for its end.
struct Schedule {
    Collective collective;
    std::string algorithm;  ///< "pipelined_chain"; "custom" when a search found it
    std::int32_t num_ranks;
    Rank root;              ///< of bcast, reduce, scatter, gather; else rank 0
    std::int32_t segments;  ///< segments per block, >= 1
    std::vector<RankSchedule> ranks;
    bool operator==(const Schedule&) const = default;
};

/// Number of blocks of the collective: 1 for bcast, reduce and allreduce, p*p for alltoall, p for the others.
std::int64_t num_blocks(Collective, std::int32_t num_ranks);
/// Number of chunks in the whole space of the collective (see Schedule): num_blocks * segments.
std::int64_t num_chunks(Collective, std::int32_t num_ranks, std::int32_t segments);

/// True for bcast, reduce, scatter, gather.
bool is_rooted(Collective);
/// True for reduce, allreduce, reduce_scatter_block.
bool combines(Collective);

/// Everything that can be seen without executing: sizes, indices, peers. Empty = well formed, and safe to walk.
/// validate(), the reader and the lowering begin with it.
std::vector<std::string> malformations(const Schedule&);

/// "rank 3, op 5 (recv from 2)", as all messages name an op.
std::string describe(const Schedule&, Rank, std::int32_t op);

/// JSON text, format "hocket.schedule/1": an op is [kind, peer, [first, count, ...], [dependency, ...]].
std::string to_json(const Schedule&);
/// The opposite; survives any bytes.
/// @throws InvalidInput  naming `source_name`, the place, what was found and is accepted.
Schedule schedule_from_json(std::string_view text, std::string_view source_name = "schedule");

}  // namespace hocket
