// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "hocket/search/tree.hpp"

namespace hocket::search {

/// How far a search is.
struct BroadcastProgress {
    std::int64_t makespan_ns;  ///< `never` before the first schedule
    std::int64_t lower_bound_ns;
    std::int64_t num_nodes;
    double seconds;
};

struct BroadcastOptions {
    double time_limit_s = 60;
    double gap = 0;  ///< stop when the schedule is proven within this of the optimum: (makespan - bound) / bound
    std::int64_t max_nodes = std::numeric_limits<std::int64_t>::max();
    std::int64_t memory_limit_bytes = std::int64_t{4} << 30U;  ///< of the search's tables
    std::int32_t num_threads = 1;
    std::int32_t beam_width = 16;
    /// Called about every tenth of a second, in the calling thread. False ends the search.
    std::function<bool(const BroadcastProgress&)> on_progress;
};

/// A schedule, complete even when the search was stopped, and what is proven of it.
///
/// Without delays `lower_bound_ns` holds for all broadcasts: started in the order of their starts, each as early as
/// possible, transfers end no later, one after the other. With delays a transfer that starts later can reach a link
/// earlier than another one, so the search is among those that start each transfer, in the order of their starts, as
/// early as possible from the start before; `lower_bound_any_starts_ns`, of the bounds before any branching, holds for
/// all broadcasts.
///
/// The makespan of an optimal result does not depend on the number of threads. Its transfers do not if there is but one
/// thread, or if there was nothing to branch on: num_nodes = 0.
struct BroadcastResult {
    std::vector<Transfer> transfers;  ///< in the order of their starts
    std::int64_t makespan_ns = 0;
    std::int64_t lower_bound_ns = 0;
    std::int64_t lower_bound_any_starts_ns = 0;  ///< <= lower_bound_ns
    std::int64_t num_nodes = 0;                  ///< of the search tree that were branched on
    double search_s = 0;
    bool optimal = false;  ///< makespan_ns == lower_bound_ns
    [[nodiscard]] double gap() const {
        return lower_bound_ns > 0
                   ? static_cast<double>(makespan_ns - lower_bound_ns) / static_cast<double>(lower_bound_ns)
                   : 0;
    }
};

/// The fastest broadcast from the holders, by branch and bound.
BroadcastResult fastest_broadcast(const Tree&, std::span<const std::int32_t> holders, const BroadcastOptions& = {});

/// The same by trying all, without bounds or symmetry: for small trees, to compare with.
std::int64_t fastest_broadcast_by_exhaustion(const Tree&, std::span<const std::int32_t> holders);

}  // namespace hocket::search
