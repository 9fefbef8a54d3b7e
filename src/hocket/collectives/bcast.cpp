// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Broadcast of chunks 0 .. c-1 from rank 0.

#include <algorithm>
#include <array>

#include "hocket/collectives/bine.hpp"

namespace hocket::collectives {

namespace bcast {
namespace {

/// From the parent to the children in their order; `messages` of equal numbers of segments.
RankSchedule down_tree(const TreePlace& place, std::int32_t segments, std::int32_t messages) {
    RankSchedule part;
    const std::int32_t count = segments / messages;
    for (std::int32_t m = 0; m < messages; ++m) {
        const ChunkRange chunks{m * count, count};
        std::vector<std::int32_t> after;
        if (place.parent >= 0) after = {part.add(OpKind::recv, Rank{place.parent}, {chunks}, {})};
        for (const std::int32_t child : place.children) part.add(OpKind::send, Rank{child}, {chunks}, after);
    }
    return part;
}

RankSchedule linear(std::int32_t v, const Shape& shape) {
    return down_tree(place_in_star(v, shape.num_ranks), shape.segments, 1);
}
template <std::int32_t radix>
RankSchedule knomial(std::int32_t v, const Shape& shape) {
    TreePlace place = place_in_knomial_tree(v, shape.num_ranks, radix);
    std::reverse(place.children.begin(), place.children.end());  // the largest subtree first
    return down_tree(place, shape.segments, shape.segments);
}
RankSchedule binomial_in_turn(std::int32_t v, const Shape& shape) {
    return down_binomial_tree_in_turn(
        v, shape.num_ranks, [&](std::int32_t /*rank*/) { return std::vector<ChunkRange>{{0, shape.segments}}; });
}
RankSchedule bine_tree(std::int32_t v, const Shape& shape) {
    return down_tree(bine::tree_place(v, shape.num_ranks), shape.segments, shape.segments);
}
RankSchedule chain(std::int32_t v, const Shape& shape) {
    return down_tree(place_in_chain(v, shape.num_ranks), shape.segments, 1);
}
RankSchedule pipelined_chain(std::int32_t v, const Shape& shape) {
    return down_tree(place_in_chain(v, shape.num_ranks), shape.segments, shape.segments);
}

template <std::int32_t fanout>
RankSchedule split_tree(std::int32_t v, const Shape& shape) {
    return down_tree(place_in_split_tree(v, shape.num_ranks, fanout), shape.segments, shape.segments);
}

/// Binomial scatter of `blocks` blocks of `segments` chunks among the ranks 0 .. blocks-1. Returns the receive, or -1.
std::int32_t scatter_blocks(RankSchedule& part, std::int32_t v, std::int32_t blocks, std::int32_t segments) {
    std::int32_t received = -1;
    std::vector<std::int32_t> after;
    if (v != 0) {
        const std::int32_t end = binomial_subtree_end(v, blocks);
        received = part.add(OpKind::recv, Rank{binomial_parent(v)}, {{v * segments, (end - v) * segments}}, {});
        after = {received};
    }
    const std::vector<std::int32_t> children = binomial_children(v, blocks);
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
        const std::int32_t end = binomial_subtree_end(*child, blocks);
        part.add(OpKind::send, Rank{*child}, {{*child * segments, (end - *child) * segments}}, after);
    }
    return received;
}

/// Van de Geijn's: scatter, then a ring. The scatter leaves each rank with the blocks of its whole subtree, which the
/// ring need not bring again: a rank does not send what its successor has.
RankSchedule scatter_allgather(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    const std::int32_t segments = shape.segments;
    RankSchedule part;
    const std::int32_t scattered = scatter_blocks(part, v, p, segments);
    const std::int32_t next = around(v, 1, p);
    const std::int32_t previous = around(v, -1, p);
    const auto has = [&](std::int32_t rank, std::int32_t block) {
        return block >= rank && block < binomial_subtree_end(rank, p);
    };
    std::vector<std::int32_t> received(static_cast<std::size_t>(segments),
                                       scattered);  // [segment] of the block sent next
    for (std::int32_t step = 0; step + 1 < p; ++step) {
        const std::int32_t block_out = around(v, -step, p);
        const std::int32_t block_in = around(v, -step - 1, p);
        for (std::int32_t i = 0; i < segments; ++i) {
            std::int32_t& segment_received = received[static_cast<std::size_t>(i)];
            if (!has(next, block_out)) {
                std::vector<std::int32_t> after;
                if (segment_received >= 0) after = {segment_received};
                part.add(OpKind::send, Rank{next}, {{block_out * segments + i, 1}}, after);
            }
            segment_received = has(v, block_in)
                                   ? scattered
                                   : part.add(OpKind::recv, Rank{previous}, {{block_in * segments + i, 1}}, {});
        }
    }
    return part;
}

/// The same with recursive doubling, among the largest power of two of ranks; then the others get the whole message.
RankSchedule scatter_recursive_doubling(std::int32_t v, const Shape& shape) {
    const std::int32_t power = power_of_two_within(shape.num_ranks);
    const std::int32_t segments = shape.segments;
    const ChunkRange whole{0, power * segments};
    RankSchedule part;
    if (v >= power) {
        part.add(OpKind::recv, Rank{v - power}, {whole}, {});
        return part;
    }
    std::vector<std::int32_t> received;
    if (const std::int32_t scattered = scatter_blocks(part, v, power, segments); scattered >= 0) received = {scattered};
    // Before each step a rank needs the blocks of its aligned group; its partner has them from the scatter if the
    // lowest set bit of its number is above the step's.
    const auto has_both = [](std::int32_t rank, std::int32_t bit) { return rank == 0 || (rank & -rank) > bit; };
    for (std::int32_t bit = 1; bit < power; bit *= 2) {
        const std::int32_t partner = v ^ bit;
        const std::int32_t mine = v & -bit;
        const std::int32_t theirs = partner & -bit;
        if (!has_both(partner, bit))
            part.add(OpKind::send, Rank{partner}, {{mine * segments, bit * segments}}, received);
        if (!has_both(v, bit))
            received.push_back(part.add(OpKind::recv, Rank{partner}, {{theirs * segments, bit * segments}}, {}));
    }
    if (v + power < shape.num_ranks) part.add(OpKind::send, Rank{v + power}, {whole}, received);
    return part;
}

constexpr std::array algorithms = {
    Algorithm{Collective::bcast, "linear", "Thakur05", false, false, whole_message, one_for_each_rank, linear},
    Algorithm{Collective::bcast, "binomial", "Thakur05", true, false, whole_message, one_for_each_rank, knomial<2>},
    Algorithm{Collective::bcast, "binomial_in_turn", "Thakur05", false, false, whole_message, one_for_each_rank,
              binomial_in_turn},
    Algorithm{Collective::bcast, "knomial_4", "Wilkins23", true, false, whole_message, one_for_each_rank, knomial<4>},
    Algorithm{Collective::bcast, "knomial_8", "Wilkins23", true, false, whole_message, one_for_each_rank, knomial<8>},
    Algorithm{Collective::bcast, "bine", "DeSensi25", true, false, whole_message, one_for_each_rank, bine_tree},
    Algorithm{Collective::bcast, "chain", "PjesivacGrbovic07", false, false, whole_message, one_for_each_rank, chain},
    Algorithm{Collective::bcast, "pipelined_chain", "Patarasuk08", true, false, whole_message, one_for_each_rank,
              pipelined_chain},
    Algorithm{Collective::bcast, "binary_tree", "PjesivacGrbovic07", true, false, whole_message, one_for_each_rank,
              split_tree<2>},
    Algorithm{Collective::bcast, "ternary_tree", "PjesivacGrbovic07", true, false, whole_message, one_for_each_rank,
              split_tree<3>},
    Algorithm{Collective::bcast, "scatter_allgather", "Barnett94", true, false, block_for_each_rank,
              one_for_half_the_pairs, scatter_allgather},
    Algorithm{Collective::bcast, "scatter_recursive_doubling", "Thakur05", false, false, block_for_each_of_power_of_two,
              one_for_each_rank, scatter_recursive_doubling},
};

}  // namespace
}  // namespace bcast

std::span<const Algorithm> bcast_algorithms() { return bcast::algorithms; }

}  // namespace hocket::collectives
