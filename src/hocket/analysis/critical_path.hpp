// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/analysis/instants.hpp"
#include "hocket/analysis/wait_states.hpp"
#include "hocket/cost/cost_model.hpp"
#include "hocket/network/network.hpp"
#include "hocket/simulation/options.hpp"

namespace hocket::analysis {

/// A part of the critical path. Its steps follow each other without a gap, from the start of the program to its end.
struct PathStep {
    /// In place of a function.
    static constexpr std::int32_t computation = -1;
    static constexpr std::int32_t waiting_for_core =
        -2;  ///< simulated only: the rank's processor, or all cores, are busy

    std::int32_t rank;
    std::int32_t function;  ///< of the trace: the call that the time is spent for
    double start_s, end_s;  ///< from the start of the program on

    bool operator==(const PathStep&) const = default;
};

/// The critical path of a run of which only the instants of calls are known, as Scalasca finds it [Boehme12]: from the
/// end of the rank that ends last it goes back in time, and where a call waited it goes on at the rank that was waited
/// for. `waits`: what `wait_states` found with the same instants.
std::vector<PathStep> critical_path(const Trace&, const Instants&, const std::vector<Wait>& waits);

struct SimulatedPath {
    /// As `simulate` gives it; requests and answers of long messages are ops of their own, behind those of the program.
    Timeline timeline;
    std::vector<PathStep> steps;  ///< empty if the simulation was stopped
};

/// Simulates a replay with `call_ops`, and finds its critical path operation by operation: each is on it because the
/// one before ended when this one could begin. So it also follows messages whose transfer is waited for, and a
/// processor that was busy. Where flows share links or ranks share cores, what shortens a step may change others, too.
SimulatedPath simulate_path(const Trace&, const replay::Replayed&, const Network&, const CostModel&,
                            const OnProgress& on_progress = {});

}  // namespace hocket::analysis
