// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/check.hpp"

#include <string>

#include "hocket/base/error.hpp"
#include "hocket/network/ranges.hpp"

namespace hocket::simulation {

void check(const Program& program, const Network& network, const SimulationOptions& options) {
    const auto refuse = [](const std::string& what) { throw InvalidInput("simulation: " + what); };
    if (program.ranks.size() > static_cast<std::size_t>(network.num_ranks()))
        throw InvalidInput("the program has " + std::to_string(program.ranks.size()) + " ranks, the network \"" +
                               network.name() + "\" has " + std::to_string(network.num_ranks()),
                           "use a network with at least as many ranks");
    for (const double overhead_s : {options.send_overhead_s, options.receive_overhead_s})
        network::check_latency(overhead_s, "simulation: overhead of a message");
    if (!(options.reduce_bytes_per_s > 0))
        refuse("reduce rate " + std::to_string(options.reduce_bytes_per_s) + " bytes/s is not above 0");
    if (options.rendezvous_bytes < 0)
        refuse("rendezvous size " + std::to_string(options.rendezvous_bytes) + " bytes is negative");
}

}  // namespace hocket::simulation
