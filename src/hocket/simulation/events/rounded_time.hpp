// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <bit>
#include <cstdint>

namespace hocket::simulation {

/// To 48 significant bits, relative 2e-15: most flows that end together by the rules of arithmetic do so here, and are
/// one event. Monotonic.
inline double rounded_time(double time_s) {
    constexpr std::uint64_t half = 1U << 4U, kept = ~std::uint64_t{(1U << 5U) - 1};
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(time_s) + half) & kept);
}

/// What ends up to this time is taken to end at `time_s` with it. Flows of one size that meet again and again end
/// together by the rules of arithmetic, thousands of times, and each end is a sum that rounding has passed: 1e-15 of
/// the time at first, more the longer the history. Taken apart, they would change rates in turn, and who comes first
/// then decides what follows. 7e-12 is far above what rounding does and far below what anybody asks for.
inline double end_of_instant(double time_s) { return time_s * (1 + 0x1p-37); }

}  // namespace hocket::simulation
