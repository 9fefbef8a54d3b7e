// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <string>

#include "bench/runner/plan.hpp"

namespace hocket::bench {

/// Whether this rank can write what the plan's files need into `folder`. @throws InvalidInput
void check_room(const Plan& plan, const std::string& folder, int rank);

}  // namespace hocket::bench
