// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/trace/rank_file.hpp"

namespace hocket::trace {

/// Some 18 years: sums and differences of a few times cannot overflow.
constexpr std::int64_t kMostNs = INT64_MAX / 16;

/// CPU time in and between the polls of a fold.
struct CpuOfFold {
    std::size_t call;  ///< its row
    std::int64_t cpu_ns;
};

/// Fills the instants at which the CPU clock was not read (-1): since the last reading the thread counts as running,
/// but never beyond the next reading in the same part of the file. A later part goes on from there, never backwards.
class CpuTimes {
public:
    /// The calls of the next part. `folds`: in the order of their rows.
    void fill(std::span<Call>, const std::vector<CpuOfFold>& folds);

private:
    struct Thread {
        bool is_read = false;
        std::int64_t wall_ns = 0;  ///< of the last reading
        std::int64_t cpu_ns = 0;
        std::int64_t least_ns = 0;         ///< what the parts before came to
        std::int64_t next_ns = INT64_MAX;  ///< in the part at hand
    };
    Thread& of(const Call&);
    std::vector<Thread> threads_;
};

}  // namespace hocket::trace
