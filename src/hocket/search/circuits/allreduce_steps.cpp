// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/circuits/step_parts.hpp"

namespace hocket::search {
namespace {

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

}  // namespace

std::vector<Steps> allreduce_steps(std::int32_t p, double bytes) {
    return {doubling_allreduce(p, bytes), halving_allreduce(p, bytes), ring_allreduce(p, bytes)};
}

}  // namespace hocket::search
