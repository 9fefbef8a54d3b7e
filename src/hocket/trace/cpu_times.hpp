// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
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
/// but never beyond the next reading. `folds`: in the order of their rows.
void fill_cpu_times(std::vector<Call>&, const std::vector<CpuOfFold>& folds);

}  // namespace hocket::trace
