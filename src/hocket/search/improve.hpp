// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

#include "hocket/search/state.hpp"
#include "hocket/search/watch.hpp"

namespace hocket::search {

struct Annealing {
    std::uint64_t seed;
    std::int64_t aim_ns;
    double hot;  ///< the temperature to begin with, as part of the aim
    std::int64_t num_steps;
};

/// Simulated annealing [Kirkpatrick83] from the best schedule so far: a transfer gets another source or another place
/// in the order, or two computers exchange their parts. What is made less is by how much transfers end after the aim,
/// all together: the end alone is the same for most changes. For trees without symmetry, where the bound shows little
/// about which way is best. Always the same from the same schedule.
void improve(const State& root, Watch&, const Annealing&);

}  // namespace hocket::search
