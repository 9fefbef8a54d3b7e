// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hocket::simulation {

/// The processors of ranks: each does one thing at a time, on one of some cores that all share, or on a core of its
/// own.
class Processors {
public:
    /// `num_cores`: that all share; 0 = each rank has its own. `wake_s`: what a rank pays that had nothing to do since
    /// its start; `start_s`: of the first ranks, that of the others is 0.
    Processors(std::size_t num_ranks, std::int32_t num_cores, double wake_s, const std::vector<double>& start_s = {})
        : rank_free_s_(start_s), core_free_s_(static_cast<std::size_t>(num_cores), 0), wake_s_(wake_s) {
        rank_free_s_.resize(num_ranks, 0);
    }

    struct Work {
        double start_s, end_s;
    };
    /// Takes the processor of `rank` for `seconds`, as soon as it is free.
    Work take(std::int32_t rank, double seconds, double now_s) {
        double& free_s = rank_free_s_[static_cast<std::size_t>(rank)];
        if (now_s > free_s) seconds += wake_s_;
        double start_s = std::max(now_s, free_s);
        if (!core_free_s_.empty()) {
            double& core_s = choose_core(start_s);
            core_s = (start_s = std::max(start_s, core_s)) + seconds;
        }
        return {start_s, free_s = start_s + seconds};
    }

private:
    /// When the core is free that work of `start_s` goes to: of those that idle then the one that idles for the
    /// shortest time, so that the others can serve work that starts earlier; if none does, the one that is free first.
    double& choose_core(double start_s) {
        double* best = &core_free_s_.front();
        for (double& core_s : core_free_s_) {
            const bool idles = core_s <= start_s, best_idles = *best <= start_s;
            if (idles == best_idles ? (idles ? core_s > *best : core_s < *best) : idles) best = &core_s;
        }
        return *best;
    }

    std::vector<double> rank_free_s_;
    std::vector<double> core_free_s_;
    double wake_s_;
};

}  // namespace hocket::simulation
