// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <memory>
#include <vector>

#include "hocket/cost/cost_model.hpp"
#include "hocket/network/network.hpp"
#include "hocket/simulation/reference/sharing.hpp"
#include "hocket/simulation/sharing/sharing_model.hpp"

namespace hocket::simulation {

/// The bandwidth of each shared capacity of the network, by Link::capacity.
std::vector<double> capacities_of(const Network&, double share = 1);
bool has_latencies(const Network&);

/// `reference`: by the plain rules. `has_delays`: passages have some.
std::unique_ptr<SharingModel> make_sharing(Sharing, std::vector<double> bandwidths, bool reference = false,
                                           bool has_delays = false, GoesOn = {});

}  // namespace hocket::simulation
