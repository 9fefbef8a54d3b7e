// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/blueprint.hpp"

#include <algorithm>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/network/routing.hpp"

namespace hocket::network {

std::vector<std::int32_t> block_placement(const Blueprint& blueprint) {
    std::vector<std::int32_t> placement;
    for (std::size_t n = 0; n < blueprint.nodes.size(); ++n)
        if (blueprint.nodes[n].kind == NodeKind::host)
            placement.insert(placement.end(), static_cast<std::size_t>(blueprint.nodes[n].ranks),
                             static_cast<std::int32_t>(n));
    return placement;
}

std::vector<std::int32_t> cyclic_placement(const Blueprint& blueprint) {
    std::vector<std::int32_t> places = block_placement(blueprint);
    // Sorting the k-th place of every host before the (k+1)-th of any keeps the hosts in order within a turn.
    std::vector<std::pair<std::int32_t, std::int32_t>> turns;  // turn, host
    for (std::size_t i = 0; i < places.size(); ++i) {
        const bool same_host = i > 0 && places[i] == places[i - 1];
        turns.emplace_back(same_host ? turns.back().first + 1 : 0, places[i]);
    }
    std::sort(turns.begin(), turns.end());
    std::transform(turns.begin(), turns.end(), places.begin(), [](const auto& turn) { return turn.second; });
    return places;
}

namespace {

std::shared_ptr<const Router> make_router(std::span<const Node> nodes, std::span<const Link> links,
                                          const Routing& routing) {
    Routing others = routing;
    others.routes.clear();
    std::shared_ptr<const Router> router = routing.ecmp_seed
                                               ? make_ecmp_router(nodes, links, std::move(others))
                                               : make_shortest_path_router(nodes, links, std::move(others));
    return routing.routes.empty() ? router : make_explicit_router(nodes, links, routing, std::move(router));
}

}  // namespace

Network build(const Blueprint& blueprint) {
    std::vector<Node> nodes;
    std::vector<Link> links;
    nodes.reserve(blueprint.nodes.size());
    links.reserve(2 * blueprint.cables.size());
    for (const Blueprint::Node& node : blueprint.nodes) nodes.push_back({node.name, node.kind, node.relays});
    const auto add_cable = [&](const Blueprint::Cable& cable) {
        const auto id = static_cast<std::int32_t>(links.size());
        const NodeId first{cable.first}, second{cable.second};
        links.push_back({first, second, cable.bandwidth_bytes_per_s, cable.latency_s, id});
        links.push_back(
            {second, first, cable.bandwidth_back_bytes_per_s, cable.latency_back_s, cable.half_duplex ? id : id + 1});
    };
    for (const Blueprint::Cable& cable : blueprint.cables) add_cable(cable);

    // The node that the next rank of each host takes: the host itself, or its process nodes in turn.
    std::vector<std::int32_t> place(blueprint.nodes.size());
    for (std::size_t host = 0; host < blueprint.nodes.size(); ++host) {
        const Blueprint::Node& node = blueprint.nodes[host];
        const auto host_id = static_cast<std::int32_t>(host);
        place[host] = host_id;
        if (node.kind != NodeKind::host || node.ranks <= 1) continue;
        place[host] = static_cast<std::int32_t>(nodes.size());
        for (std::int32_t i = 0; i < node.ranks; ++i) {
            nodes.push_back({node.name + "/" + std::to_string(i), NodeKind::process});
            add_cable({static_cast<std::int32_t>(nodes.size()) - 1, host_id, node.memory_bandwidth_bytes_per_s,
                       node.memory_bandwidth_bytes_per_s, node.memory_latency_s, node.memory_latency_s});
        }
    }
    std::vector<NodeId> rank_nodes;
    for (const std::int32_t host : blueprint.placement.empty() ? block_placement(blueprint) : blueprint.placement)
        rank_nodes.push_back(NodeId{place[static_cast<std::size_t>(host)]++});
    std::shared_ptr<const Router> router = blueprint.router;
    if (!router && blueprint.routing != Routing{}) router = make_router(nodes, links, blueprint.routing);
    return {blueprint.name, std::move(nodes), std::move(links), std::move(rank_nodes), std::move(router)};
}

Blueprint blueprint_of(const Network& network) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidInput("network " + base::quoted(network.name()) +
                           " cannot be described by nodes and cables: " + why);
    };
    Blueprint blueprint;
    blueprint.name = network.name();
    blueprint.routing = network.router().routing();
    for (const Node& node : network.nodes()) {
        if (node.kind == NodeKind::process) continue;
        if (blueprint.nodes.size() != static_cast<std::size_t>(&node - network.nodes().data()))
            refuse("a process comes before a host or switch");
        blueprint.nodes.push_back({node.name, node.kind, node.kind == NodeKind::host ? 1 : 0});
        blueprint.nodes.back().relays = node.relays;
    }
    std::vector<std::int32_t> processes(blueprint.nodes.size(), 0);
    const auto links = network.links();
    for (std::size_t i = 0; i < links.size(); i += 2) {
        if (i + 1 == links.size() || links[i].source != links[i + 1].target || links[i].target != links[i + 1].source)
            refuse("link " + std::to_string(i) + " and the next are not the two directions of one cable");
        const Link &there = links[i], &back = links[i + 1];
        if (network.node(there.source).kind != NodeKind::process) {
            blueprint.cables.push_back({there.source.value, there.target.value, there.bandwidth_bytes_per_s,
                                        back.bandwidth_bytes_per_s, there.latency_s, back.latency_s,
                                        there.capacity == back.capacity});
            continue;
        }
        Blueprint::Node& host = blueprint.nodes[there.target.at()];
        host.ranks = ++processes[there.target.at()];
        host.memory_bandwidth_bytes_per_s = there.bandwidth_bytes_per_s;
        host.memory_latency_s = there.latency_s;
    }
    for (std::int32_t r = 0; r < network.num_ranks(); ++r)
        blueprint.placement.push_back(network.host_of(Rank{r}).value);
    if (blueprint.placement == block_placement(blueprint)) blueprint.placement.clear();
    return blueprint;
}

}  // namespace hocket::network
