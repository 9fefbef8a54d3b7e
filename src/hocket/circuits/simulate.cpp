// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/circuits/simulate.hpp"

#include <limits>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/simulation/check.hpp"

namespace hocket::circuits {

CircuitTimeline simulate(const Program& program, const Network& network, Policy policy,
                         const SimulationOptions& options, const std::vector<HostPair>& pinned) {
    CostParameters costs = *options.costs;
    costs.sharing = Sharing::none;
    costs.rendezvous_bytes = std::numeric_limits<std::int64_t>::max();
    SimulationOptions alone = options;
    alone.costs = costs;
    const network::Blocked blocked = circuits_of(network).blocked;
    if (blocked == network::Blocked::relay)
        throw InvalidInput("circuits: blocked = \"relay\" is not simulated yet", "write \"queue\" or \"electrical\"");
    if (blocked == network::Blocked::electrical && (policy == Policy::naive || policy == Policy::batch))
        throw InvalidInput("circuits: blocked = \"electrical\" goes with the policies lazy and pinned",
                           "with naive and batch each message waits for the circuit that is planned for it");
    simulation::check(program, network);
    hocket::check(program);
    Collectives collectives;
    if (policy == Policy::batch) collectives = find_rounds(program, network);
    if (policy == Policy::naive) collectives = find_collectives(program, network);
    const bool has_teardowns = !collectives.calls.empty();
    CircuitTransport transport(network, policy, std::move(collectives), pinned);
    CircuitTimeline result{
        hocket::simulate(has_teardowns ? with_teardowns(program) : program, network, alone, transport)};
    for (std::size_t r = 0; r < program.ranks.size(); ++r) result.ranks[r].resize(program.ranks[r].ops.size());
    result.end_s = transport.finish(result.makespan_s);
    result.circuits = transport.circuits();
    result.num_messages = transport.num_messages();
    result.waiting_s = transport.waiting_s();
    return result;
}

}  // namespace hocket::circuits
