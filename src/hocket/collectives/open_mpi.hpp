// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string_view>

#include "hocket/schedule/schedule.hpp"

namespace hocket::collectives {

/// The algorithm that Open MPI's component coll/tuned takes for operators that commute, where the user has not chosen
/// one; empty where it is none of collectives::all_algorithms(). `bytes` as for textbook_algorithm().
///
/// `mpi`, such as "Open MPI 4.1.4": empty for all but 4.1 and 5.0, which have the same choices. coll/tuned serves what
/// no other component does: in 5.0 coll/han comes first where several nodes have several ranks each, and hcoll and ucc
/// do where they are installed.
std::string_view open_mpi_algorithm(std::string_view mpi, Collective, std::int32_t num_ranks, std::int64_t bytes);

}  // namespace hocket::collectives
