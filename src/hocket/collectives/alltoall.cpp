// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// All-to-all: the block from s to d is chunks (s*p+d)*c ...

#include <array>

#include "hocket/collectives/emitters.hpp"

namespace hocket::collectives {

namespace alltoall {
namespace {

ChunkRange block(std::int32_t source, std::int32_t target, const Shape& shape) {
    return {(source * shape.num_ranks + target) * shape.segments, shape.segments};
}

/// Everything at once, a segment for each partner in turn.
RankSchedule linear(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    RankSchedule part;
    for (std::int32_t segment = 0; segment < shape.segments; ++segment) {
        for (std::int32_t distance = 1; distance < p; ++distance) {
            const std::int32_t source = around(v, -distance, p);
            const std::int32_t target = around(v, distance, p);
            part.add(OpKind::recv, Rank{source}, {{block(source, v, shape).first + segment, 1}}, {});
            part.add(OpKind::send, Rank{target}, {{block(v, target, shape).first + segment, 1}}, {});
        }
    }
    return part;
}

/// One partner in each direction at a time.
RankSchedule pairwise(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    RankSchedule part;
    std::vector<std::int32_t> previous;
    for (std::int32_t distance = 1; distance < p; ++distance) {
        const std::int32_t source = around(v, -distance, p);
        const std::int32_t target = around(v, distance, p);
        const std::int32_t received = part.add(OpKind::recv, Rank{source}, {block(source, v, shape)}, previous);
        const std::int32_t sent = part.add(OpKind::send, Rank{target}, {block(v, target, shape)}, previous);
        previous = {received, sent};
    }
    return part;
}

/// The block from s to d travels d - s mod p in steps whose lengths are the digits of this distance, to the base
/// `radix`, times their place values, the smallest first: in the messages of a digit, rank v sends on each block whose
/// distance has the digit, and which came to v by the lower digits. Those of one place value travel at once.
template <std::int32_t radix>
RankSchedule bruck(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    const auto passing = [&](std::int32_t holder, std::int64_t unit, std::int64_t digit) {
        std::vector<ChunkRange> chunks;
        for (std::int64_t first = digit * unit; first < p; first += radix * unit)
            for (std::int64_t far = first; far < std::min<std::int64_t>(first + unit, p); ++far) {
                const std::int32_t source = around(holder, -static_cast<std::int32_t>(far % unit), p);
                chunks.push_back(block(source, around(source, static_cast<std::int32_t>(far), p), shape));
            }
        return chunks;
    };
    RankSchedule part;
    std::vector<std::int32_t> received;
    for (std::int64_t unit = 1; unit < p; unit *= radix) {
        const std::vector<std::int32_t> received_before = received;
        for (std::int64_t digit = 1; digit < radix && digit * unit < p; ++digit) {
            const auto step = static_cast<std::int32_t>(digit * unit);
            const std::int32_t source = around(v, -step, p);
            part.add(OpKind::send, Rank{around(v, step, p)}, passing(v, unit, digit), received_before);
            received.push_back(part.add(OpKind::recv, Rank{source}, passing(source, unit, digit), {}));
        }
    }
    return part;
}

constexpr std::array algorithms = {
    Algorithm{Collective::alltoall, "linear", "Thakur05", true, false, whole_message, one_for_each_pair, linear},
    Algorithm{Collective::alltoall, "pairwise", "Thakur05", false, false, whole_message, one_for_each_pair, pairwise},
    Algorithm{Collective::alltoall, "bruck", "Bruck97", false, false, whole_message, one_for_each_rank, bruck<2>},
    Algorithm{Collective::alltoall, "bruck_4", "Bruck97", false, false, whole_message, one_for_each_rank, bruck<4>},
    Algorithm{Collective::alltoall, "node_aware", "Kinkead25", false, false, whole_message, least_among_nodes,
              node_aware_alltoall, true},
    Algorithm{Collective::alltoall, "by_dimension", "Thakur94", false, false, whole_message, least_among_nodes,
              alltoall_by_dimension, true},
};

}  // namespace
}  // namespace alltoall

std::span<const Algorithm> alltoall_algorithms() { return alltoall::algorithms; }

}  // namespace hocket::collectives
