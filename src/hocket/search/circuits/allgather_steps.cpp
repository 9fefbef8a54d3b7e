// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>

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

}  // namespace

std::vector<Steps> allgather_steps(std::int32_t p, double bytes) {
    std::vector<Steps> all{ring_allgather(p, bytes), bruck_allgather(p, bytes), doubling_allgather(p, bytes)};
    if (p % 2 == 0) all.push_back(neighbor_exchange_allgather(p, bytes));
    return all;
}

}  // namespace hocket::search
