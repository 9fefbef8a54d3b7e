// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include "hocket/simulation/simulate.hpp"

namespace hocket::simulation {

/// @throws InvalidInput  if an option is out of range or the network has too few ranks.
void check(const Program&, const Network&, const SimulationOptions&);

}  // namespace hocket::simulation
