// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <span>

#include "hocket/collectives/algorithm.hpp"

/// What the files of the algorithms share. Everything is for virtual ranks with root 0.
namespace hocket::collectives {

// The tables of algorithms, one for each collective, joined by all_algorithms().
std::span<const Algorithm> bcast_algorithms();
std::span<const Algorithm> reduce_algorithms();
std::span<const Algorithm> allreduce_algorithms();
std::span<const Algorithm> allgather_algorithms();
std::span<const Algorithm> alltoall_algorithms();
std::span<const Algorithm> reduce_scatter_block_algorithms();
std::span<const Algorithm> scatter_gather_algorithms();
std::span<const Algorithm> barrier_algorithms();

/// Values of Algorithm::cuts.
constexpr std::int32_t whole_message(const Shape& /*shape*/) { return 1; }
constexpr std::int32_t block_for_each_rank(const Shape& shape) { return shape.num_ranks; }

// Values of Algorithm::least_messages. Whatever all ranks take part in has p - 1.
constexpr std::int64_t one_for_each_rank(const Shape& shape) { return shape.num_ranks - 1; }
constexpr std::int64_t one_for_each_pair(const Shape& shape) {
    return std::int64_t{shape.num_ranks} * (shape.num_ranks - 1);
}
constexpr std::int64_t one_for_half_the_pairs(const Shape& shape) { return one_for_each_pair(shape) / 2; }

/// Largest power of two <= p.
constexpr std::int32_t power_of_two_within(std::int32_t p) {
    std::int32_t power = 1;
    while (power <= p / 2) power *= 2;
    return power;
}
constexpr std::int32_t block_for_each_of_power_of_two(const Shape& shape) {
    return power_of_two_within(shape.num_ranks);
}

/// (a + b) mod p for a in 0 .. p-1 and |b| <= p.
constexpr std::int32_t around(std::int32_t a, std::int32_t b, std::int32_t p) {
    const std::int64_t sum = std::int64_t{a} + b;
    return static_cast<std::int32_t>(sum < 0 ? sum + p : sum >= p ? sum - p : sum);
}

/// The binomial tree of root 0: the children of v are v + 1, v + 2, v + 4, ... below its lowest set bit, so that the
/// subtree of v is the ranks v .. subtree_end - 1.
constexpr std::int32_t binomial_parent(std::int32_t v) { return v & (v - 1); }
constexpr std::int32_t binomial_subtree_end(std::int32_t v, std::int32_t p) {
    const std::int32_t size = v & -v;
    return v == 0 || size > p - v ? p : v + size;
}
/// Smallest subtree first.
inline std::vector<std::int32_t> binomial_children(std::int32_t v, std::int32_t p) {
    std::vector<std::int32_t> children;
    for (std::int32_t bit = 1; bit < binomial_subtree_end(v, p) - v; bit *= 2) children.push_back(v + bit);
    return children;
}

/// The place of rank v in a tree of root 0.
struct TreePlace {
    std::int32_t parent;  ///< -1 at the root
    std::vector<std::int32_t> children;
};
inline TreePlace place_in_star(std::int32_t v, std::int32_t p) {
    TreePlace place{v == 0 ? -1 : 0, {}};
    for (std::int32_t child = 1; v == 0 && child < p; ++child) place.children.push_back(child);
    return place;
}
/// The k-nomial tree: with digits of base `radix` in place of the bits of the binomial tree. The subtree of v is the
/// radix^i ranks from v on, where digit i is the lowest of v that is not 0.
inline TreePlace place_in_knomial_tree(std::int32_t v, std::int32_t p, std::int32_t radix) {
    TreePlace place{-1, {}};
    for (std::int64_t unit = 1; unit < p; unit *= radix) {
        if (const std::int64_t digit = v / unit % radix; digit != 0) {
            place.parent = static_cast<std::int32_t>(v - digit * unit);
            break;
        }
        for (std::int64_t child = v + unit; child < std::min<std::int64_t>(v + radix * unit, p); child += unit)
            place.children.push_back(static_cast<std::int32_t>(child));
    }
    return place;
}

/// From the parent to the children, the largest subtree first, each when the receiver of the one before has answered:
/// no two share the link of their sender. `chunks_of` a rank are those that go down to it.
template <class ChunksOf>
RankSchedule down_binomial_tree_in_turn(std::int32_t v, std::int32_t p, const ChunksOf& chunks_of) {
    const TreePlace place = place_in_knomial_tree(v, p, 2);
    RankSchedule part;
    std::vector<std::int32_t> got, answered;
    if (v != 0) {
        got = {part.add(OpKind::recv, Rank{place.parent}, chunks_of(v), {})};
        const bool is_last = v == place.parent + 1;
        if (!is_last) part.add(OpKind::send, Rank{place.parent}, std::vector<ChunkRange>{}, got);
    }
    for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
        std::vector<std::int32_t> after = got;
        after.insert(after.end(), answered.begin(), answered.end());
        const std::int32_t sent = part.add(OpKind::send, Rank{*child}, chunks_of(*child), after);
        if (child + 1 != place.children.rend())
            answered = {part.add(OpKind::recv, Rank{*child}, std::vector<ChunkRange>{}, std::vector{sent})};
    }
    return part;
}
inline TreePlace place_in_chain(std::int32_t v, std::int32_t p) {
    TreePlace place{v - 1, {}};
    if (v + 1 < p) place.children.push_back(v + 1);
    return place;
}

