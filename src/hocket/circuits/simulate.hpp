// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <vector>

#include "hocket/circuits/transport.hpp"
#include "hocket/simulation/simulate.hpp"

namespace hocket::circuits {

/// The end of its makespan_s is that of the program.
struct CircuitTimeline : Timeline {
    std::vector<Circuit> circuits = {};  ///< in the order in which they were set up
    std::vector<Hop> hops = {};          ///< of messages that took several circuits, in the order of arrival
    std::int64_t num_messages = 0;       ///< that went over circuits
    double waiting_s = 0;                ///< of all these together, from when they were ready to when they began
    double end_s = 0;                    ///< of the program and of the last teardown
};

/// The program on a network with circuits. Circuits are alone on their wavelengths: messages share nothing. Messages
/// need no rendezvous: a circuit waits for them.
/// @throws InvalidInput  as simulate(), if the network has no circuits, or a circuit can never be set up
CircuitTimeline simulate(const Program&, const Network&, Policy, const SimulationOptions& = {},
                         const std::vector<HostPair>& pinned = {});

}  // namespace hocket::circuits
