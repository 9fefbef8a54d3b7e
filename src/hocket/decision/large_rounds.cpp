// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/decision/large_rounds.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

#include "hocket/base/random.hpp"
#include "hocket/collectives/bine.hpp"

namespace hocket::decision {

namespace {

using Round = cost::Rounds::Round;
using Message = cost::Rounds::Message;

/// Each rank sends to the one at this distance behind it.
void add_shift(std::vector<Message>& messages, std::int32_t p, std::int32_t distance, double blocks, bool reduces,
               double copies = 1) {
    for (std::int32_t v = 0; v < p; ++v)
        messages.push_back({v, collectives::around(v, distance, p), blocks, reduces, copies});
}

Round shift(std::int32_t p, std::int32_t distance, double blocks, bool reduces, std::int64_t times) {
    Round round{{}, times};
    add_shift(round.messages, p, distance, blocks, reduces);
    return round;
}

struct Distance {
    std::int32_t distance, stands_for;
};

/// One at random of each of equal parts of 1 to p - 1. Evenly spaced ones would all be alike on a network that repeats.
std::vector<Distance> distances(std::int32_t p) {
    const std::int64_t num = p - 1, parts = p <= most_exact ? num : most_distances;
    base::Random random(1);
    std::vector<Distance> found;
    for (std::int64_t i = 0; i < parts; ++i) {
        const std::int64_t first = num * i / parts, end = num * (i + 1) / parts;
        found.push_back(
            {static_cast<std::int32_t>(1 + first + random.below(end - first)), static_cast<std::int32_t>(end - first)});
    }
    return found;
}

/// Bruck's: the blocks whose distance has a digit at a place, for each digit at once.
std::vector<Round> alltoall_by_digits(std::int32_t p, std::int64_t radix) {
    std::vector<Round> rounds;
    for (std::int64_t unit = 1; unit < p; unit *= radix) {
        rounds.push_back({{}, 1});
        const std::int64_t whole = p / (radix * unit) * unit, rest = p % (radix * unit);
        for (std::int64_t step = unit; step < std::min<std::int64_t>(radix * unit, p); step += unit) {
            const auto blocks = static_cast<double>(whole + std::clamp<std::int64_t>(rest - step, 0, unit));
            add_shift(rounds.back().messages, p, static_cast<std::int32_t>(step), blocks, false);
        }
    }
    return rounds;
}

std::optional<cost::Rounds> alltoall(std::string_view name, std::int32_t p) {
    if (name == "bruck") return cost::Rounds{p, alltoall_by_digits(p, 2)};
    if (name == "bruck_4") return cost::Rounds{p, alltoall_by_digits(p, 4)};
    cost::Rounds found{p, {}};
    if (name == "pairwise") {
        for (const auto [distance, times] : distances(p)) found.rounds.push_back(shift(p, distance, 1, false, times));
    } else if (name == "linear") {
        found.rounds.push_back({{}, 1});
        for (const auto [distance, copies] : distances(p))
            add_shift(found.rounds.back().messages, p, distance, 1, false, copies);
    } else {
        return std::nullopt;
    }
    return found;
}

/// A butterfly, from near to far, of an even number of ranks. `block` is the size of one.
std::vector<Round> reduce_scatter(std::int32_t p, double block) {
    const collectives::bine::Butterfly butterfly(p - p % 2);
    std::vector<Round> rounds;
    for (std::int32_t step = 0; step < butterfly.num_steps(); ++step) {
        rounds.push_back({{}, 1});
        for (std::int32_t v = 0; v < butterfly.ring(); ++v)
            rounds.back().messages.push_back(
                {v, butterfly.partner(v, step), block * static_cast<double>(butterfly.num_blocks(step)), true});
    }
    return rounds;
}

/// The same back.
std::vector<Round> allgather(std::vector<Round> rounds) {
    std::reverse(rounds.begin(), rounds.end());
    for (Round& round : rounds)
        for (Message& message : round.messages) message.reduces = false;
    return rounds;
}

/// The last of an odd number of ranks sends to each of the ring, or they send to it.
void add_last(Round& round, std::int32_t p, double block, bool sends, bool reduces) {
    for (std::int32_t v = 0; p % 2 != 0 && v < p - 1; ++v)
        round.messages.push_back({sends ? p - 1 : v, sends ? v : p - 1, block, reduces});
}

std::vector<Round> swing(std::int32_t p) {
    const double block = 1.0 / (p - p % 2);
    std::vector<Round> rounds = reduce_scatter(p, block), back = allgather(rounds);
    add_last(rounds.front(), p, block, true, true);
    add_last(back.front(), p, block, false, false);
    rounds.insert(rounds.end(), back.begin(), back.end());
    return rounds;
}

std::vector<Round> bine(std::int32_t p, bool reduces) {
    std::vector<Round> rounds = reduce_scatter(p, 1);
    if (!reduces) rounds = allgather(std::move(rounds));
    add_last(rounds.front(), p, 1, true, reduces);
    add_last(rounds.front(), p, 1, false, reduces);
    return rounds;
}

/// A binomial tree hands out blocks, each rank to all its children at once; then they go around the ring. That some of
/// them need not is left out: what ranks so send early would hold up the rounds of all in a model of rounds.
std::vector<Round> scatter_allgather(std::int32_t p) {
    std::vector<Round> rounds;
    for (std::int32_t v = 1; v < p; ++v) {
        const auto depth = static_cast<std::size_t>(std::popcount(static_cast<std::uint32_t>(v)));
        if (rounds.size() < depth) rounds.resize(depth, {{}, 1});
        const double blocks = static_cast<double>(collectives::binomial_subtree_end(v, p) - v) / p;
        rounds[depth - 1].messages.push_back({collectives::binomial_parent(v), v, blocks, false});
    }
    rounds.push_back(shift(p, 1, 1.0 / p, false, p - 1));
    return rounds;
}

}  // namespace

std::optional<cost::Rounds> large_rounds(const collectives::Algorithm& algorithm, std::int32_t p) {
    const bool is_ring = algorithm.name == "ring";
    if (p < 2) return std::nullopt;
    switch (algorithm.collective) {
        case Collective::alltoall:
            return alltoall(algorithm.name, p);
        case Collective::allgather:
        case Collective::reduce_scatter_block:
            if (is_ring) return cost::Rounds{p, {shift(p, 1, 1, algorithm.collective != Collective::allgather, p - 1)}};
            if (algorithm.name == "bine")
                return cost::Rounds{p, bine(p, algorithm.collective != Collective::allgather)};
            return std::nullopt;
        case Collective::allreduce:
            if (is_ring)
                return cost::Rounds{p, {shift(p, 1, 1.0 / p, true, p - 1), shift(p, 1, 1.0 / p, false, p - 1)}};
            if (algorithm.name == "swing") return cost::Rounds{p, swing(p)};
            return std::nullopt;
        case Collective::bcast:
            if (algorithm.name == "scatter_allgather") return cost::Rounds{p, scatter_allgather(p)};
            return std::nullopt;
        default:
            return std::nullopt;
    }
}

}  // namespace hocket::decision
