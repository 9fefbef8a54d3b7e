// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/search/circuits/step_parts.hpp"

namespace hocket::search {
namespace {

using Round = std::vector<std::pair<std::int32_t, std::int32_t>>;

/// Every pair meets once: the circle method, with a node that waits where n is odd. A node meets one in a round, so
/// that n - 1 rounds, or n, are the decomposition of uniform traffic into the fewest matchings (Birkhoff and von
/// Neumann).
std::vector<Round> circle(std::int32_t n) {
    const std::int32_t rounds = n % 2 == 0 ? n - 1 : n;
    std::vector<Round> result(static_cast<std::size_t>(rounds));
    for (std::int32_t round = 0; round < rounds; ++round)
        for (std::int32_t i = 0; i < rounds; ++i) {
            // Among `rounds` nodes on a circle, those whose numbers add up to `round` meet; one would meet itself.
            std::int32_t partner = (round - i + rounds) % rounds;
            if (partner == i) partner = rounds;
            if (i < partner && partner < n) result[static_cast<std::size_t>(round)].emplace_back(i, partner);
        }
    return result;
}

/// An odd number of nodes: i and i + offset meet, which takes two ports. No node waits, so that (n - 1) / k
/// configurations of an even number k of ports do, where the circle method needs n / k.
std::vector<Round> rotations(std::int32_t n) {
    std::vector<Round> result(static_cast<std::size_t>(n / 2));
    for (std::int32_t offset = 1; offset <= n / 2; ++offset)
        for (std::int32_t i = 0; i < n; ++i)
            result[static_cast<std::size_t>(offset - 1)].emplace_back(i, (i + offset) % n);
    return result;
}

/// Nodes of each pair send each other what they have for each other.
Steps direct_alltoall(std::string_view algorithm, const std::vector<Round>& rounds, std::int32_t p, double bytes) {
    Steps result{algorithm, bytes, p * p, {}};
    for (const Round& round : rounds) {
        Step& step = result.steps.emplace_back();
        for (const auto& [a, b] : round) {
            step.push_back(plain(a, b, {a * p + b}));
            step.push_back(plain(b, a, {b * p + a}));
        }
    }
    return result;
}

/// Nodes are the points of a grid. Those that differ in one coordinate meet, one coordinate after another, so that a
/// block goes as many hops as coordinates differ.
Steps grid_alltoall(const std::vector<std::int32_t>& sizes, std::int32_t ports, double bytes) {
    std::int32_t p = 1;
    for (const std::int32_t size : sizes) p *= size;
    Steps result{"grid", bytes, p * p, {}};
    std::int32_t stride = 1;
    for (const std::int32_t size : sizes) {
        const auto coordinate = [&](std::int32_t node) { return node / stride % size; };
        std::vector<Blocks> blocks(static_cast<std::size_t>(p) *
                                   static_cast<std::size_t>(size));  // of a node, for each
        const auto of = [&](std::int32_t node, std::int32_t to) -> Blocks& {
            return blocks[static_cast<std::size_t>(node) * static_cast<std::size_t>(size) +
                          static_cast<std::size_t>(to)];
        };
        for (std::int32_t source = 0; source < p; ++source)
            for (std::int32_t to = 0; to < p; ++to)  // the lower coordinates are right
                of(to % stride + source / stride * stride, coordinate(to)).push_back(source * p + to);
        for (const Round& round : size % 2 == 1 && ports > 1 ? rotations(size) : circle(size)) {
            Step& step = result.steps.emplace_back();
            for (const auto& [a, b] : round)
                for (std::int32_t node = 0; node < p; ++node) {
                    if (coordinate(node) != a) continue;
                    const std::int32_t other = node + (b - a) * stride;
                    step.push_back(plain(node, other, std::move(of(node, b))));
                    step.push_back(plain(other, node, std::move(of(other, a))));
                }
        }
        stride *= size;
    }
    return result;
}

/// Blocks travel along the digits of the difference, which lie between -sides and sides [Bruck97]: 2 sides ports.
Steps wide_alltoall(std::int32_t p, std::int32_t sides, double bytes) {
    Steps result{"bruck on both sides", bytes, p * p, {}};
    const std::int32_t base = 2 * sides + 1;
    std::vector<std::int32_t> left(static_cast<std::size_t>(p)), gone(static_cast<std::size_t>(p), 0);
    for (std::int32_t difference = 0; difference < p; ++difference)  // the way that is nearer
        left[static_cast<std::size_t>(difference)] = difference <= p / 2 ? difference : difference - p;
    for (std::int32_t far = 1; std::ranges::any_of(left, [](std::int32_t rest) { return rest != 0; }); far *= base) {
        Step& step = result.steps.emplace_back();
        std::vector<std::int32_t> digits(left.size());
        for (std::size_t difference = 0; difference < left.size(); ++difference) {
            const std::int32_t digit = ((left[difference] + sides) % base + base) % base - sides;
            digits[difference] = digit;
            left[difference] = (left[difference] - digit) / base;
        }
        for (std::int32_t i = 0; i < p; ++i)
            for (std::int32_t digit = -sides; digit <= sides; ++digit) {
                if (digit == 0) continue;
                Send send = plain(i, ((i + digit * far) % p + p) % p, {});
                for (std::int32_t difference = 1; difference < p; ++difference) {
                    if (digits[static_cast<std::size_t>(difference)] != digit) continue;
                    const std::int32_t source = ((i - gone[static_cast<std::size_t>(difference)]) % p + p) % p;
                    send.blocks.push_back(source * p + (source + difference) % p);
                }
                if (!send.blocks.empty()) step.push_back(std::move(send));
            }
        for (std::size_t difference = 0; difference < left.size(); ++difference)
            gone[difference] += digits[difference] * far;
    }
    return result;
}

/// Numbers of which p is the product, each at least 2, falling: all ways.
void factor(std::int32_t p, std::int32_t most, std::vector<std::int32_t>& sizes,
            std::vector<std::vector<std::int32_t>>& all) {
    if (p == 1) {
        if (sizes.size() > 1) all.push_back(sizes);
        return;
    }
    for (std::int32_t size = std::min(p, most); size >= 2; --size) {
        if (p % size != 0) continue;
        sizes.push_back(size);
        factor(p / size, size, sizes, all);
        sizes.pop_back();
    }
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

/// A block waits at a node as long as it can reach its destination from there in the rounds that are left.
Steps knodel_alltoall(std::int32_t p, double bytes) {
    Steps result{"knodel", bytes, p * p, {}};
    const auto rounds = knodel_rounds(p);
    // [round][node * p + destination]: whether a block at the node before this round gets there.
    const auto at = [p](std::int32_t node, std::int32_t to) { return static_cast<std::size_t>(node * p + to); };
    std::vector<std::vector<char>> arrives(rounds.size() + 1, std::vector<char>(at(p, 0), 0));
    for (std::int32_t i = 0; i < p; ++i) arrives.back()[at(i, i)] = 1;
    for (std::size_t round = rounds.size(); round-- > 0;) {
        arrives[round] = arrives[round + 1];
        for (const auto& [a, b] : rounds[round])
            for (std::int32_t to = 0; to < p; ++to)
                if (arrives[round + 1][at(a, to)] != 0 || arrives[round + 1][at(b, to)] != 0)
                    arrives[round][at(a, to)] = arrives[round][at(b, to)] = 1;
    }
    std::vector<Blocks> held(static_cast<std::size_t>(p));
    for (std::int32_t block = 0; block < p * p; ++block) held[static_cast<std::size_t>(block / p)].push_back(block);
    for (std::size_t round = 0; round < rounds.size(); ++round) {
        Step& step = result.steps.emplace_back();
        for (const auto& [a, b] : rounds[round]) {
            std::vector<Blocks> gives;
            for (const std::int32_t node : {a, b}) {
                Blocks& own = held[static_cast<std::size_t>(node)];
                const auto leaves = std::stable_partition(own.begin(), own.end(), [&](std::int32_t block) {
                    return arrives[round + 1][at(node, block % p)] != 0;
                });
                gives.emplace_back(leaves, own.end());
                own.erase(leaves, own.end());
            }
            for (const std::size_t end : {0U, 1U}) {
                const std::int32_t from = end == 0 ? a : b, to = end == 0 ? b : a;
                if (gives[end].empty()) continue;
                Blocks& there = held[static_cast<std::size_t>(to)];
                there.insert(there.end(), gives[end].begin(), gives[end].end());
                step.push_back(plain(from, to, std::move(gives[end])));
            }
        }
    }
    return result;
}

}  // namespace

std::vector<Steps> alltoall_steps(std::int32_t p, double bytes, std::int32_t ports) {
    std::vector<Steps> all{direct_alltoall("pairwise", circle(p), p, bytes), bruck_alltoall(p, bytes),
                           hypercube_alltoall(p, bytes)};
    if (p % 2 == 1) all.push_back(direct_alltoall("rotations", rotations(p), p, bytes));
    if (p % 2 == 0 && power_below(p) != p) all.push_back(knodel_alltoall(p, bytes));
    std::vector<std::int32_t> sizes;
    std::vector<std::vector<std::int32_t>> grids;
    factor(p, p, sizes, grids);
    for (const auto& grid : grids) all.push_back(grid_alltoall(grid, ports, bytes));
    for (std::int32_t sides = 1; 2 * sides <= ports && 2 * sides < p - 1; ++sides)
        all.push_back(wide_alltoall(p, sides, bytes));
    return all;
}

}  // namespace hocket::search
