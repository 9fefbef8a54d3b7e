// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>
#include <bit>
#include <utility>

#include "hocket/search/circuits/step_parts.hpp"

namespace hocket::search {
namespace {

Steps linear_bcast(std::int32_t p, double bytes) {
    Steps result{"linear", bytes, 1, {}};
    for (std::int32_t to = 1; to < p; ++to) result.steps.push_back({plain(0, to, {0})});
    return result;
}

Steps binomial_bcast(std::int32_t p, double bytes) {
    Steps result{"binomial", bytes, 1, {}};
    for (std::int32_t have = 1; have < p; have *= 2) {
        Step& step = result.steps.emplace_back();
        for (std::int32_t node = 0; node < std::min(have, p - have); ++node)
            step.push_back(plain(node, node + have, {0}));
    }
    return result;
}

/// [Barnett94]: each node gets a part along a binomial tree, then an allgather. No node gets a block twice.
Steps scatter_allgather(const Steps& allgather, std::int32_t p) {
    Steps result{"scatter and allgather", allgather.block_bytes, p, {}};
    std::vector<std::vector<char>> has(static_cast<std::size_t>(p), std::vector<char>(static_cast<std::size_t>(p), 0));
    has[0].assign(static_cast<std::size_t>(p), 1);
    const auto add = [&](Step& step, const Send& send) {
        auto& there = has[static_cast<std::size_t>(send.to)];
        Blocks fresh;
        for (const std::int32_t block : send.blocks)
            if (!std::exchange(there[static_cast<std::size_t>(block)], 1)) fresh.push_back(block);
        if (!fresh.empty()) step.push_back(plain(send.from, send.to, std::move(fresh)));
    };
    for (auto far = static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint32_t>(p)) / 2); far >= 1; far /= 2) {
        Step& step = result.steps.emplace_back();
        for (std::int32_t node = 0; node + far < p; node += 2 * far)
            add(step, plain(node, node + far, range(node + far, std::min(p, node + 2 * far))));
    }
    for (const Step& gathers : allgather.steps) {
        Step& step = result.steps.emplace_back();
        for (const Send& send : gathers) add(step, send);
    }
    std::erase_if(result.steps, [](const Step& step) { return step.empty(); });
    return result;
}

}  // namespace

std::vector<Steps> divided_bcast_steps(std::int32_t p, double bytes, std::int32_t ports) {
    std::vector<Steps> all;
    for (const Steps& allgather : allgather_steps(p, bytes / p, ports)) all.push_back(scatter_allgather(allgather, p));
    return all;
}

std::vector<Steps> bcast_steps(std::int32_t p, double bytes) {
    return {linear_bcast(p, bytes), binomial_bcast(p, bytes)};
}

}  // namespace hocket::search
