// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Allgather: block b, chunks b*c .. b*c+c-1, from rank b to all.

#include <array>

#include "hocket/collectives/bine.hpp"

namespace hocket::collectives {

namespace allgather {
namespace {

RankSchedule ring(std::int32_t v, const Shape& shape) { return once_around_ring(v, v, OpKind::recv, shape); }

/// Ranks outside the largest power of two give their block to rank v - power first and get all the others from it last.
RankSchedule recursive_doubling(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    const std::int32_t segments = shape.segments;
    const std::int32_t power = power_of_two_within(p);
    // Blocks first .. first+count-1 and those that the ranks outside gave to these ranks.
    const auto with_given = [&](std::int32_t first, std::int32_t count) {
        const std::int32_t given = std::min(power + first + count, p) - (power + first);
        return std::vector<ChunkRange>{{first * segments, count * segments},
                                       {(power + first) * segments, std::max(given, 0) * segments}};
    };
    RankSchedule part;
    const std::vector<ChunkRange> but_own = {
        {0, (v < power ? v + power : v) * segments},
        {((v < power ? v + power : v) + 1) * segments, std::max(p - (v < power ? v + power : v) - 1, 0) * segments}};
    if (v >= power) {
        part.add(OpKind::send, Rank{v - power}, {{v * segments, segments}}, {});
        part.add(OpKind::recv, Rank{v - power}, but_own, {});
        return part;
    }
    std::vector<std::int32_t> received;
    const bool serves = v + power < p;
    if (serves) received = {part.add(OpKind::recv, Rank{v + power}, {{(v + power) * segments, segments}}, {})};
    for (std::int32_t bit = 1; bit < power; bit *= 2) {
        const std::int32_t partner = v ^ bit;
        part.add(OpKind::send, Rank{partner}, with_given(v & -bit, bit), received);
        received.push_back(part.add(OpKind::recv, Rank{partner}, with_given(partner & -bit, bit), {}));
    }
    if (serves) part.add(OpKind::send, Rank{v + power}, but_own, received);
    return part;
}

/// In the step of a distance d a rank, which has the blocks of d ranks from itself on, gets those of the ranks d, 2 d,
/// ... (radix - 1) d behind it, at once.
template <std::int32_t radix>
RankSchedule bruck(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    RankSchedule part;
    std::vector<std::int32_t> received;
    for (std::int64_t unit = 1; unit < p; unit *= radix) {
        const std::vector<std::int32_t> received_before = received;
        for (std::int64_t far = unit; far < std::min<std::int64_t>(radix * unit, p); far += unit) {
            const auto distance = static_cast<std::int32_t>(far);
            const std::int32_t count = std::min(static_cast<std::int32_t>(unit), p - distance);
            const std::int32_t source = around(v, distance, p);
            part.add(OpKind::send, Rank{around(v, -distance, p)}, blocks_around(v, count, p, shape.segments),
                     received_before);
            received.push_back(
                part.add(OpKind::recv, Rank{source}, blocks_around(source, count, p, shape.segments), {}));
        }
    }
    return part;
}

/// Neighbours exchange, to the right and to the left in turn, the two blocks that came last: p/2 steps. It needs pairs:
/// for an odd p this is the ring.
RankSchedule neighbor_exchange(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    const std::int32_t segments = shape.segments;
    if (p % 2 != 0) return ring(v, {p, segments});
    RankSchedule part;
    const std::int32_t pairs = p / 2;
    const bool even = v % 2 == 0;
    const std::int32_t mate = even ? v + 1 : v - 1;
    part.add(OpKind::send, Rank{mate}, {{v * segments, segments}}, {});
    std::int32_t received = part.add(OpKind::recv, Rank{mate}, {{mate * segments, segments}}, {});
    std::int32_t pair_out = v / 2;
    for (std::int32_t step = 1; step < pairs; ++step) {
        // In odd steps even ranks face left and get pairs from the left, in even steps both are to the right; odd ranks
        // mirror that. The pairs come from farther away each time the direction returns.
        const bool left = even == (step % 2 != 0);
        const std::int32_t pair_in = around(v / 2, left ? -(step + 1) / 2 : (step + 1) / 2, pairs);
        const Rank peer{around(v, left ? -1 : 1, p)};
        part.add(OpKind::send, peer, {{pair_out * 2 * segments, 2 * segments}}, {received});
        received = part.add(OpKind::recv, peer, {{pair_in * 2 * segments, 2 * segments}}, {});
        pair_out = pair_in;
    }
    return part;
}

constexpr std::array algorithms = {
    Algorithm{Collective::allgather, "ring", "Thakur05", true, false, whole_message, one_for_each_pair, ring},
    Algorithm{Collective::allgather, "recursive_doubling", "Thakur05", false, false, whole_message, one_for_each_rank,
              recursive_doubling},
    Algorithm{Collective::allgather, "bruck", "Bruck97", false, false, whole_message, one_for_each_rank, bruck<2>},
    Algorithm{Collective::allgather, "bruck_4", "Bruck97", false, false, whole_message, one_for_each_rank, bruck<4>},
    Algorithm{Collective::allgather, "bine", "DeSensi25", false, false, whole_message, one_for_each_rank,
              bine::allgather},
    Algorithm{Collective::allgather, "neighbor_exchange", "Chen05", false, false, whole_message, one_for_half_the_pairs,
              neighbor_exchange},
    Algorithm{Collective::allgather, "uneven_ring", "Patarasuk09", true, false, whole_message, one_for_each_pair,
              uneven_ring_allgather, true},
};

}  // namespace
}  // namespace allgather

std::span<const Algorithm> allgather_algorithms() { return allgather::algorithms; }

}  // namespace hocket::collectives
