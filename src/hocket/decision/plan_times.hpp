// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <string_view>
#include <vector>

#include "hocket/cost/cost_model.hpp"
#include "hocket/network/network.hpp"
#include "hocket/plan/plan.hpp"

namespace hocket::decision {

/// What the measurements of a plan say of this MPI's own collectives on other hosts too: native times beside the
/// predictions for the hosts of the plan. None where the network lacks one of these.
std::vector<network::NativeTimes> times_of(const Plan&, const Network& cluster, const CostModel&, std::string_view mpi);

}  // namespace hocket::decision
