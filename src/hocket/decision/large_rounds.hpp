// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/cost/rounds.hpp"

namespace hocket::decision {

/// The rounds of an algorithm that sends messages between most pairs of ranks, or that lists that many blocks, without
/// its ops. Where each rank sends to another at a distance, and every distance occurs, at most `most_distances` of them
/// stand for all. None for other algorithms, and for those of a power of two of ranks alone.
std::optional<cost::Rounds> large_rounds(const collectives::Algorithm&, std::int32_t num_ranks);

inline constexpr std::int32_t most_distances = 32;

}  // namespace hocket::decision
