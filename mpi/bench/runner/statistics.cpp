// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/runner/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hocket::bench {

namespace {

constexpr std::size_t usual_blocks = 10, least_launches = 6;
constexpr double confidence = 0.95, of_launches = 0.99;  // see python/hocket/bench/mpi/statistics.py

std::vector<double> block_medians(const ChunkMedians& launches) {
    const std::size_t of_each =
        launches.size() >= least_launches ? 1 : (usual_blocks + launches.size() - 1) / launches.size();
    std::vector<double> medians;
    for (const auto& chunks : launches) {
        const std::size_t blocks = std::min(of_each, chunks.size());
        for (std::size_t i = 0; i < blocks; ++i) {
            const auto begin = static_cast<std::ptrdiff_t>(i * chunks.size() / blocks);
            const auto end = static_cast<std::ptrdiff_t>((i + 1) * chunks.size() / blocks);
            medians.push_back(median({chunks.begin() + begin, chunks.begin() + end}));
        }
    }
    std::sort(medians.begin(), medians.end());
    return medians;
}

}  // namespace

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

std::optional<std::pair<double, double>> interval(const ChunkMedians& launches) {
    if (launches.empty()) return std::nullopt;
    const auto medians = block_medians(launches);
    // The k-th and the k-th last of n enclose the median but with probability 2 P(Binomial(n, 1/2) < k).
    const std::size_t n = medians.size();
    const auto coins = [n](std::size_t heads) {
        const auto all = static_cast<double>(n), some = static_cast<double>(heads);
        return std::exp(std::lgamma(all + 1) - std::lgamma(some + 1) - std::lgamma(all - some + 1) -
                        all * std::numbers::ln2);
    };
    double outside = 0;
    std::size_t k = 0;
    const auto needed = [&] { return k > 0 && launches.size() >= least_launches ? of_launches : confidence; };
    while (k < n / 2 && (outside += 2 * coins(k)) <= 1 - needed()) ++k;
    if (k == 0) return std::nullopt;
    if (launches.size() > 1 && launches.size() < least_launches) k = 1;
    return std::pair(medians[k - 1], medians[n - k]);
}

}  // namespace hocket::bench
