// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string_view>

#include "hocket/schedule/schedule.hpp"

namespace hocket::collectives {

/// The algorithm that an MPI library is assumed to use for a collective when nothing better is known: the choice by
/// size and number of ranks of MPICH [Thakur05, section 3]. Real libraries differ, so a prediction made with it is a
/// model of "native" and must be labelled as such. `bytes` as in lower(): the message of bcast, reduce, allreduce, else
/// the block of one rank.
std::string_view textbook_algorithm(Collective, std::int32_t num_ranks, std::int64_t bytes);

}  // namespace hocket::collectives
