// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include "hocket/simulation/traffic.hpp"

namespace hocket::simulation {

/// simulate_traffic() by the steps of [Suzuki]: each computes the rates of all flows, looks for the next end among all,
/// and advances all. Costs events * flows. The steps of equal shares run on `num_threads` OpenMP threads with busy
/// barriers between; rates by the other sharings are computed by one thread.
TrafficResult simulate_reference_traffic(const Traffic&, const network::Fabric&, const TrafficOptions&);

}  // namespace hocket::simulation
