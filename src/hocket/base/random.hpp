// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

namespace hocket::base {

/// SplitMix64 [Steele14]: the same numbers from the same seed on every machine, which the standard distributions do not
/// promise. Whoever chooses the seed prints it.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    /// 0 .. n-1, n > 0. The bias of the remainder is below n / 2^64.
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); }
    /// [0, 1)
    double uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }

private:
    std::uint64_t state_;
};

}  // namespace hocket::base
