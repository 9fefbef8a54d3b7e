// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <string>

#include "bench/runner/plan.hpp"

namespace hocket::bench {

/// Whether this rank can write what the plan's files need into `folder`. @throws InvalidInput
void check_room(const Plan& plan, const std::string& folder, int rank);

/// Whether the launcher started more processes than MPI_COMM_WORLD has: each would measure alone, and all would write
/// to one file. @throws InvalidInput
void check_launch(int ranks);

}  // namespace hocket::bench
