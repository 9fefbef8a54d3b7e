// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hocket/search/tree.hpp"

namespace hocket::search {

struct BroadcastOptions {
    double time_limit_s = 60;
    double gap = 0;  ///< stop when the schedule is proven within this of the optimum: (makespan - bound) / bound
    std::int64_t max_nodes = std::numeric_limits<std::int64_t>::max();
    std::int32_t beam_width = 16;
};

struct BroadcastResult {
    std::vector<Transfer> transfers;  ///< in the order of their starts
    std::int64_t makespan_ns = 0;
    std::int64_t lower_bound_ns = 0;
    std::int64_t num_nodes = 0;  ///< of the search tree
    double search_s = 0;
    bool optimal = false;  ///< among broadcasts that start each transfer, in the order of starts, as early as possible
};

/// The fastest broadcast from the holders, by branch and bound.
BroadcastResult fastest_broadcast(const Tree&, std::span<const std::int32_t> holders, const BroadcastOptions& = {});

/// The same by trying all, without bounds or symmetry: for small trees, to compare with.
std::int64_t fastest_broadcast_by_exhaustion(const Tree&, std::span<const std::int32_t> holders);

}  // namespace hocket::search
