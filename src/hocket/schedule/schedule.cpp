// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "hocket/base/error.hpp"

namespace hocket {

namespace {

constexpr std::array<std::string_view, 9> names = {
    "bcast", "reduce", "allreduce", "allgather", "alltoall", "reduce_scatter_block", "scatter", "gather", "barrier"};
constexpr std::array<std::string_view, 4> op_names = {"send", "recv", "recv_reduce_left", "recv_reduce_right"};

constexpr std::size_t max_listed = 20;

template <class Chunks, class After>
std::int32_t append(RankSchedule& rank, OpKind kind, Rank peer, const Chunks& chunks, const After& after) {
    Op op{kind,
          peer,
          static_cast<std::int32_t>(rank.ranges.size()),
          0,
          static_cast<std::int32_t>(rank.dependencies.size()),
          static_cast<std::int32_t>(after.size())};
    for (const ChunkRange& range : chunks) {
        if (range.count != 0) {
            rank.ranges.push_back(range);
            ++op.num_ranges;
        }
    }
    rank.dependencies.insert(rank.dependencies.end(), after.begin(), after.end());
    rank.ops.push_back(op);
    return static_cast<std::int32_t>(rank.ops.size()) - 1;
}

/// [first, first + count) within a vector of `size`.
bool is_slice(std::int32_t first, std::int32_t count, std::size_t size) {
    return first >= 0 && count >= 0 && static_cast<std::size_t>(first) + static_cast<std::size_t>(count) <= size;
}

std::string op_malformation(const Schedule& schedule, const RankSchedule& rank, std::int32_t self, std::size_t index) {
    const Op& op = rank.ops[index];
    if (op.kind > OpKind::recv_reduce_right) return "the kind is unknown";
    if (op.peer.value < 0 || op.peer.value >= schedule.num_ranks)
        return "peer " + std::to_string(op.peer.value) + " is not a rank: expected 0 to " +
               std::to_string(schedule.num_ranks - 1);
    if (op.peer.value == self) return "the peer is the rank itself";
    if (reduces(op.kind) && !combines(schedule.collective))
        return std::string(name_of(schedule.collective)) + " has nothing to reduce: expected send or recv";
    if (!is_slice(op.first_range, op.num_ranges, rank.ranges.size())) return "the range of its chunk list is broken";
    if (!is_slice(op.first_dependency, op.num_dependencies, rank.dependencies.size()))
        return "the range of its dependency list is broken";
    const std::int64_t chunks = num_chunks(schedule.collective, schedule.num_ranks, schedule.segments);
    if (schedule.collective == Collective::barrier && op.num_ranges != 0)
        return "messages of a barrier carry no chunks";
    if (reduces(op.kind) && op.num_ranges == 0) return "it reduces no chunk";
    for (const ChunkRange& range : rank.chunks_of(op))
        if (range.first < 0 || range.count <= 0 || std::int64_t{range.first} + range.count > chunks)
            return "chunks " + std::to_string(range.first) + ", count " + std::to_string(range.count) +
                   " are not within 0 to " + std::to_string(chunks - 1);
    for (const std::int32_t dependency : rank.dependencies_of(op))
        if (dependency < 0 || static_cast<std::size_t>(dependency) >= index)
            return "it depends on op " + std::to_string(dependency) + ": expected an op before it";
    return {};
}

}  // namespace

std::string_view name_of(Collective collective) { return names[static_cast<std::size_t>(collective)]; }
std::string_view name_of(OpKind kind) { return op_names[static_cast<std::size_t>(kind)]; }
std::span<const std::string_view> collective_names() { return names; }

std::optional<Collective> find_collective(std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return {};
    return static_cast<Collective>(found - names.begin());
}

Collective collective_from(std::string_view name) {
    if (const auto found = find_collective(name)) return *found;
    std::string accepted;
    for (const std::string_view n : names) accepted += (accepted.empty() ? "" : ", ") + std::string(n);
    throw InvalidInput("unknown collective \"" + std::string(name) + "\"", "accepted: " + accepted);
}

std::int32_t RankSchedule::add(OpKind kind, Rank peer, std::initializer_list<ChunkRange> chunks,
                               std::initializer_list<std::int32_t> after) {
    return append(*this, kind, peer, chunks, after);
}
std::int32_t RankSchedule::add(OpKind kind, Rank peer, const std::vector<ChunkRange>& chunks,
                               const std::vector<std::int32_t>& after) {
    return append(*this, kind, peer, chunks, after);
}

std::int64_t num_blocks(Collective collective, std::int32_t num_ranks) {
    switch (collective) {
        case Collective::bcast:
        case Collective::reduce:
        case Collective::allreduce:
            return 1;
        case Collective::alltoall:
            return std::int64_t{num_ranks} * num_ranks;
        default:
            return num_ranks;
    }
}

std::int64_t num_chunks(Collective collective, std::int32_t num_ranks, std::int32_t segments) {
    std::int64_t chunks = 0;
    if (__builtin_mul_overflow(num_blocks(collective, num_ranks), std::int64_t{segments}, &chunks))
        return std::numeric_limits<std::int64_t>::max();
    return chunks;
}

bool is_rooted(Collective collective) {
    return collective == Collective::bcast || collective == Collective::reduce || collective == Collective::scatter ||
           collective == Collective::gather;
}

bool combines(Collective collective) {
    return collective == Collective::reduce || collective == Collective::allreduce ||
           collective == Collective::reduce_scatter_block;
}

std::vector<std::string> malformations(const Schedule& schedule) {
    std::vector<std::string> found;
    if (schedule.collective > Collective::barrier) found.emplace_back("the collective is unknown");
    if (schedule.num_ranks < 1)
        found.push_back("num_ranks is " + std::to_string(schedule.num_ranks) + ": expected at least 1");
    if (schedule.segments < 1)
        found.push_back("segments is " + std::to_string(schedule.segments) + ": expected at least 1");
    if (!found.empty()) return found;
    if (schedule.collective == Collective::barrier && schedule.segments != 1)
        found.push_back("segments of a barrier is " + std::to_string(schedule.segments) + ": expected 1");
    if (num_chunks(schedule.collective, schedule.num_ranks, schedule.segments) >
        std::numeric_limits<std::int32_t>::max())
        found.emplace_back("more than 2147483647 chunks");
    if (schedule.root.value < 0 || schedule.root.value >= schedule.num_ranks)
        found.push_back("root " + std::to_string(schedule.root.value) + " is not a rank: expected 0 to " +
                        std::to_string(schedule.num_ranks - 1));
    else if (!is_rooted(schedule.collective) && schedule.root.value != 0)
        found.push_back("root is " + std::to_string(schedule.root.value) + ", but " +
                        std::string(name_of(schedule.collective)) + " has no root: expected 0");
    if (schedule.ranks.size() != static_cast<std::size_t>(schedule.num_ranks))
        found.push_back("operations of " + std::to_string(schedule.ranks.size()) + " ranks: expected " +
                        std::to_string(schedule.num_ranks));
    if (!found.empty()) return found;
    for (std::int32_t self = 0; self < schedule.num_ranks; ++self) {
        const RankSchedule& rank = schedule.ranks[static_cast<std::size_t>(self)];
        for (std::size_t i = 0; i < rank.ops.size() && found.size() < max_listed; ++i) {
            const std::string what = op_malformation(schedule, rank, self, i);
            if (!what.empty())
                found.push_back("rank " + std::to_string(self) + ", op " + std::to_string(i) + ": " + what);
        }
    }
    return found;
}

std::string describe(const Schedule& schedule, Rank rank, std::int32_t index) {
    const Op& op = schedule.ranks[rank.at()].ops[static_cast<std::size_t>(index)];
    return "rank " + std::to_string(rank.value) + ", op " + std::to_string(index) + " (" +
           std::string(name_of(op.kind)) + (op.kind == OpKind::send ? " to " : " from ") +
           std::to_string(op.peer.value) + ")";
}

}  // namespace hocket
