// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <vector>

#include "bench/items/pattern.hpp"

namespace hocket::bench {

/// Whom a rank sends to and who sends to it.
struct Partners {
    std::vector<int> targets, origins;
};

/// one-way: rank 0 to rank 1. both-ways: these two to each other. shift: each rank to the next one. exchange: each rank
/// to all others. grid: each rank to those next to it on a torus of two dimensions.
inline constexpr Option partners_option{"partners", "one-way|both-ways|shift|exchange|grid", "one-way"};
/// Of each rank to each of its targets, in one run.
inline constexpr Option operations_option{"operations", "", "1"};

/// The distinct ranks next to `rank`. ring: before and behind it; grid: on a torus of two dimensions; all: all others.
std::vector<int> neighbors_of(const std::string& kind, int rank, int ranks);

/// By the option `partners`.
Partners partners_of(const Setting& setting);

}  // namespace hocket::bench
