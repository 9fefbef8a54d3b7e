// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/base/random.hpp"
#include "hocket/program/program.hpp"

namespace hocket {

/// By what a computation takes longer or shorter; x is the spread.
enum class NoiseKind : std::uint8_t {
    normal,       ///< times 1 + x N(0, 1), but at least 0
    lognormal,    ///< times exp(x N(0, 1) - x^2 / 2), whose mean is 1
    exponential,  ///< times 1 + x E, E exponential of mean 1: interruptions, which only delay
    uniform,      ///< times 1 + x U, U uniform in [-1, 1]
};

struct Noise {
    NoiseKind kind;
    double spread;
    std::uint64_t seed;
};

struct Delay {
    Rank rank;
    double seconds;
    double at_s = 0;  ///< what the rank has computed before, without noise
};

/// Changes of what the ranks of a program compute. Messages and reductions stay as they are.
struct WhatIf {
    double cpu_scale = 1;                         ///< computations take so many times as long
    std::map<std::int32_t, double> cpu_scale_of;  ///< of a rank, in place of it
    std::vector<Delay> delays;                    ///< beside, not scaled
    std::vector<Noise> noise;                     ///< none or one: each computation has its own random number
};

/// Changes computations as they come, those of each rank in their order: first scaled, then delayed, then with noise.
class ComputationChanges {
public:
    /// @throws InvalidInput  if a number is negative or not finite, a rank is not there, or a uniform spread exceeds 1.
    ComputationChanges(const WhatIf&, std::int32_t num_ranks);
    /// How long the next computation of a rank takes, in s.
    /// @throws InvalidInput  if that is more than 10^15 s.
    double changed(Rank, double seconds);
    /// Behind the last computation of a rank.
    /// @throws InvalidInput  if a delay comes after all that the rank computes.
    void finish(Rank) const;

private:
    struct RankChanges {
        double scale = 1;
        double computed_s = 0;             ///< without delays and noise
        std::vector<Delay> delays;         ///< that are to come
        std::vector<base::Random> random;  ///< none or one
    };
    std::vector<RankChanges> ranks_;
    std::vector<Noise> noise_;
};

/// The program changed.
/// @throws InvalidInput  as ComputationChanges.
Program changed(Program, const WhatIf&);

/// "normal:0.1".
/// @throws InvalidInput
Noise noise_from(std::string_view text, std::uint64_t seed);

}  // namespace hocket
