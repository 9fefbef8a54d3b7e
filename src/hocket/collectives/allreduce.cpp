// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Allreduce of one message.

#include <array>

#include "hocket/collectives/bine.hpp"

namespace hocket::collectives {

namespace allreduce {
namespace {

/// What a rank outside the power of two does: gives its part to its neighbour, gets the result.
RankSchedule give_and_get(std::int32_t v, ChunkRange chunks) {
    RankSchedule part;
    const std::int32_t given = part.add(OpKind::send, Rank{v - 1}, {chunks}, {});
    part.add(OpKind::recv, Rank{v - 1}, {chunks}, {given});
    return part;
}

RankSchedule recursive_doubling(std::int32_t v, const Shape& shape) {
    const Folding folding(shape.num_ranks);
    const ChunkRange whole{0, shape.segments};
    if (folding.gives(v)) return give_and_get(v, whole);
    RankSchedule part;
    std::vector<std::int32_t> reduced;  // the last op that wrote the message
    if (folding.takes(v)) reduced = {part.add(OpKind::recv_reduce_right, Rank{v + 1}, {whole}, {})};
    const std::int32_t self = folding.number_of(v);
    for (std::int32_t bit = 1; bit < folding.power; bit *= 2) {
        const std::int32_t partner = self ^ bit;
        const Rank peer{folding.rank_of(partner)};
        const std::int32_t sent = part.add(OpKind::send, peer, {whole}, reduced);
        reduced = {part.add(reduce_from(partner, self), peer, {whole}, std::vector<std::int32_t>{sent})};
    }
    if (folding.takes(v)) part.add(OpKind::send, Rank{v + 1}, {whole}, reduced);
    return part;
}

/// Block b starts at rank b and is reduced along the ring to rank b-1, which sends it around once more.
RankSchedule ring(std::int32_t v, const Shape& shape) {
    const std::int32_t p = shape.num_ranks;
    const std::int32_t segments = shape.segments;
    const Rank next{around(v, 1, p)};
    const Rank previous{around(v, -1, p)};
    RankSchedule part;
    std::vector<std::int32_t> have(static_cast<std::size_t>(segments),
                                   -1);  // [segment] receive of the block sent next
    std::vector<std::int32_t> sent(static_cast<std::size_t>(p) * static_cast<std::size_t>(segments),
                                   -1);  // [chunk] phase 1
    for (std::int32_t step = 0; step < 2 * (p - 1); ++step) {
        const bool reducing = step < p - 1;
        const std::int32_t block_out = around(v, (reducing ? -step : p - step) % p, p);
        const std::int32_t block_in = around(block_out, -1, p);
        for (std::int32_t i = 0; i < segments; ++i) {
            std::int32_t& segment = have[static_cast<std::size_t>(i)];
            const std::int32_t out = block_out * segments + i;
            const std::int32_t in = block_in * segments + i;
            std::vector<std::int32_t> after;
            if (segment >= 0) after = {segment};
            const std::int32_t send = part.add(OpKind::send, next, {{out, 1}}, after);
            if (reducing) {
                sent[static_cast<std::size_t>(out)] = send;
                segment = part.add(OpKind::recv_reduce_left, previous, {{in, 1}}, {});
            } else {
                segment = part.add(OpKind::recv, previous, {{in, 1}}, {sent[static_cast<std::size_t>(in)]});
            }
        }
    }
    return part;
}

/// Recursive halving of the vector at doubling distances, then back. Doubling distances join neighbours first, which
/// keeps the order of ranks.
RankSchedule rabenseifner(std::int32_t v, const Shape& shape) {
    const Folding folding(shape.num_ranks);
    const std::int32_t segments = shape.segments;
    const ChunkRange whole{0, folding.power * segments};
    if (folding.gives(v)) return give_and_get(v, whole);
    RankSchedule part;
    std::vector<std::int32_t> reduced;
    if (folding.takes(v)) reduced = {part.add(OpKind::recv_reduce_right, Rank{v + 1}, {whole}, {})};

    struct Step {
        Rank peer;
        ChunkRange kept, given;
        std::int32_t sent;
    };
    std::vector<Step> steps;
    const std::int32_t self = folding.number_of(v);
    std::int32_t first = 0;
    std::int32_t count = folding.power;
    for (std::int32_t bit = 1; bit < folding.power; bit *= 2) {
        const std::int32_t partner = self ^ bit;
        count /= 2;
        const ChunkRange low{first * segments, count * segments};
        const ChunkRange high{(first + count) * segments, count * segments};
        const bool keeps_low = partner > self;
        Step step{Rank{folding.rank_of(partner)}, keeps_low ? low : high, keeps_low ? high : low, -1};
        step.sent = part.add(OpKind::send, step.peer, {step.given}, reduced);
        reduced = {part.add(reduce_from(partner, self), step.peer, {step.kept}, reduced)};
        if (!keeps_low) first += count;
        steps.push_back(step);
    }
    // Back: what was kept goes to the partner, what was given comes from it, finished.
    std::vector<std::int32_t> finished = reduced;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        part.add(OpKind::send, step->peer, {step->kept}, finished);
        finished.push_back(part.add(OpKind::recv, step->peer, {step->given}, {step->sent}));
    }
    if (folding.takes(v)) part.add(OpKind::send, Rank{v + 1}, {whole}, finished);
    return part;
}

/// Reduced along the chain to rank 0, segment by segment, and broadcast back along it: on a tree network in depth-first
/// order each directed link is crossed at most once in each direction.
RankSchedule pipelined_chain(std::int32_t v, const Shape& shape) {
    RankSchedule part;
    const bool has_next = v + 1 < shape.num_ranks;
    // All reductions are listed before the way back: segments of the two directions do not wait for each other.
    std::vector<std::int32_t> up(static_cast<std::size_t>(shape.segments),
                                 -1);  // [segment] last op on the way to rank 0
    for (std::int32_t i = 0; i < shape.segments; ++i) {
        std::vector<std::int32_t> after;
        if (has_next) after = {part.add(OpKind::recv_reduce_right, Rank{v + 1}, {{i, 1}}, {})};
        if (v > 0) after = {part.add(OpKind::send, Rank{v - 1}, {{i, 1}}, after)};
        if (!after.empty()) up[static_cast<std::size_t>(i)] = after.front();
    }
    for (std::int32_t i = 0; i < shape.segments; ++i) {
        std::int32_t last = up[static_cast<std::size_t>(i)];
        if (v > 0) last = part.add(OpKind::recv, Rank{v - 1}, {{i, 1}}, {last});
        if (has_next) part.add(OpKind::send, Rank{v + 1}, {{i, 1}}, {last});
    }
    return part;
}

constexpr std::array algorithms = {
    Algorithm{Collective::allreduce, "recursive_doubling", "Thakur05", false, true, whole_message, one_for_each_rank,
              recursive_doubling},
    Algorithm{Collective::allreduce, "ring", "Patarasuk09", true, false, block_for_each_rank, one_for_each_pair, ring},
    Algorithm{Collective::allreduce, "rabenseifner", "Rabenseifner04", false, true, block_for_each_of_power_of_two,
              one_for_each_rank, rabenseifner},
    Algorithm{Collective::allreduce, "swing", "DeSensi24", false, false, bine::block_for_each_of_ring,
              one_for_each_rank, bine::swing},
    Algorithm{Collective::allreduce, "pipelined_chain", "PjesivacGrbovic07", true, true, whole_message,
              one_for_each_rank, pipelined_chain},
    Algorithm{Collective::allreduce, "uneven_ring", "Patarasuk09", true, false, block_for_each_start,
              two_for_each_start_and_rank, uneven_ring_allreduce, true},
};

}  // namespace
}  // namespace allreduce

std::span<const Algorithm> allreduce_algorithms() { return allreduce::algorithms; }

}  // namespace hocket::collectives
