// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/circuits/step_parts.hpp"

namespace hocket::search {
namespace {

/// Every pair meets once: the circle method, with a node that waits where p is odd.
Steps pairwise_alltoall(std::int32_t p, double bytes) {
    Steps result{"pairwise", bytes, p * p, {}};
    const std::int32_t rounds = p % 2 == 0 ? p - 1 : p;
    for (std::int32_t round = 0; round < rounds; ++round) {
        Step& step = result.steps.emplace_back();
        for (std::int32_t i = 0; i < p; ++i) {
            // Among `rounds` nodes on a circle, those whose numbers add up to `round` meet; one would meet itself.
            std::int32_t partner;
            if (i == rounds) {
                partner = 0;
                while (2 * partner % rounds != round) ++partner;
            } else {
                partner = (round - i + rounds) % rounds;
                if (partner == i) partner = rounds;
            }
            if (partner < p && partner != i) step.push_back(plain(i, partner, {i * p + partner}));
        }
    }
    return result;
}

/// Blocks travel along the bits of the difference modulo p [Bruck97].
Steps bruck_alltoall(std::int32_t p, double bytes) {
    Steps result{"bruck", bytes, p * p, {}};
    for (std::int32_t far = 1; far < p; far *= 2) {
        Step& step = result.steps.emplace_back();
        for (std::int32_t i = 0; i < p; ++i) step.push_back(plain(i, (i + far) % p, {}));
        for (std::int32_t source = 0; source < p; ++source)
            for (std::int32_t difference = 1; difference < p; ++difference) {
                if (!(difference & far)) continue;
                const std::int32_t at = (source + (difference & (far - 1))) % p;
                step[static_cast<std::size_t>(at)].blocks.push_back(source * p + (source + difference) % p);
            }
    }
    return result;
}

/// Blocks travel along the dimensions of a hypercube. Nodes beyond the power of two give theirs to one within, and get
/// from it what is for them.
Steps hypercube_alltoall(std::int32_t p, double bytes) {
    Steps result{"hypercube", bytes, p * p, {}};
    const std::int32_t power = power_below(p);
    const auto within = [power](std::int32_t i) { return i < power ? i : i - power; };
    Step before, after;
    for (std::int32_t i = power; i < p; ++i) {
        Blocks from, to;
        for (std::int32_t other = 0; other < p; ++other) {
            if (other == i) continue;
            from.push_back(i * p + other);
            to.push_back(other * p + i);
        }
        before.push_back(plain(i, i - power, std::move(from)));
        after.push_back(plain(i - power, i, std::move(to)));
    }
    if (!before.empty()) result.steps.push_back(std::move(before));
    for (std::int32_t far = 1; far < power; far *= 2) {
        Step& step = result.steps.emplace_back();
        for (std::int32_t i = 0; i < power; ++i) step.push_back(plain(i, i ^ far, {}));
        for (std::int32_t source = 0; source < p; ++source)
            for (std::int32_t to = 0; to < p; ++to) {
                const std::int32_t difference = within(source) ^ within(to);
                if (!(difference & far)) continue;
                const std::int32_t at = within(source) ^ (difference & (far - 1));
                step[static_cast<std::size_t>(at)].blocks.push_back(source * p + to);
            }
    }
    if (!after.empty()) result.steps.push_back(std::move(after));
    return result;
}

}  // namespace

std::vector<Steps> alltoall_steps(std::int32_t p, double bytes) {
    return {pairwise_alltoall(p, bytes), bruck_alltoall(p, bytes), hypercube_alltoall(p, bytes)};
}

}  // namespace hocket::search
