// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hocket/cost/cost_model.hpp"
#include "hocket/simulation/record/link_bins.hpp"

namespace hocket {

/// How far a simulation has come.
struct SimulationProgress {
    /// Messages that have left; of a Program, ops that have ended, with those of handshakes.
    std::int64_t num_done = 0;
    /// Of these.
    std::int64_t num_total = 0;
    double simulated_s = 0;
};
/// Called many times a second, from the thread that simulates; returns whether to go on. An exception ends the
/// simulation and reaches its caller.
using OnProgress = std::function<bool(const SimulationProgress&)>;

struct SimulationOptions {
    /// What messages cost beside the latencies and bandwidths of the network, and how they share links.
    CostModel costs = {};
    /// Messages of one (source, target) travel one after another, as on one TCP connection.
    bool ordered_pairs = true;
    /// Fill Timeline::link_use and link_bursts.
    bool record_links = false;
    /// Rates by the plain rules, computed anew at each change: slow, and to compare with.
    bool reference = false;
    /// Fill Timeline::link_bins.
    LinkBinOptions link_bins = {};
    /// When each rank begins, in s; those behind the last one at 0.
    std::vector<double> start_s = {};
    /// None = no progress is reported.
    OnProgress on_progress = {};
};

}  // namespace hocket
