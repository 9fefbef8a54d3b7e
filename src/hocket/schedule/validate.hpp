// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <string>
#include <vector>

#include "hocket/schedule/schedule.hpp"

namespace hocket {

struct Validation {
    std::vector<std::string> violations;  ///< empty = the schedule is right
    /// Every reduced value is combined in rank order 0 .. p-1, so that the schedule serves non-commutative operators.
    bool preserves_order = false;

    [[nodiscard]] bool ok() const { return violations.empty(); }
};

/// Executes the schedule symbolically from the pre- to the postcondition of its collective, with sends that complete
/// only when received (so that it cannot deadlock on any MPI). Finds wrong or missing data, contributions added twice
/// or not at all, unmatched messages, messages whose chunks differ at both ends, deadlocks, and races: two operations
/// of a rank on the same chunk, one of them writing, that no chain of dependencies of that rank orders. All ranks of an
/// allreduce must combine in the same tree (up to exchanged operands), because MPI demands identical results on all of
/// them. At most 20 violations are listed. Time and memory grow with the ops and chunks moved, times p/64 for
/// reductions.
Validation validate(const Schedule&);

}  // namespace hocket
