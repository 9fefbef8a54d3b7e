// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Rings of which some links are slow. Shape::starts are the places behind these links; the ranks from one start to the
// next are a stretch, within which links are fast.

#include <algorithm>
#include <compare>
#include <tuple>

#include "hocket/collectives/emitters.hpp"

namespace hocket::collectives {

namespace {

std::int32_t num_starts(const Shape& shape) { return block_for_each_start(shape); }
std::int32_t start_of(const Shape& shape, std::int32_t block) {
    return shape.starts.empty() ? block : shape.starts[static_cast<std::size_t>(block)];
}

/// How many places the stretch of a place begins before it.
std::int32_t since_start(const Shape& shape, std::int32_t v) {
    if (shape.starts.empty()) return 0;
    const auto after = std::upper_bound(shape.starts.begin(), shape.starts.end(), v);
    return after == shape.starts.begin() ? v + shape.num_ranks - shape.starts.back() : v - *(after - 1);
}

}  // namespace

/// Each block is reduced along the ring from its start to the rank before that, from where the result goes back the
/// same way: so it never crosses between these two. Let the ring have s slow cables, and one of B = s equal blocks of a
/// message of n bytes start behind each. A stretch of ranks between two slow cables then gets n (1 - 1/s) bytes over
/// one of them and as many over the other, 2 n (1 - 1/s) in all, which is the least possible for s parts
/// (cost/wire_limit.cpp, 2). The textbook ring [Patarasuk09] gives 2 n (1 - 1/p) with p ranks.
RankSchedule uneven_ring_allreduce(std::int32_t v, const Shape& shape) {
    struct Turn {
        std::int32_t step, block;
        bool sends;
        auto operator<=>(const Turn&) const = default;
    };
    const std::int32_t p = shape.num_ranks, segments = shape.segments, blocks = num_starts(shape);
    const Rank next{around(v, 1, p)}, previous{around(v, -1, p)};
    // A block takes p-1 steps to be reduced and p-1 back. Both ends list the messages between them by step and block.
    std::vector<Turn> turns;
    for (std::int32_t block = 0; block < blocks; ++block) {
        const std::int32_t from_start = around(v, -start_of(shape, block), p);
        const std::int32_t back = 2 * (p - 1) - from_start;
        if (from_start > 0) turns.push_back({from_start - 1, block, false});
        if (from_start < p - 1) turns.push_back({from_start, block, true});
        if (from_start < p - 1) turns.push_back({back - 1, block, false});
        if (from_start > 0) turns.push_back({back, block, true});
    }
    std::sort(turns.begin(), turns.end());
    RankSchedule part;
    const std::size_t chunks = static_cast<std::size_t>(blocks) * static_cast<std::size_t>(segments);
    std::vector<std::int32_t> received(chunks, -1), sent(chunks, -1);  // [chunk] last op
    for (const auto& [step, block, sends] : turns)
        for (std::int32_t chunk = block * segments; chunk < (block + 1) * segments; ++chunk) {
            std::int32_t& last = received[static_cast<std::size_t>(chunk)];
            std::int32_t& given = sent[static_cast<std::size_t>(chunk)];
            const bool reducing = step < p - 1;
            std::vector<std::int32_t> after;
            if (sends) {
                if (last >= 0) after = {last};
                given = part.add(OpKind::send, reducing ? next : previous, {{chunk, 1}}, after);
            } else if (reducing) {
                last = part.add(OpKind::recv_reduce_left, previous, {{chunk, 1}}, {});
            } else {
                if (given >= 0) after = {given};  // what it gave on the way of reduction is overwritten
                last = part.add(OpKind::recv, next, {{chunk, 1}}, after);
            }
        }
    return part;
}

/// Each block goes on from its rank to the end of the stretch before its own, and back to the start of its own. So the
/// slow cable into a stretch of k ranks carries the n - k blocks that come from elsewhere, the least possible, where
/// the textbook ring carries n - 1. Cables within stretches carry blocks in both directions.
RankSchedule uneven_ring_allgather(std::int32_t v, const Shape& shape) {
    struct Move {
        std::int32_t step, owner;
        bool sends;
        Rank peer;
    };
    const std::int32_t p = shape.num_ranks, segments = shape.segments;
    const Rank next{around(v, 1, p)}, previous{around(v, -1, p)};
    // Each block comes once. Both ends list the messages between them by step and block.
    std::vector<Move> moves;
    for (std::int32_t owner = 0; owner < p; ++owner) {
        const std::int32_t most_back = since_start(shape, owner), most_on = p - 1 - most_back;
        const std::int32_t on = around(v, -owner, p), back = on == 0 ? 0 : p - on;
        const bool comes_on = on <= most_on;
        if (on > 0) moves.push_back({(comes_on ? on : back) - 1, owner, false, comes_on ? previous : next});
        if (comes_on && on < most_on) moves.push_back({on, owner, true, next});
        if ((on == 0 || !comes_on) && back < most_back) moves.push_back({back, owner, true, previous});
    }
    std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
        return std::tuple(a.step, a.owner, a.sends) < std::tuple(b.step, b.owner, b.sends);
    });
    RankSchedule part;
    std::vector<std::int32_t> received(static_cast<std::size_t>(p) * static_cast<std::size_t>(segments),
                                       -1);  // [chunk]
    for (const Move& move : moves)
        for (std::int32_t chunk = move.owner * segments; chunk < (move.owner + 1) * segments; ++chunk) {
            std::int32_t& arrived = received[static_cast<std::size_t>(chunk)];
            if (!move.sends) {
                arrived = part.add(OpKind::recv, move.peer, {{chunk, 1}}, {});
            } else {
                part.add(OpKind::send, move.peer, {{chunk, 1}},
                         arrived < 0 ? std::vector<std::int32_t>{} : std::vector{arrived});
            }
        }
    return part;
}

}  // namespace hocket::collectives
