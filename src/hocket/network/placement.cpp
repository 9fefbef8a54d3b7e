// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/placement.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hocket/base/error.hpp"

namespace hocket::network {

namespace {

std::string_view without_domain(std::string_view name) { return name.substr(0, name.find('.')); }

std::vector<NodeId> processes_of(const Network& network, NodeId host) {
    std::vector<NodeId> found;
    for (const LinkId l : network.links_from(host)) {
        const NodeId target = network.link(l).target;
        if (network.node(target).kind == NodeKind::process) found.push_back(target);
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

std::optional<NodeId> find_host(const Network& network, std::string_view machine) {
    std::optional<NodeId> found;
    bool is_unique = true;
    for (std::size_t n = 0; n < network.nodes().size(); ++n) {
        const Node& node = network.nodes()[n];
        if (node.kind != NodeKind::host) continue;
        const NodeId id{static_cast<std::int32_t>(n)};
        if (node.name == machine) return id;
        // Of two different domains neither is left out.
        const bool one_lacks_it =
            node.name.find('.') == std::string::npos || machine.find('.') == std::string_view::npos;
        if (!one_lacks_it || without_domain(node.name) != without_domain(machine)) continue;
        is_unique = !found;
        found = id;
    }
    return is_unique ? found : std::nullopt;
}

Network placed(const Network& network, std::span<const NodeId> hosts) {
    std::vector<std::size_t> num_placed(network.nodes().size(), 0);
    std::vector<NodeId> rank_nodes;
    for (const NodeId host : hosts) {
        if (!host.valid() || host.at() >= num_placed.size() || network.node(host).kind != NodeKind::host)
            throw InvalidInput("rank " + std::to_string(rank_nodes.size()) + " is on node " +
                               std::to_string(host.value) + ", which is no host of network \"" + network.name() + '"');
        const std::vector<NodeId> processes = processes_of(network, host);
        const std::size_t number = num_placed[host.at()]++;
        rank_nodes.push_back(processes.empty() ? host : processes[number % processes.size()]);
    }
    Network found(network.name(), {network.nodes().begin(), network.nodes().end()},
                  {network.links().begin(), network.links().end()}, std::move(rank_nodes), network.shared_router());
    return network.calibration() != nullptr ? std::move(found).calibrated(*network.calibration()) : found;
}

}  // namespace hocket::network
