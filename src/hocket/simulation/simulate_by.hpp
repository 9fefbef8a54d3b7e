// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <optional>

#include "hocket/simulation/check.hpp"
#include "hocket/simulation/handshakes.hpp"
#include "hocket/simulation/program_engine.hpp"
#include "hocket/simulation/whole_work.hpp"

namespace hocket::simulation {
namespace {

/// Checks a program, adds its handshakes, runs it by a transport, and checks the end. For the two files that define
/// `simulate` alone.
template <class AnyTransport>
Timeline simulate_by(const Program& program, const Network& network, const SimulationOptions& options,
                     AnyTransport&& transport) {
    check(program, network);
    refuse_circuits(program, network);
    const std::optional<Program> shaken = with_handshakes(program, options.costs.rendezvous_limit_bytes());
    WholeWork work(shaken ? *shaken : program);
    Timeline timeline = ProgramEngine<WholeWork, AnyTransport>(work, network, options, transport).run();
    if (shaken) forget_handshakes(program, *shaken, timeline.ranks);
    if (timeline.completed) check_finished(program, timeline.ranks, shaken.has_value());
    return timeline;
}

}  // namespace
}  // namespace hocket::simulation