/// The first rank of a stretch sends to the heads of `fanout` nearly equal stretches of the rest, and so on: a subtree
/// is a stretch of ranks, and stays in one part of the network where they are in its order.
inline TreePlace place_in_split_tree(std::int32_t v, std::int32_t p, std::int32_t fanout) {
    std::int32_t parent = -1, first = 0, size = p;
    while (true) {
        TreePlace place{parent, {}};
        std::int32_t start = first + 1, left = size - 1, inner_first = 0, inner_size = 0;
        const std::int32_t parts = std::min(left, fanout);
        for (std::int32_t part = 0; part < parts; ++part) {
            const std::int32_t length = left / (parts - part);
            place.children.push_back(start);
            if (v >= start && v < start + length) {
                inner_first = start;
                inner_size = length;
            }
            start += length;
            left -= length;
        }
        if (v == first) return place;
        parent = first;
        first = inner_first;
        size = inner_size;
    }
}

/// Non-powers of two for algorithms that need one: of the first 2e ranks, where e is p minus the power, the odd ones
/// give their part to the even one before them and get the result from it at the end. The others act under new,
/// consecutive numbers, so that the order of ranks is kept [Thakur05].
struct Folding {
    std::int32_t power;   ///< ranks that act
    std::int32_t excess;  ///< e

    explicit constexpr Folding(std::int32_t p) : power(power_of_two_within(p)), excess(p - power) {}
    [[nodiscard]] constexpr bool gives(std::int32_t v) const { return v < 2 * excess && v % 2 == 1; }
    [[nodiscard]] constexpr bool takes(std::int32_t v) const { return v < 2 * excess && v % 2 == 0; }
    [[nodiscard]] constexpr std::int32_t number_of(std::int32_t v) const { return v < 2 * excess ? v / 2 : v - excess; }
    /// Also for n = power: then p.
    [[nodiscard]] constexpr std::int32_t rank_of(std::int32_t n) const { return n < excess ? 2 * n : n + excess; }
};

/// The partner's part is left of the own one if its number is smaller.
constexpr OpKind reduce_from(std::int32_t partner, std::int32_t self) {
    return partner < self ? OpKind::recv_reduce_left : OpKind::recv_reduce_right;
}

/// Blocks first .. first+count-1 around the ring of p, as chunks.
inline std::vector<ChunkRange> blocks_around(std::int32_t first, std::int32_t count, std::int32_t p,
                                             std::int32_t segments) {
    const std::int32_t before_wrap = std::min(count, p - first);
    return {{first * segments, before_wrap * segments}, {0, (count - before_wrap) * segments}};
}

/// Each rank passes p - 1 blocks to the next rank of the ring, its `first_block` and then those that it has received,
/// which are each one less; the segments of a block travel separately.
inline RankSchedule once_around_ring(std::int32_t v, std::int32_t first_block, OpKind receive, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    const std::int32_t segments = shape.segments;
    RankSchedule part;
    std::vector<std::int32_t> have(static_cast<std::size_t>(segments), -1);  // [segment] receive of the block sent next
    for (std::int32_t step = 0; step + 1 < p; ++step) {
        const std::int32_t block_out = around(first_block, -step, p);
        const std::int32_t block_in = around(block_out, -1, p);
        for (std::int32_t i = 0; i < segments; ++i) {
            std::int32_t& segment = have[static_cast<std::size_t>(i)];
            std::vector<std::int32_t> after;
            if (segment >= 0) after = {segment};
            part.add(OpKind::send, Rank{around(v, 1, p)}, {{block_out * segments + i, 1}}, after);
            segment = part.add(receive, Rank{around(v, -1, p)}, {{block_in * segments + i, 1}}, {});
        }
    }
    return part;
}

// Among nodes that are far from each other (alltoall_nodes.cpp).
RankSchedule node_aware_alltoall(std::int32_t v, const Shape&);
RankSchedule alltoall_by_dimension(std::int32_t v, const Shape&);
/// Where each rank is a node it sends to each other.
constexpr std::int64_t least_among_nodes(const Shape& shape) {
    return shape.starts.empty() ? one_for_each_pair(shape) : one_for_each_rank(shape);
}

// Around a ring of which some links are slow (uneven_ring.cpp).
RankSchedule uneven_ring_allreduce(std::int32_t v, const Shape&);
RankSchedule uneven_ring_allgather(std::int32_t v, const Shape&);
constexpr std::int32_t block_for_each_start(const Shape& shape) {
    return shape.starts.empty() ? shape.num_ranks : static_cast<std::int32_t>(shape.starts.size());
}
/// Each block is reduced along the ring and goes back.
constexpr std::int64_t two_for_each_start_and_rank(const Shape& shape) {
    return 2 * std::int64_t{block_for_each_start(shape)} * (shape.num_ranks - 1);
}

}  // namespace hocket::collectives
