// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <memory>

#include "hocket/cost/cost_model.hpp"
#include "hocket/simulation/sharing/bandwidths.hpp"
#include "hocket/simulation/sharing/sharing_model.hpp"

namespace hocket::simulation {

/// Whether these bandwidths are not too different for the incremental model.
bool has_incremental(Sharing, const Bandwidths&);
/// The incremental model for an engine that asks for rates by a virtual call. `has_delays`: passages have some.
std::unique_ptr<SharingModel> make_incremental(Sharing, Bandwidths, bool has_delays);

}  // namespace hocket::simulation
