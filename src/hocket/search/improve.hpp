// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

#include "hocket/search/state.hpp"
#include "hocket/search/watch.hpp"

namespace hocket::search {

/// Simulated annealing [Kirkpatrick83] from the watch's best schedule: a transfer gets another source, or another place in
/// the order of starts. For trees without symmetry, where the bound says little about which way is best. Always the same
/// from the same schedule.
void improve(const State& root, Watch&);

}  // namespace hocket::search
