// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/circuits/steps.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <utility>

namespace hocket::search {
namespace {

using Send = circuits::Draft::Send;
using Step = std::vector<Send>;
using Blocks = std::vector<std::int32_t>;

std::int32_t power_below(std::int32_t p) {
    return static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(p)));
}

/// The circuits of a configuration that grows by steps.
class Circuits {
public:
    Circuits(std::int32_t num_nodes, std::int32_t ports)
        : used_(static_cast<std::size_t>(num_nodes), 0), ports_(ports) {}

    bool add(const Send& send) {
        const std::pair ends{std::min(send.from, send.to), std::max(send.from, send.to)};
        if (circuits_.contains(ends)) return true;
        auto& a = used_[static_cast<std::size_t>(ends.first)];
        auto& b = used_[static_cast<std::size_t>(ends.second)];
        if (a == ports_ || b == ports_) return false;
        ++a;
        ++b;
        circuits_.insert(ends);
        return true;
    }
    bool add(const Step& step) {
        const Circuits before = *this;
        for (const Send& send : step)
            if (!add(send)) {
                *this = before;
                return false;
            }
        return true;
    }

private:
    std::set<std::pair<std::int32_t, std::int32_t>> circuits_;
    std::vector<std::int32_t> used_;
    std::int32_t ports_;
};

/// Parts of a step that each fit in a configuration: first fit.
std::vector<Step> split(const Step& step, std::int32_t num_nodes, std::int32_t ports) {
    std::vector<Step> parts;
    std::vector<Circuits> circuits;
    for (const Send& send : step) {
        std::size_t i = 0;
        while (i < parts.size() && !circuits[i].add(send)) ++i;
        if (i == parts.size()) {
            parts.emplace_back();
            circuits.emplace_back(num_nodes, ports);
            circuits.back().add(send);
        }
        parts[i].push_back(send);
    }
    return parts;
}

Send plain(std::int32_t from, std::int32_t to, Blocks blocks, bool reduces = false) {
    return {0, 0, from, to, std::move(blocks), reduces};
}

Blocks range(std::int32_t begin, std::int32_t end) {
    Blocks blocks(static_cast<std::size_t>(end - begin));
    std::iota(blocks.begin(), blocks.end(), begin);
    return blocks;
}

Steps ring_allgather(std::int32_t p, double bytes) {
    Steps result{"ring", bytes, p, {}};
    for (std::int32_t round = 0; round < p - 1; ++round) {
        Step& step = result.steps.emplace_back();
        for (std::int32_t i = 0; i < p; ++i) step.push_back(plain(i, (i + 1) % p, {(i - round + p) % p}));
    }
    return result;
}

/// Node i has block i, of a power of two; groups of nodes that have the same blocks double.
void gather_by_doubling(std::int32_t power, std::vector<Step>& steps) {
    for (std::int32_t far = 1; far < power; far *= 2) {
        Step& step = steps.emplace_back();
        for (std::int32_t i = 0; i < power; ++i)
            step.push_back(plain(i, i ^ far, range(i / far * far, i / far * far + far)));
    }
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

/// Ranks beyond the power of two give their vector to one within, and get the result from it.
template <typename Within>
void folded(std::int32_t p, const Blocks& all, std::vector<Step>& steps, Within within) {
    const std::int32_t power = power_below(p);
    Step before, after;
    for (std::int32_t i = power; i < p; ++i) {
        before.push_back(plain(i, i - power, all, true));
        after.push_back(plain(i - power, i, all));
    }
    if (!before.empty()) steps.push_back(std::move(before));
    within(power);
    if (!after.empty()) steps.push_back(std::move(after));
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

Steps doubling_allreduce(std::int32_t p, double bytes) {
    Steps result{"recursive_doubling", bytes, 1, {}};
    folded(p, {0}, result.steps, [&](std::int32_t power) {
        for (std::int32_t far = 1; far < power; far *= 2) {
            Step& step = result.steps.emplace_back();
            for (std::int32_t i = 0; i < power; ++i) step.push_back(plain(i, i ^ far, {0}, true));
        }
    });
    return result;
}

/// [Rabenseifner]: halves are exchanged and combined, then gathered over the same circuits backwards.
Steps halving_allreduce(std::int32_t p, double bytes) {
    const std::int32_t power = power_below(p);
    Steps result{"rabenseifner", bytes / power, power, {}};
    folded(p, range(0, power), result.steps, [&](std::int32_t) {
        for (std::int32_t far = power / 2; far >= 1; far /= 2) {
            Step& step = result.steps.emplace_back();
            for (std::int32_t i = 0; i < power; ++i) {
                const std::int32_t first = (i ^ far) / far * far;
                step.push_back(plain(i, i ^ far, range(first, first + far), true));
            }
        }
        gather_by_doubling(power, result.steps);
    });
    return result;
}

Steps ring_allreduce(std::int32_t p, double bytes) {
    Steps result{"ring", bytes / p, p, {}};
    for (std::int32_t round = 0; round < 2 * (p - 1); ++round) {
        Step& step = result.steps.emplace_back();
        for (std::int32_t i = 0; i < p; ++i)
            step.push_back(plain(i, (i + 1) % p, {(i - round + 2 * p) % p}, round < p - 1));
    }
    return result;
}

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

circuits::Draft by_configurations(const Steps& algorithm, std::int32_t num_nodes, std::int32_t ports) {
    circuits::Draft draft{algorithm.block_bytes, false, {}};
    Circuits circuits(num_nodes, ports);
    std::int32_t configuration = 0, number = 0;
    for (const Step& whole : algorithm.steps) {
        std::vector<Step> parts{whole};
        if (!Circuits(num_nodes, ports).add(whole)) parts = split(whole, num_nodes, ports);
        // Parts of a step do not wait for each other.
        for (const Step& step : parts) {
            if (!circuits.add(step)) {
                circuits = Circuits(num_nodes, ports);
                circuits.add(step);
                ++configuration;
            }
            for (Send send : step) {
                send.configuration = configuration;
                send.step = number;
                draft.messages.push_back(std::move(send));
            }
        }
        ++number;
    }
    return draft;
}

std::vector<Steps> allgather_steps(std::int32_t p, double bytes) {
    std::vector<Steps> all{ring_allgather(p, bytes), bruck_allgather(p, bytes), doubling_allgather(p, bytes)};
    if (p % 2 == 0) all.push_back(neighbor_exchange_allgather(p, bytes));
    return all;
}

std::vector<Steps> allreduce_steps(std::int32_t p, double bytes) {
    return {doubling_allreduce(p, bytes), halving_allreduce(p, bytes), ring_allreduce(p, bytes)};
}

std::vector<Steps> alltoall_steps(std::int32_t p, double bytes) {
    return {pairwise_alltoall(p, bytes), bruck_alltoall(p, bytes), hypercube_alltoall(p, bytes)};
}

}  // namespace hocket::search
