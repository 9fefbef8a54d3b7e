// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>

#include "bench/items/pattern.hpp"

namespace hocket::bench {

/// together: all begin at once. one-late: the last rank comes `late_us` after the others. in-turn: the ranks come one
/// after the other within this time. random: within this time, each in a place of its own that does not change.
inline constexpr std::array<Option, 2> arrival_options{
    {{"arrival", "together|one-late|in-turn|random", "together"}, {"late_us", "", "100"}}};

/// By these options.
Arrival arrival_of(const Setting& setting);

}  // namespace hocket::bench
