// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>
#include <utility>

#include "hocket/search/circuits/step_parts.hpp"

namespace hocket::search {
namespace {

Steps ring_allgather(std::int32_t p, double bytes) {
    Steps result{"ring", bytes, p, {}};
    for (std::int32_t round = 0; round < p - 1; ++round) {
        Step& step = result.steps.emplace_back();
        for (std::int32_t i = 0; i < p; ++i) step.push_back(plain(i, (i + 1) % p, {(i - round + p) % p}));
    }
    return result;
}

/// [Bruck97]: node i holds the blocks i to i + held - 1, and sends them downwards.
Steps bruck_allgather(std::int32_t p, double bytes) {
    Steps result{"bruck", bytes, p, {}};
    for (std::int32_t held = 1; held < p; held *= 2) {
        Step& step = result.steps.emplace_back();
        for (std::int32_t i = 0; i < p; ++i) {
            Blocks blocks;
            for (std::int32_t b = 0; b < std::min(held, p - held); ++b) blocks.push_back((i + b) % p);
            step.push_back(plain(i, (i - held + p) % p, std::move(blocks)));
        }
    }
    return result;
}

/// [Bruck97] with `ports` ports: node i holds the blocks at a distance of up to `half` on both sides, and sends all of
/// them to nodes so far away that what they hold then joins on without a gap: to ports / 2 on each side.
Steps wide_allgather(std::int32_t p, std::int32_t ports, double bytes) {
    Steps result{"bruck on both sides", bytes, p, {}};
    const std::int32_t sides = ports / 2;
    for (std::int32_t held = 1; held < p;) {  // i - (held - 1) / 2 to i + (held - 1) / 2
        const std::int32_t half = (held - 1) / 2;
        const std::int32_t after = std::min<std::int64_t>(p, std::int64_t{held} * (2 * sides + 1));
        Step& step = result.steps.emplace_back();
        for (std::int32_t i = 0; i < p; ++i) {
            std::vector<char> has(static_cast<std::size_t>(p), 0);
            const auto give = [&](std::int32_t offset) {  // what node i gets from i + offset
                Blocks blocks;
                for (std::int32_t b = -half; b <= half; ++b) {
                    const std::int32_t block = ((i + offset + b) % p + p) % p;
                    if (!std::exchange(has[static_cast<std::size_t>(block)], 1)) blocks.push_back(block);
                }
                return blocks;
            };
            give(0);
            for (std::int32_t side = 1; side <= sides; ++side)
                for (const std::int32_t offset : {side * held, -side * held}) {
                    Blocks blocks = give(offset);
                    if (!blocks.empty()) step.push_back(plain(((i + offset) % p + p) % p, i, std::move(blocks)));
                }
        }
        held = after;
    }
    return result;
}

Steps doubling_allgather(std::int32_t p, double bytes) {
    Steps result{"recursive_doubling", bytes, p, {}};
    const std::int32_t power = power_below(p);
    // Nodes beyond the power of two give their block to one within, and get all others from it.
    Step before, after;
    for (std::int32_t i = power; i < p; ++i) {
        before.push_back(plain(i, i - power, {i}));
        Blocks others;
        for (std::int32_t b = 0; b < p; ++b)
            if (b != i) others.push_back(b);
        after.push_back(plain(i - power, i, std::move(others)));
    }
    if (!before.empty()) result.steps.push_back(std::move(before));
    const std::size_t first = result.steps.size();
    gather_by_doubling(power, result.steps);
    for (std::size_t s = first; s < result.steps.size(); ++s)
        for (Send& send : result.steps[s]) {
            const Blocks within = send.blocks;
            for (const std::int32_t block : within)
                if (block + power < p) send.blocks.push_back(block + power);
        }
    if (!after.empty()) result.steps.push_back(std::move(after));
    return result;
}

/// [Chen05]: an even number of nodes on a ring; each exchanges with its neighbours in turn what it got last.
Steps neighbor_exchange_allgather(std::int32_t p, double bytes) {
    Steps result{"neighbor_exchange", bytes, p, {}};
    std::vector<Blocks> newest(static_cast<std::size_t>(p));
    for (std::int32_t i = 0; i < p; ++i) newest[static_cast<std::size_t>(i)] = {i};
    for (std::int32_t round = 0; round < p / 2; ++round) {
        Step& step = result.steps.emplace_back();
        std::vector<Blocks> got(newest.size());
        for (std::int32_t i = 0; i < p; ++i) {
            const std::int32_t partner = (i + (i % 2 == round % 2 ? 1 : p - 1)) % p;
            const Blocks& blocks = newest[static_cast<std::size_t>(i)];
            step.push_back(plain(i, partner, blocks));
            Blocks& there = got[static_cast<std::size_t>(partner)];
            if (round == 0) there.push_back(partner);
            there.insert(there.end(), blocks.begin(), blocks.end());
        }
        newest = std::move(got);
    }
    return result;
}

/// Nodes that meet give each other all that the other lacks.
Steps knodel_allgather(std::int32_t p, double bytes) {
    Steps result{"knodel", bytes, p, {}};
    std::vector<std::vector<char>> has(static_cast<std::size_t>(p), std::vector<char>(static_cast<std::size_t>(p), 0));
    for (std::int32_t i = 0; i < p; ++i) has[static_cast<std::size_t>(i)][static_cast<std::size_t>(i)] = 1;
    for (const auto& pairs : knodel_rounds(p)) {
        Step& step = result.steps.emplace_back();
        for (const auto& [a, b] : pairs) {
            auto &of_a = has[static_cast<std::size_t>(a)], &of_b = has[static_cast<std::size_t>(b)];
            Blocks from_a, from_b;
            for (std::int32_t block = 0; block < p; ++block) {
                char &there_a = of_a[static_cast<std::size_t>(block)], &there_b = of_b[static_cast<std::size_t>(block)];
                if (there_a > there_b) from_a.push_back(block);
                if (there_b > there_a) from_b.push_back(block);
                there_a = there_b = there_a > there_b ? there_a : there_b;
            }
            if (!from_a.empty()) step.push_back(plain(a, b, std::move(from_a)));
            if (!from_b.empty()) step.push_back(plain(b, a, std::move(from_b)));
        }
    }
    return result;
}

}  // namespace

std::vector<Steps> allgather_steps(std::int32_t p, double bytes, std::int32_t ports) {
    std::vector<Steps> all{ring_allgather(p, bytes), bruck_allgather(p, bytes), doubling_allgather(p, bytes)};
    if (p % 2 == 0) all.push_back(neighbor_exchange_allgather(p, bytes));
    if (p % 2 == 0 && power_below(p) != p) all.push_back(knodel_allgather(p, bytes));
    for (std::int32_t k = 2; k <= std::min(ports, p - 1); k += 2) all.push_back(wide_allgather(p, k, bytes));
    return all;
}

}  // namespace hocket::search
