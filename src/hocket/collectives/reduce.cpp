// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Reduction of chunks 0 .. c-1 to rank 0. In each of these trees but Bine the ranks of a subtree are consecutive and
// children come in rank order, so that own (op) received keeps the order of ranks.

#include <algorithm>
#include <array>

#include "hocket/collectives/bine.hpp"

namespace hocket::collectives {

namespace reduce {
namespace {

/// From the children in their order to the parent; `messages` of equal numbers of segments.
RankSchedule up_tree(const TreePlace& place, std::int32_t segments, std::int32_t messages) {
    RankSchedule part;
    const std::int32_t count = segments / messages;
    for (std::int32_t m = 0; m < messages; ++m) {
        const ChunkRange chunks{m * count, count};
        std::vector<std::int32_t> after;
        for (const std::int32_t child : place.children)
            after = {part.add(OpKind::recv_reduce_right, Rank{child}, {chunks}, after)};
        if (place.parent >= 0) part.add(OpKind::send, Rank{place.parent}, {chunks}, after);
    }
    return part;
}

RankSchedule linear(std::int32_t v, const Shape& shape) {
    return up_tree(place_in_star(v, shape.num_ranks), shape.segments, 1);
}
template <std::int32_t radix>
RankSchedule knomial(std::int32_t v, const Shape& shape) {
    return up_tree(place_in_knomial_tree(v, shape.num_ranks, radix), shape.segments, shape.segments);
}
RankSchedule bine_tree(std::int32_t v, const Shape& shape) {
    TreePlace place = bine::tree_place(v, shape.num_ranks);
    std::reverse(place.children.begin(), place.children.end());  // the smallest subtree first
    return up_tree(place, shape.segments, shape.segments);
}
RankSchedule chain(std::int32_t v, const Shape& shape) {
    return up_tree(place_in_chain(v, shape.num_ranks), shape.segments, 1);
}
RankSchedule pipelined_chain(std::int32_t v, const Shape& shape) {
    return up_tree(place_in_chain(v, shape.num_ranks), shape.segments, shape.segments);
}
template <std::int32_t fanout>
RankSchedule split_tree(std::int32_t v, const Shape& shape) {
    return up_tree(place_in_split_tree(v, shape.num_ranks, fanout), shape.segments, shape.segments);
}

constexpr std::array algorithms = {
    Algorithm{Collective::reduce, "linear", "PjesivacGrbovic07", false, true, whole_message, one_for_each_rank, linear},
    Algorithm{Collective::reduce, "binomial", "Thakur05", true, true, whole_message, one_for_each_rank, knomial<2>},
    Algorithm{Collective::reduce, "knomial_4", "Wilkins23", true, true, whole_message, one_for_each_rank, knomial<4>},
    Algorithm{Collective::reduce, "knomial_8", "Wilkins23", true, true, whole_message, one_for_each_rank, knomial<8>},
    Algorithm{Collective::reduce, "bine", "DeSensi25", true, false, whole_message, one_for_each_rank, bine_tree},
    Algorithm{Collective::reduce, "chain", "PjesivacGrbovic07", false, true, whole_message, one_for_each_rank, chain},
    Algorithm{Collective::reduce, "pipelined_chain", "PjesivacGrbovic07", true, true, whole_message, one_for_each_rank,
              pipelined_chain},
    Algorithm{Collective::reduce, "binary_tree", "PjesivacGrbovic07", true, true, whole_message, one_for_each_rank,
              split_tree<2>},
    Algorithm{Collective::reduce, "ternary_tree", "PjesivacGrbovic07", true, true, whole_message, one_for_each_rank,
              split_tree<3>},
};

}  // namespace
}  // namespace reduce

std::span<const Algorithm> reduce_algorithms() { return reduce::algorithms; }

}  // namespace hocket::collectives
