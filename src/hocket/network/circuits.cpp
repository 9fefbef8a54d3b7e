// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/circuits.hpp"

#include <algorithm>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/network/network.hpp"
#include "hocket/network/ranges.hpp"

namespace hocket::network {
namespace {

/// The nodes that circuits from `start` reach.
std::vector<bool> reached(const Network& network, const std::vector<bool>& switches, NodeId start) {
    std::vector<bool> seen(network.nodes().size(), false);
    std::vector<NodeId> waiting{start};
    seen[start.at()] = true;
    while (!waiting.empty()) {
        const NodeId node = waiting.back();
        waiting.pop_back();
        for (const LinkId link : network.links_from(node)) {
            const NodeId next = network.link(link).target;
            if (seen[next.at()] || !(switches[node.at()] || (node == start && switches[next.at()]))) continue;
            seen[next.at()] = true;
            waiting.push_back(next);
        }
    }
    return seen;
}

}  // namespace

void check(const Circuits& circuits, const Network& network) {
    const auto num_nodes = static_cast<std::int32_t>(network.nodes().size());
    const auto num_cables = static_cast<std::int32_t>(network.links().size() / 2);
    const auto require = [](bool ok, const std::string& why) {
        if (!ok) throw InvalidInput("circuits: " + why);
    };
    const auto require_host = [&](std::int32_t node) {
        require(node >= 0 && node < num_nodes && network.node(NodeId{node}).kind == NodeKind::host,
                "node " + std::to_string(node) + " is not a host");
    };
    const auto require_cable = [&](std::int32_t cable) {
        require(cable >= 0 && cable < num_cables, "cable " + std::to_string(cable) + " is not there");
    };
    check_latency(circuits.times.setup_s, "circuits: setup");
    check_latency(circuits.times.teardown_s, "circuits: teardown");
    require(circuits.ports >= 1, "a host has " + std::to_string(circuits.ports) + " ports; expected at least 1");
    require(circuits.wavelengths.value_or(1) >= 1, "a cable has no wavelength");
    require(circuits.max_circuits.value_or(1) >= 1, "max_circuits is 0");
    require(!circuits.switches.empty(), "no switch is a circuit switch");
    std::vector<bool> switches(network.nodes().size(), false);
    for (const std::int32_t node : circuits.switches) {
        require(node >= 0 && node < num_nodes && network.node(NodeId{node}).kind == NodeKind::switch_,
                "node " + std::to_string(node) + " is not a switch");
        switches[static_cast<std::size_t>(node)] = true;
    }
    for (const auto& [node, ports] : circuits.node_ports) {
        require_host(node);
        require(ports >= 0, "a host has " + std::to_string(ports) + " ports");
    }
    for (const auto& [cable, wavelengths] : circuits.cable_wavelengths) {
        require_cable(cable);
        require(wavelengths >= 0, "a cable has " + std::to_string(wavelengths) + " wavelengths");
    }
    for (const Circuits::Change& change : circuits.changes) {
        change.is_cable ? require_cable(change.which) : require_host(change.which);
        check_latency(change.at_s, "circuits: at");
        require(change.number >= 0, "a change to " + std::to_string(change.number));
    }
    if (circuits.blocked == Blocked::electrical) return;  // what no circuit joins takes the other links
    const NodeId first = network.host_of(Rank{0});
    const std::vector<bool> seen = reached(network, switches, first);
    for (std::int32_t r = 1; r < network.num_ranks(); ++r)
        if (const NodeId host = network.host_of(Rank{r}); !seen[host.at()])
            throw InvalidInput("circuits: no circuit can join " + base::quoted(network.node(first).name) + " and " +
                                   base::quoted(network.node(host).name),
                               "join them over circuit switches, or write blocked = \"electrical\"");
}

}  // namespace hocket::network
