// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/circuits/simulate.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/circuits/program_circuits.hpp"
#include "hocket/simulation/check.hpp"

namespace hocket::circuits {
namespace {

/// No circuit a message takes less: a host has one port for them, on which a circuit carries at most one message in
/// each direction, and the next one is open an exchange after it.
double least_naive_s(const Program& program, const Network& network) {
    std::map<std::pair<NodeId, NodeId>, std::int64_t> messages;  // (from, to)
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const NodeId from = network.host_of(Rank{static_cast<std::int32_t>(r)});
        for (const ProgramOp& op : program.ranks[r].ops)
            if (op.kind == ProgramOpKind::send && network.host_of(op.peer) != from)
                ++messages[{from, network.host_of(op.peer)}];
    }
    std::vector<std::int64_t> circuits(network.nodes().size(), 0);
    for (const auto& [pair, number] : messages) {
        const auto back = messages.find({pair.second, pair.first});
        const bool is_counted =
            back != messages.end() && (back->second > number || (back->second == number && pair.second < pair.first));
        if (is_counted) continue;
        circuits[pair.first.at()] += number;
        circuits[pair.second.at()] += number;
    }
    const Times& times = circuits_of(network).times;
    const std::int64_t most = *std::max_element(circuits.begin(), circuits.end());
    return most == 0 ? 0 : times.setup_s + static_cast<double>(most - 1) * times.exchange_s() + times.teardown_s;
}

CircuitTimeline run(const Program& program, const Network& network, Policy policy, const SimulationOptions& options,
                    const std::vector<HostPair>& pinned) {
    CostParameters costs = *options.costs;
    costs.sharing = Sharing::none;
    costs.rendezvous_bytes = std::numeric_limits<std::int64_t>::max();
    SimulationOptions alone = options;
    alone.costs = costs;
    const network::Blocked blocked = circuits_of(network).blocked;
    if (blocked != network::Blocked::queue && (policy == Policy::naive || policy == Policy::batch))
        throw InvalidInput("circuits: blocked = \"" +
                               std::string(network::blocked_names[static_cast<std::size_t>(blocked)]) +
                               "\" goes with the policies lazy, pinned and program",
                           "with naive and batch each message waits for the circuit that is planned for it");
    if (has_circuits(program) != (policy == Policy::program))
        throw InvalidInput(policy == Policy::program ? "the policy program: the program connects no circuit"
                                                     : "the program connects its circuits itself",
                           policy == Policy::program ? "choose another policy" : "choose the policy program");
    simulation::check(program, network);
    hocket::check(program);
    Collectives collectives;
    if (policy == Policy::batch) collectives = find_rounds(program, network);
    if (policy == Policy::naive) collectives = find_collectives(program, network);
    const bool has_teardowns = !collectives.calls.empty();
    const bool has_requests = policy == Policy::program;
    CircuitTransport transport(network, policy, std::move(collectives), pinned, has_requests ? &program : nullptr);
    CircuitTimeline result{hocket::simulate(has_requests    ? with_circuit_messages(program)
                                            : has_teardowns ? with_teardowns(program)
                                                            : program,
                                            network, alone, transport)};
    for (std::size_t r = 0; r < program.ranks.size(); ++r) result.ranks[r].resize(program.ranks[r].ops.size());
    result.end_s = transport.finish(result.makespan_s);
    result.circuits = transport.circuits();
    result.num_messages = transport.num_messages();
    result.hops = transport.hops();
    result.waiting_s = transport.waiting_s();
    return result;
}

}  // namespace

CircuitTimeline simulate(const Program& program, const Network& network, Policy policy,
                         const SimulationOptions& options, const std::vector<HostPair>& pinned) {
    if (policy != Policy::batch) return run(program, network, policy, options, pinned);
    std::optional<CircuitTimeline> batch;
    try {
        batch = run(program, network, policy, options, pinned);
        if (!batch->completed || batch->end_s <= least_naive_s(program, network)) return std::move(*batch);
    } catch (const InvalidInput&) {
        // A batch wants circuits of several messages at a time, for which there may not be wavelengths enough. What is
        // wrong in another way is refused again.
    }
    CircuitTimeline naive = run(program, network, Policy::naive, options, pinned);
    return batch && (!naive.completed || naive.end_s >= batch->end_s) ? std::move(*batch) : std::move(naive);
}

}  // namespace hocket::circuits
