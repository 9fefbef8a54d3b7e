// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Exchanges of blocks in butterflies [DeSensi24, DeSensi25], of any number of ranks. Of an odd number the last rank is
// no part of the ring: it exchanges blocks with each of the others directly.

#include <algorithm>
#include <bit>

#include "hocket/collectives/bine.hpp"

namespace hocket::collectives::bine {

namespace {

/// Blocks as chunks, for every message of a rank.
class Blocks {
public:
    /// With each block where it is.
    Blocks(const Butterfly& butterfly, std::int32_t segments) : butterfly_(butterfly), segments_(segments) {}

    [[nodiscard]] std::vector<ChunkRange> chunks(std::int32_t v, std::int32_t step) const {
        std::vector<std::int32_t> blocks = butterfly_.blocks(v, step);
        if (!places_.empty()) {
            for (std::int32_t& block : blocks) block = places_[static_cast<std::size_t>(block)];
            std::sort(blocks.begin(), blocks.end());
        }
        std::vector<ChunkRange> found;
        for (const std::int32_t block : blocks) {
            const std::int32_t first = block * segments_;
            if (!found.empty() && found.back().first + found.back().count == first)
                found.back().count += segments_;
            else
                found.push_back({first, segments_});
        }
        return found;
    }
    [[nodiscard]] ChunkRange chunk(std::int32_t block) const {
        return {(places_.empty() ? block : places_[static_cast<std::size_t>(block)]) * segments_, segments_};
    }

    /// Where blocks may lie anywhere, those of a message side by side, if the ring has a power of two of ranks. What v
    /// has left after a step of the reduce-scatter are even blocks alike modulo a power of two, and the odd ones that
    /// are partners of these in the last step. So even blocks lie in the order of their bits reversed, and each before
    /// its partner.
    void lie_side_by_side() {
        const std::int32_t ring = butterfly_.ring(), steps = butterfly_.num_steps();
        places_.resize(static_cast<std::size_t>(ring));
        std::int32_t place = 0;
        for (std::int32_t i = 0; steps > 0 && i < std::int32_t{1} << (steps - 1); ++i) {
            std::int32_t even = 0;
            for (std::int32_t bit = 0; bit + 1 < steps; ++bit) even |= (i >> bit & 1) << (steps - 1 - bit);
            const std::int32_t odd = around(even, distance(steps - 1), std::int32_t{1} << steps);
            for (const std::int32_t block : {even, odd})
                if (block < ring) places_[static_cast<std::size_t>(block)] = place++;
        }
    }

private:
    const Butterfly& butterfly_;
    std::int32_t segments_;
    std::vector<std::int32_t> places_;  ///< [block]; empty: each at its number
};

constexpr std::int32_t even_within(std::int32_t p) { return p - p % 2; }

}  // namespace

std::int32_t block_for_each_of_ring(const Shape& shape) { return std::max(1, even_within(shape.num_ranks)); }

/// Reduce-scatter to the ranks of the ring and back. The last rank of an odd number gives each of them its part of
/// their block and gets the block.
RankSchedule swing(std::int32_t v, const Shape& shape) {
    const Butterfly butterfly(even_within(shape.num_ranks));
    Blocks blocks(butterfly, shape.segments);
    blocks.lie_side_by_side();
    const std::int32_t ring = butterfly.ring(), steps = butterfly.num_steps();
    const bool has_last = ring < shape.num_ranks && ring > 0;
    RankSchedule part;
    if (v == ring) {
        std::vector<std::int32_t> given;
        for (std::int32_t r = 0; r < ring; ++r) given.push_back(part.add(OpKind::send, Rank{r}, {blocks.chunk(r)}, {}));
        for (std::int32_t r = 0; r < ring; ++r)
            part.add(OpKind::recv, Rank{r}, {blocks.chunk(r)}, {given[static_cast<std::size_t>(r)]});
        return part;
    }
    std::vector<std::int32_t> reduced;
    std::vector<std::int32_t> given;  // [step]
    for (std::int32_t step = 0; step < steps; ++step) {
        const std::int32_t partner = butterfly.partner(v, step);
        given.push_back(part.add(OpKind::send, Rank{partner}, blocks.chunks(v, step), reduced));
        reduced = {part.add(reduce_from(partner, v), Rank{partner}, blocks.chunks(partner, step), reduced)};
    }
    if (has_last) {
        reduced = {part.add(OpKind::recv_reduce_right, Rank{ring}, {blocks.chunk(v)}, reduced)};
        part.add(OpKind::send, Rank{ring}, {blocks.chunk(v)}, reduced);
    }
    std::vector<std::int32_t> finished = reduced;
    for (std::int32_t step = steps; step-- > 0;) {
        const Rank partner{butterfly.partner(v, step)};
        part.add(OpKind::send, partner, blocks.chunks(partner.value, step), finished);
        finished.push_back(
            part.add(OpKind::recv, partner, blocks.chunks(v, step), {given[static_cast<std::size_t>(step)]}));
    }
    return part;
}

/// The many blocks of the last steps go to near ranks.
RankSchedule allgather(std::int32_t v, const Shape& shape) {
    const Butterfly butterfly(even_within(shape.num_ranks));
    const Blocks blocks(butterfly, shape.segments);
    const std::int32_t ring = butterfly.ring();
    RankSchedule part;
    for (std::int32_t r = 0; v == ring && r < ring; ++r) {
        part.add(OpKind::send, Rank{r}, {blocks.chunk(ring)}, {});
        part.add(OpKind::recv, Rank{r}, {blocks.chunk(r)}, {});
    }
    if (v == ring) return part;
    if (ring < shape.num_ranks) {
        part.add(OpKind::send, Rank{ring}, {blocks.chunk(v)}, {});
        part.add(OpKind::recv, Rank{ring}, {blocks.chunk(ring)}, {});
    }
    std::vector<std::int32_t> received;
    for (std::int32_t step = butterfly.num_steps(); step-- > 0;) {
        const Rank partner{butterfly.partner(v, step)};
        part.add(OpKind::send, partner, blocks.chunks(partner.value, step), received);
        received.push_back(part.add(OpKind::recv, partner, blocks.chunks(v, step), {}));
    }
    return part;
}

/// The many blocks of the first steps go to near ranks.
RankSchedule reduce_scatter_block(std::int32_t v, const Shape& shape) {
    const Butterfly butterfly(even_within(shape.num_ranks));
    const Blocks blocks(butterfly, shape.segments);
    const std::int32_t ring = butterfly.ring();
    RankSchedule part;
    std::vector<std::int32_t> reduced;
    for (std::int32_t r = 0; v == ring && r < ring; ++r) {
        part.add(OpKind::send, Rank{r}, {blocks.chunk(r)}, {});
        reduced = {part.add(OpKind::recv_reduce_left, Rank{r}, {blocks.chunk(ring)}, reduced)};
    }
    if (v == ring) return part;
    if (ring < shape.num_ranks) part.add(OpKind::send, Rank{ring}, {blocks.chunk(ring)}, {});
    for (std::int32_t step = 0; step < butterfly.num_steps(); ++step) {
        const std::int32_t partner = butterfly.partner(v, step);
        part.add(OpKind::send, Rank{partner}, blocks.chunks(v, step), reduced);
        reduced = {part.add(reduce_from(partner, v), Rank{partner}, blocks.chunks(partner, step), reduced)};
    }
    if (ring < shape.num_ranks) part.add(OpKind::recv_reduce_right, Rank{ring}, {blocks.chunk(v)}, reduced);
    return part;
}

}  // namespace hocket::collectives::bine
