// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/simulate.hpp"

#include <optional>

#include "hocket/simulation/check.hpp"
#include "hocket/simulation/handshakes.hpp"
#include "hocket/simulation/program_engine.hpp"

namespace hocket {
namespace {

using namespace simulation;

template <class AnyTransport>
Timeline simulate_by(const Program& program, const Network& network, const SimulationOptions& options,
                     AnyTransport&& transport) {
    check(program, network);
    const std::optional<Program> shaken = with_handshakes(program, options.costs.rendezvous_limit_bytes());
    Timeline timeline = ProgramEngine<AnyTransport>(shaken ? *shaken : program, network, options, transport).run();
    if (shaken) forget_handshakes(program, *shaken, timeline.ranks);
    if (timeline.completed) check_finished(program, timeline.ranks, shaken.has_value());
    return timeline;
}

}  // namespace

Timeline simulate(const Program& program, const Network& network, const SimulationOptions& options) {
    return simulate_by(program, network, options, StaticRoutes(network));
}

Timeline simulate(const Program& program, const Network& network, const SimulationOptions& options,
                  Transport& transport) {
    return simulate_by(program, network, options, transport);
}

}  // namespace hocket
