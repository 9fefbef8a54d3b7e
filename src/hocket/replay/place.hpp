// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/program/program.hpp"

namespace hocket::replay {

/// Programs side by side: rank i of programs[j] becomes rank members[j][i] of `num_ranks`; the other ranks do nothing.
/// @throws InvalidInput  if the members of a program are not distinct ranks below num_ranks, one for each of its ranks,
///         or programs share one.
Program place_all(std::span<const Program* const> programs, std::span<const std::vector<Rank>> members,
                  std::int32_t num_ranks);

/// The program with its rank i moved to rank `members[i]` of `num_ranks`; the other ranks do nothing.
/// @throws InvalidInput  if members are not distinct ranks below num_ranks, one for each rank of the program.
Program place(const Program&, std::span<const Rank> members, std::int32_t num_ranks);

}  // namespace hocket::replay
