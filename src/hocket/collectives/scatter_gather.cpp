// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Scatter and gather: block b, chunks b*c .. b*c+c-1, between rank 0 and rank b. One is the other backwards.

#include <array>

#include "hocket/collectives/bine.hpp"

namespace hocket::collectives {

namespace scatter_gather {
namespace {

ChunkRange blocks(std::int32_t begin, std::int32_t end, std::int32_t segments) {
    return {begin * segments, (end - begin) * segments};
}

RankSchedule linear_scatter(std::int32_t v, const Shape& shape) {
    RankSchedule part;
    if (v != 0) part.add(OpKind::recv, Rank{0}, {blocks(v, v + 1, shape.segments)}, {});
    for (std::int32_t child = 1; v == 0 && child < shape.num_ranks; ++child)
        part.add(OpKind::send, Rank{child}, {blocks(child, child + 1, shape.segments)}, {});
    return part;
}

RankSchedule linear_gather(std::int32_t v, const Shape& shape) {
    RankSchedule part;
    if (v != 0) part.add(OpKind::send, Rank{0}, {blocks(v, v + 1, shape.segments)}, {});
    for (std::int32_t child = 1; v == 0 && child < shape.num_ranks; ++child)
        part.add(OpKind::recv, Rank{child}, {blocks(child, child + 1, shape.segments)}, {});
    return part;
}

RankSchedule binomial_scatter(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    RankSchedule part;
    std::vector<std::int32_t> after;
    if (v != 0)
        after = {part.add(OpKind::recv, Rank{binomial_parent(v)},
                          {blocks(v, binomial_subtree_end(v, p), shape.segments)}, {})};
    const std::vector<std::int32_t> children = binomial_children(v, p);
    for (auto child = children.rbegin(); child != children.rend();
         ++child)  // the largest subtree has the longest way to go
        part.add(OpKind::send, Rank{*child}, {blocks(*child, binomial_subtree_end(*child, p), shape.segments)}, after);
    return part;
}

RankSchedule binomial_scatter_in_turn(std::int32_t v, const Shape& shape) {
    return down_binomial_tree_in_turn(v, shape.num_ranks, [&](std::int32_t rank) {
        return std::vector<ChunkRange>{blocks(rank, binomial_subtree_end(rank, shape.num_ranks), shape.segments)};
    });
}

RankSchedule binomial_gather(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    RankSchedule part;
    std::vector<std::int32_t> received;
    for (const std::int32_t child : binomial_children(v, p))
        received.push_back(
            part.add(OpKind::recv, Rank{child}, {blocks(child, binomial_subtree_end(child, p), shape.segments)}, {}));
    if (v != 0)
        part.add(OpKind::send, Rank{binomial_parent(v)}, {blocks(v, binomial_subtree_end(v, p), shape.segments)},
                 received);
    return part;
}

std::vector<ChunkRange> blocks_of(bine::Stretch ranks, const Shape& shape) {
    return blocks_around(ranks.first, ranks.count, shape.num_ranks, shape.segments);
}

RankSchedule bine_scatter(std::int32_t v, const Shape& shape) {
    const bine::Place place = bine::place_in_tree(v, shape.num_ranks);
    RankSchedule part;
    std::vector<std::int32_t> after;
    if (v != 0) after = {part.add(OpKind::recv, Rank{place.parent}, blocks_of(place.subtree, shape), {})};
    for (const bine::Place::Child& child : place.children)
        part.add(OpKind::send, Rank{child.rank}, blocks_of(child.subtree, shape), after);
    return part;
}

RankSchedule bine_gather(std::int32_t v, const Shape& shape) {
    const bine::Place place = bine::place_in_tree(v, shape.num_ranks);
    RankSchedule part;
    std::vector<std::int32_t> received;
    for (auto child = place.children.rbegin(); child != place.children.rend(); ++child)
        received.push_back(part.add(OpKind::recv, Rank{child->rank}, blocks_of(child->subtree, shape), {}));
    if (v != 0) part.add(OpKind::send, Rank{place.parent}, blocks_of(place.subtree, shape), received);
    return part;
}

constexpr std::array algorithms = {
    Algorithm{Collective::scatter, "linear", "PjesivacGrbovic07", false, false, whole_message, one_for_each_rank,
              linear_scatter},
    Algorithm{Collective::scatter, "binomial", "Thakur05", false, false, whole_message, one_for_each_rank,
              binomial_scatter},
    Algorithm{Collective::scatter, "binomial_in_turn", "Thakur05", false, false, whole_message, one_for_each_rank,
              binomial_scatter_in_turn},
    Algorithm{Collective::scatter, "bine", "DeSensi25", false, false, whole_message, one_for_each_rank, bine_scatter},
    Algorithm{Collective::gather, "linear", "PjesivacGrbovic07", false, false, whole_message, one_for_each_rank,
              linear_gather},
    Algorithm{Collective::gather, "binomial", "Thakur05", false, false, whole_message, one_for_each_rank,
              binomial_gather},
    Algorithm{Collective::gather, "bine", "DeSensi25", false, false, whole_message, one_for_each_rank, bine_gather},
};

}  // namespace
}  // namespace scatter_gather

std::span<const Algorithm> scatter_gather_algorithms() { return scatter_gather::algorithms; }

}  // namespace hocket::collectives
