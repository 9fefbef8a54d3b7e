// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/uneven_ring.hpp"

#include <algorithm>
#include <compare>
#include <string>
#include <tuple>

#include "hocket/base/error.hpp"
#include "hocket/network/members.hpp"

namespace hocket::search {

namespace {

void check(std::span<const Rank> order, std::span<const std::int32_t> starts, std::int32_t segments) {
    const auto distinct_below = [](auto values, std::size_t limit) {
        std::vector<bool> seen(limit, false);
        for (const std::int32_t value : values) {
            if (value < 0 || static_cast<std::size_t>(value) >= limit || seen[static_cast<std::size_t>(value)])
                return false;
            seen[static_cast<std::size_t>(value)] = true;
        }
        return true;
    };
    std::vector<std::int32_t> ranks;
    for (const Rank rank : order) ranks.push_back(rank.value);
    if (order.empty() || !distinct_below(std::span(ranks), order.size()))
        throw InvalidInput("the order is not a permutation of 0 to " +
                           std::to_string(static_cast<std::int64_t>(order.size()) - 1));
    if (starts.empty() || !distinct_below(starts, order.size()))
        throw InvalidInput("the starts are not distinct positions from 0 to " + std::to_string(order.size() - 1));
    if (segments < 1 || static_cast<std::size_t>(segments) > (1U << 22U) / starts.size())
        throw InvalidInput("number of segments is " + std::to_string(segments) + ": expected 1 to " +
                           std::to_string((1U << 22U) / starts.size()));
}

struct Turn {
    std::int32_t step, block;
    bool sends;
    auto operator<=>(const Turn&) const = default;
};

}  // namespace

Schedule uneven_ring_allreduce(std::span<const Rank> order, std::span<const std::int32_t> starts,
                               std::int32_t segments) {
    check(order, starts, segments);
    const auto p = static_cast<std::int32_t>(order.size());
    const auto num_blocks = static_cast<std::int32_t>(starts.size());
    Schedule schedule{Collective::allreduce, "uneven_ring", p, Rank{0}, num_blocks * segments, {}};
    schedule.ranks.resize(order.size());
    for (std::int32_t v = 0; v < p; ++v) {
        RankSchedule& part = schedule.ranks[order[static_cast<std::size_t>(v)].at()];
        const Rank next = order[static_cast<std::size_t>((v + 1) % p)];
        const Rank previous = order[static_cast<std::size_t>((v + p - 1) % p)];
        std::vector<std::int32_t> received(static_cast<std::size_t>(num_blocks * segments), -1);  // [chunk] last, or -1
        std::vector<std::int32_t> sent(received);
        // A block takes p-1 steps to be reduced and p-1 back. Both ends list the messages between them by step and
        // block.
        std::vector<Turn> turns;
        for (std::int32_t block = 0; block < num_blocks; ++block) {
            const std::int32_t from_start = (v - starts[static_cast<std::size_t>(block)] + p) % p;
            const std::int32_t back = 2 * (p - 1) - from_start;
            if (from_start > 0) turns.push_back({from_start - 1, block, false});
            if (from_start < p - 1) turns.push_back({from_start, block, true});
            if (from_start < p - 1) turns.push_back({back - 1, block, false});
            if (from_start > 0) turns.push_back({back, block, true});
        }
        std::sort(turns.begin(), turns.end());
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
    }
    return schedule;
}

Schedule uneven_ring_allgather(std::span<const Rank> order, std::span<const std::int32_t> starts,
                               std::int32_t segments) {
    check(order, starts, segments);
    const auto p = static_cast<std::int32_t>(order.size());
    if (p > (1 << 22) / segments)
        throw InvalidInput("number of segments is " + std::to_string(segments) + ": expected 1 to " +
                           std::to_string((1 << 22) / p));
    Schedule schedule{Collective::allgather, "uneven_ring", p, Rank{0}, segments, {}};
    schedule.ranks.resize(order.size());
    const auto rank_at = [&](std::int32_t position) { return order[static_cast<std::size_t>((position + p) % p)]; };
    std::vector<std::int32_t> since_start(order.size());  // [position] how far behind the last start
    for (const std::int32_t start : starts)
        for (std::int32_t v = start, far = 0; far == 0 || std::find(starts.begin(), starts.end(), v) == starts.end();
             v = (v + 1) % p)
            since_start[static_cast<std::size_t>(v)] = far++;
    for (std::int32_t v = 0; v < p; ++v) {
        RankSchedule& part = schedule.ranks[rank_at(v).at()];
        // Each block comes once. Both ends list the messages between them by step and block.
        struct Move {
            std::int32_t step, owner;
            bool sends;
            Rank peer;
        };
        std::vector<Move> moves;
        for (std::int32_t owner = 0; owner < p; ++owner) {
            const std::int32_t most_back = since_start[static_cast<std::size_t>(owner)], most_on = p - 1 - most_back;
            const std::int32_t on = (v - owner + p) % p, back = (p - on) % p;
            const bool comes_on = on <= most_on;
            if (on > 0) moves.push_back({(comes_on ? on : back) - 1, owner, false, rank_at(comes_on ? v - 1 : v + 1)});
            if (comes_on && on < most_on) moves.push_back({on, owner, true, rank_at(v + 1)});
            if ((on == 0 || !comes_on) && back < most_back) moves.push_back({back, owner, true, rank_at(v - 1)});
        }
        std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
            return std::tuple(a.step, a.owner, a.sends) < std::tuple(b.step, b.owner, b.sends);
        });
        std::vector<std::int32_t> received(order.size() * static_cast<std::size_t>(segments), -1);  // [chunk]
        for (const Move& move : moves)
            for (std::int32_t segment = 0; segment < segments; ++segment) {
                const std::int32_t chunk = rank_at(move.owner).value * segments + segment;
                std::int32_t& arrived = received[static_cast<std::size_t>(chunk)];
                if (!move.sends) {
                    arrived = part.add(OpKind::recv, move.peer, {{chunk, 1}}, {});
                } else {
                    part.add(OpKind::send, move.peer, {{chunk, 1}},
                             arrived < 0 ? std::vector<std::int32_t>{} : std::vector{arrived});
                }
            }
    }
    return schedule;
}

std::vector<std::int32_t> behind_slow_links(const Network& network, std::span<const Rank> members,
                                            std::span<const Rank> order) {
    network::check_members(network, members, order.size());
    std::vector<double> s_per_byte;
    for (std::size_t v = 0; v < order.size(); ++v) {
        const Rank before = order[(v + order.size() - 1) % order.size()];
        if (!before.valid() || before.at() >= members.size())
            throw InvalidInput("the order names ranks that are not there");
        double slowest = 0;
        for (const LinkId l : network.route(members[before.at()], members[order[v].at()]))
            slowest = std::max(slowest, 1 / network.link(l).bandwidth_bytes_per_s);
        s_per_byte.push_back(slowest);
    }
    const double most = *std::max_element(s_per_byte.begin(), s_per_byte.end());
    std::vector<std::int32_t> positions;
    for (std::size_t v = 0; v < order.size(); ++v)
        if (s_per_byte[v] >= 0.99 * most) positions.push_back(static_cast<std::int32_t>(v));
    return positions;
}

}  // namespace hocket::search
