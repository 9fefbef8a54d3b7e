// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "hocket/search/circuits/steps.hpp"

/// What the files of algorithms as steps share.
namespace hocket::search {

using Send = circuits::Draft::Send;
using Step = std::vector<Send>;
using Blocks = std::vector<std::int32_t>;

inline std::int32_t power_below(std::int32_t p) {
    return static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(p)));
}

inline Send plain(std::int32_t from, std::int32_t to, Blocks blocks, bool reduces = false) {
    return {0, 0, from, to, std::move(blocks), reduces};
}

inline Blocks range(std::int32_t begin, std::int32_t end) {
    Blocks blocks(static_cast<std::size_t>(end - begin));
    std::iota(blocks.begin(), blocks.end(), begin);
    return blocks;
}

/// Who meets whom in each round, so that what every node knows reaches all others in ceil(log2 p) rounds of pairs: an
/// even number p of nodes [Knodel, New gossips and telephones, Discrete Mathematics 13, 1975].
inline std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> knodel_rounds(std::int32_t p) {
    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> rounds;
    const std::int32_t half = p / 2,
                       dimensions =
                           std::max(1, static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(p))) - 1);
    for (std::int32_t far = 1, round = 0; far < p; far *= 2, ++round) {
        auto& pairs = rounds.emplace_back();
        const std::int32_t offset = (1 << round % dimensions) - 1;
        for (std::int32_t i = 0; i < half; ++i) pairs.emplace_back(i, half + (i + offset) % half);
    }
    return rounds;
}

/// Node i has block i, of a power of two; groups of nodes that have the same blocks double.
inline void gather_by_doubling(std::int32_t power, std::vector<Step>& steps) {
    for (std::int32_t far = 1; far < power; far *= 2) {
        Step& step = steps.emplace_back();
        for (std::int32_t i = 0; i < power; ++i)
            step.push_back(plain(i, i ^ far, range(i / far * far, i / far * far + far)));
    }
}

}  // namespace hocket::search
