// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>

#include "hocket/collectives/algorithm.hpp"
#include "hocket/cost/rounds.hpp"

namespace hocket::decision {

/// The rounds of an algorithm that sends messages between most pairs of ranks, or that lists that many blocks, without
/// its ops. They are those of its ops up to `most_exact` ranks, but for scatter_allgather, whose ring is counted as if
/// all ranks kept step. Of more ranks, where each sends to another at a distance, and every distance occurs,
/// `most_distances` of them stand for all. None for other algorithms.
std::optional<cost::Rounds> large_rounds(const collectives::Algorithm&, std::int32_t num_ranks);

inline constexpr std::int32_t most_exact = 256, most_distances = 32;

}  // namespace hocket::decision
