// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/collectives/algorithm.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "hocket/base/error.hpp"
#include "hocket/collectives/emitters.hpp"

namespace hocket::collectives {

namespace {
constexpr std::int32_t max_ranks = 1 << 30;     // distances double up to it without overflow
constexpr std::int64_t max_messages = 1 << 22;  // of one rank: beyond that the ops alone take gigabytes
constexpr std::size_t max_ops = 100'000'000;    // of a whole schedule
}  // namespace

std::span<const Algorithm> all_algorithms() {
    static const std::vector<Algorithm> all = [] {
        std::vector<Algorithm> joined;
        for (const auto table : {bcast_algorithms(), reduce_algorithms(), allreduce_algorithms(),
                                 allgather_algorithms(), alltoall_algorithms(), reduce_scatter_block_algorithms(),
                                 scatter_gather_algorithms(), barrier_algorithms()})
            joined.insert(joined.end(), table.begin(), table.end());
        return joined;
    }();
    return all;
}

const Algorithm& find_algorithm(Collective collective, std::string_view name) {
    std::string accepted;
    for (const Algorithm& algorithm : all_algorithms()) {
        if (algorithm.collective != collective) continue;
        if (algorithm.name == name) return algorithm;
        accepted += (accepted.empty() ? "" : ", ") + std::string(algorithm.name);
    }
    throw InvalidInput("unknown algorithm \"" + std::string(name) + "\" for " + std::string(name_of(collective)),
                       "accepted: " + accepted);
}

namespace {

void check_starts(const Algorithm& algorithm, const Shape& shape) {
    if (shape.starts.empty()) return;
    if (!algorithm.has_starts) throw InvalidInput(std::string(algorithm.name) + " has no starts, but some are given");
    std::int32_t before = -1;
    for (const std::int32_t start : shape.starts) {
        if (start <= before || start >= shape.num_ranks)
            throw InvalidInput("starts hold " + std::to_string(start) + ": expected increasing positions from 0 to " +
                               std::to_string(shape.num_ranks - 1));
        before = start;
    }
}

}  // namespace

std::int32_t segments_for(const Algorithm& algorithm, const Shape& shape) {
    if (shape.num_ranks < 1 || shape.num_ranks > max_ranks)
        throw InvalidInput("number of ranks is " + std::to_string(shape.num_ranks) + ": expected 1 to " +
                           std::to_string(max_ranks));
    if (shape.segments < 1)
        throw InvalidInput("number of segments is " + std::to_string(shape.segments) + ": expected at least 1");
    check_starts(algorithm, shape);
    if (algorithm.collective == Collective::barrier) return 1;
    const std::int64_t segments = std::int64_t{algorithm.cuts(shape)} * shape.segments;
    const std::int64_t blocks = num_blocks(algorithm.collective, shape.num_ranks);
    const std::int64_t most = algorithm.pipelines ? max_messages : std::numeric_limits<std::int32_t>::max();
    if (segments > most / blocks)
        throw InvalidInput(std::string(name_of(algorithm.collective)) + " of " + std::to_string(shape.num_ranks) +
                               " ranks with " + std::to_string(shape.segments) + " segments by " +
                               std::string(algorithm.name) + " comes to more than " + std::to_string(most) + " chunks",
                           "use fewer segments or fewer ranks");
    return static_cast<std::int32_t>(segments);
}

std::int32_t segments_of_size(const Algorithm& algorithm, const Shape& shape, std::int64_t bytes,
                              std::int64_t segment_bytes) {
    if (bytes < 0 || segment_bytes < 1)
        throw InvalidInput("segments of " + std::to_string(segment_bytes) + " bytes in " + std::to_string(bytes) +
                           " bytes: expected segments of at least 1 byte, and no negative size");
    // In one segment:
    const std::int64_t chunks =
        segments_for(algorithm, {shape.num_ranks, 1, shape.starts}) * num_blocks(algorithm.collective, shape.num_ranks);
    if (!algorithm.pipelines) return 1;
    const std::int64_t most = std::max<std::int64_t>(1, max_messages / chunks);
    const auto rounded_up = [](std::int64_t n, std::int64_t unit) { return n / unit + (n % unit != 0 ? 1 : 0); };
    const std::int64_t block = rounded_up(bytes, algorithm.cuts(shape));
    std::int64_t segments = std::clamp<std::int64_t>(rounded_up(block, segment_bytes), 1, most);
    const int digits = std::bit_width(static_cast<std::uint64_t>(segments));
    const std::int64_t unit = std::int64_t{1} << std::max(0, digits - 3);
    segments = rounded_up(segments, unit) * unit;
    return static_cast<std::int32_t>(std::min(segments, most));
}

namespace {

/// Virtual to real ranks and back, checked once.
class Mapping {
public:
    Mapping(const Algorithm& algorithm, std::int32_t num_ranks, const Placement& placement)
        : num_ranks_(num_ranks), order_(placement.order) {
        if (placement.root.value < 0 || placement.root.value >= num_ranks)
            throw InvalidInput("root is " + std::to_string(placement.root.value) + ": expected 0 to " +
                               std::to_string(num_ranks - 1));
        const bool rooted = is_rooted(algorithm.collective);
        if (!rooted && placement.root.value != 0)
            throw InvalidInput("root is " + std::to_string(placement.root.value) + ", but " +
                               std::string(name_of(algorithm.collective)) + " has no root: expected 0");
        check_order();
        first_ = rooted ? position_of(placement.root) : 0;
    }

