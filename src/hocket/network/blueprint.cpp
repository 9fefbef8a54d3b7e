// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/blueprint.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <unordered_set>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/network/routing.hpp"
#include "hocket/network/shape.hpp"

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

void check_nodes(const Blueprint& blueprint, const std::function<void(const std::string&)>& refuse) {
    std::unordered_set<std::string_view> names;
    std::int64_t places = 0;
    for (const Blueprint::Node& node : blueprint.nodes) {
        if (node.name.empty()) refuse("a node's name is empty");
        if (!names.insert(node.name).second) refuse("two nodes have the name " + base::quoted(node.name));
        if (node.kind == NodeKind::process) refuse(base::quoted(node.name) + " is neither host nor switch");
        if (node.ranks < 0 || (node.kind == NodeKind::switch_ && node.ranks > 0))
            refuse(base::quoted(node.name) + " cannot have " + std::to_string(node.ranks) + " ranks");
        if (node.ranks < 2 && (std::isfinite(node.memory_bandwidth_bytes_per_s) || node.memory_latency_s > 0))
            refuse("the memory of " + base::quoted(node.name) + " needs ranks above 1");
        places += 1 + (node.ranks > 1 ? node.ranks : 0);
    }
    check_size(places, static_cast<std::int64_t>(blueprint.cables.size()), max_nodes, max_cables);
}

}  // namespace

void check(const Blueprint& blueprint) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidInput("network " + base::quoted(blueprint.name) + ": " + why);
    };
    check_nodes(blueprint, refuse);
    const auto node_at = [&](std::int32_t n, const char* where) -> const Blueprint::Node& {
        if (n < 0 || static_cast<std::size_t>(n) >= blueprint.nodes.size())
            refuse(std::string(where) + ": node " + std::to_string(n) + " is not in 0.." +
                   std::to_string(static_cast<std::int64_t>(blueprint.nodes.size()) - 1));
        return blueprint.nodes[static_cast<std::size_t>(n)];
    };
    std::set<std::pair<std::int32_t, std::int32_t>> joined;
    for (const Blueprint::Cable& cable : blueprint.cables) {
        const std::string& first = node_at(cable.first, "cables").name;
        const std::string& second = node_at(cable.second, "cables").name;
        const bool is_new = joined.insert(std::minmax(cable.first, cable.second)).second;
        if (!is_new && !blueprint.router)  // that of a regular network finds the difference
            refuse("a second cable joins " + base::quoted(first) + " and " + base::quoted(second));
    }
    std::vector<std::int32_t> used(blueprint.nodes.size(), 0);
    for (const std::int32_t host : blueprint.placement)
        if (const Blueprint::Node& node = node_at(host, "placement");
            ++used[static_cast<std::size_t>(host)] > node.ranks)
            refuse("placement names " + base::quoted(node.name) +
                   " more often than its ranks = " + std::to_string(node.ranks));
}

Blueprint without_generate_table(Blueprint blueprint) {
    blueprint.routing.generate_table.clear();
    const std::shared_ptr<const Router> router = std::exchange(blueprint.router, nullptr);
    if (!router) return blueprint;
    std::vector<NodeId> hosts;
    for (std::size_t n = 0; n < blueprint.nodes.size(); ++n)
        if (blueprint.nodes[n].kind == NodeKind::host) hosts.emplace_back(static_cast<std::int32_t>(n));
    if (hosts.size() > max_listed_hosts)
        throw InvalidInput("network " + base::quoted(blueprint.name) + " has " + std::to_string(hosts.size()) +
                           " hosts: the routes between more than " + std::to_string(max_listed_hosts) +
                           " cannot be listed");
    blueprint.routing = {};
    std::vector<LinkId> links;
    for (const NodeId from : hosts)
        for (const NodeId to : hosts) {
            if (from == to) continue;
            links.clear();
            router->route(from, to, links);
            std::vector<NodeId>& route = blueprint.routing.routes.emplace_back(1, from);
            for (const LinkId link : links) {
                const Blueprint::Cable& cable = blueprint.cables[link.at() / 2];
                route.emplace_back(link.at() % 2 == 0 ? cable.second : cable.first);
            }
        }
    return blueprint;
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
    Network network{blueprint.name, std::move(nodes), std::move(links), std::move(rank_nodes), std::move(router)};
    return blueprint.circuits ? std::move(network).with_circuits(*blueprint.circuits) : network;
}

Blueprint blueprint_of(const Network& network) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidInput("network " + base::quoted(network.name()) +
                           " cannot be described by nodes and cables: " + why);
    };
    Blueprint blueprint;
    blueprint.name = network.name();
    blueprint.routing = network.router().routing();
    if (!blueprint.routing.generate_table.empty()) blueprint.router = network.shared_router();
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
    if (network.circuits() != nullptr) blueprint.circuits = *network.circuits();
    return blueprint;
}

}  // namespace hocket::network
