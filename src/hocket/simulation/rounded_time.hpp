// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <bit>
#include <cstdint>

namespace hocket::simulation {

/// To 48 significant bits, relative 2e-15: most flows that end together by the rules of arithmetic do so here, and are one
/// event. Monotonic.
inline double rounded_time(double time_s) {
    constexpr std::uint64_t half = 1U << 4U, kept = ~std::uint64_t{(1U << 5U) - 1};
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(time_s) + half) & kept);
}

}  // namespace hocket::simulation