    [[nodiscard]] std::int32_t real(std::int32_t v) const {
        const std::int32_t position = around(first_, v, num_ranks_);
        return order_.empty() ? position : order_[static_cast<std::size_t>(position)].value;
    }
    [[nodiscard]] std::int32_t virtual_of(Rank rank) const { return around(position_of(rank), -first_, num_ranks_); }
    [[nodiscard]] bool is_identity() const { return order_.empty() && first_ == 0; }

private:
    void check_order() const {
        if (order_.empty()) return;
        if (order_.size() != static_cast<std::size_t>(num_ranks_))
            throw InvalidInput("order has " + std::to_string(order_.size()) + " ranks: expected each of the " +
                               std::to_string(num_ranks_) + " once");
        std::vector<bool> seen(order_.size(), false);
        for (const Rank rank : order_) {
            if (rank.value < 0 || rank.value >= num_ranks_)
                throw InvalidInput("order names rank " + std::to_string(rank.value) + ": expected 0 to " +
                                   std::to_string(num_ranks_ - 1));
            if (seen[rank.at()])
                throw InvalidInput("order names rank " + std::to_string(rank.value) +
                                   " twice: expected each rank once");
            seen[rank.at()] = true;
        }
    }
    [[nodiscard]] std::int32_t position_of(Rank rank) const {
        if (order_.empty()) return rank.value;
        std::size_t position = 0;
        while (order_[position] != rank) ++position;
        return static_cast<std::int32_t>(position);
    }

    std::int32_t num_ranks_;
    std::int32_t first_ = 0;  ///< position of the root in the order
    std::span<const Rank> order_;
};

/// Renames peers, and blocks where blocks belong to ranks. Both ends of a message rename the same list, so they still
/// agree.
RankSchedule relabel(RankSchedule part, Collective collective, std::int32_t segments, std::int32_t num_ranks,
                     const Mapping& mapping) {
    if (mapping.is_identity()) return part;
    for (Op& op : part.ops) op.peer = Rank{mapping.real(op.peer.value)};
    if (num_blocks(collective, num_ranks) == 1) return part;

    const auto real_block = [&](std::int32_t block) {
        if (collective != Collective::alltoall) return mapping.real(block);
        return mapping.real(block / num_ranks) * num_ranks + mapping.real(block % num_ranks);
    };
    std::vector<ChunkRange> ranges;
    for (Op& op : part.ops) {
        const auto begin = ranges.size();
        for (const ChunkRange& range : part.chunks_of(op)) {
            const std::int32_t end = range.first + range.count;
            for (std::int32_t chunk = range.first; chunk < end;) {
                const std::int32_t block = chunk / segments;
                const std::int32_t within = chunk - block * segments;
                const std::int32_t count = std::min(segments - within, end - chunk);
                const std::int32_t first = real_block(block) * segments + within;
                if (ranges.size() > begin && ranges.back().first + ranges.back().count == first)
                    ranges.back().count += count;
                else
                    ranges.push_back({first, count});
                chunk += count;
            }
        }
        op.first_range = static_cast<std::int32_t>(begin);
        op.num_ranges = static_cast<std::int32_t>(ranges.size() - begin);
    }
    part.ranges = std::move(ranges);
    return part;
}

}  // namespace

RankSchedule emit_rank(const Algorithm& algorithm, const Shape& shape, const Placement& placement, Rank self) {
    const std::int32_t segments = segments_for(algorithm, shape);
    const Mapping mapping(algorithm, shape.num_ranks, placement);
    if (self.value < 0 || self.value >= shape.num_ranks)
        throw InvalidInput("rank is " + std::to_string(self.value) + ": expected 0 to " +
                           std::to_string(shape.num_ranks - 1));
    return relabel(algorithm.emit(mapping.virtual_of(self), shape), algorithm.collective, segments, shape.num_ranks,
                   mapping);
}

Schedule emit(const Algorithm& algorithm, const Shape& shape, const Placement& placement) {
    const std::int32_t segments = segments_for(algorithm, shape);
    const Mapping mapping(algorithm, shape.num_ranks, placement);
    const auto refuse = [&] {
        throw InvalidInput("a whole schedule of " + std::to_string(shape.num_ranks) + " ranks by " +
                               std::string(algorithm.name) + " comes to more than " + std::to_string(max_ops) +
                               " operations",
                           "use fewer ranks or segments");
    };
    const std::int64_t least_ops = 2 * algorithm.least_messages(shape);
    if (std::max<std::int64_t>(least_ops, shape.num_ranks) >
        static_cast<std::int64_t>(max_ops) / (algorithm.pipelines ? shape.segments : 1))
        refuse();
    Schedule schedule{algorithm.collective, std::string(algorithm.name), shape.num_ranks, placement.root, segments, {}};
    schedule.ranks.resize(static_cast<std::size_t>(shape.num_ranks));
    std::size_t num_ops = 0;
    for (std::int32_t v = 0; v < shape.num_ranks; ++v) {
        RankSchedule& part = schedule.ranks[static_cast<std::size_t>(mapping.real(v))];
        part = relabel(algorithm.emit(v, shape), algorithm.collective, segments, shape.num_ranks, mapping);
        num_ops += part.ops.size();
        if (num_ops > max_ops) refuse();
    }
    return schedule;
}

}  // namespace hocket::collectives
