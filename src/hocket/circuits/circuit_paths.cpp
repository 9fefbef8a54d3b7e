// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/circuits/circuit_paths.hpp"

#include <algorithm>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"

namespace hocket::circuits {

const network::Circuits& circuits_of(const Network& network) {
    if (network.circuits() == nullptr)
        throw InvalidInput("network " + base::quoted(network.name()) + " has no circuits",
                           "give its file a table [circuits]");
    return *network.circuits();
}

CircuitPaths::CircuitPaths(const Network& network, bool electrical)
    : network_(network), electrical_(electrical), switches_(network.nodes().size(), false) {
    for (std::size_t n = 0; electrical && n < switches_.size(); ++n)
        switches_[n] = network.nodes()[n].kind != NodeKind::host;
    for (const std::int32_t node : circuits_of(network).switches)
        switches_[static_cast<std::size_t>(node)] = !electrical;
}

bool CircuitPaths::joins(NodeId a, NodeId b) {
    std::vector<LinkId> links;
    const HostPair pair = pair_of(a, b);
    return over_one_switch(pair, links) || !over_several(pair).empty();
}

void CircuitPaths::find(NodeId a, NodeId b, std::vector<LinkId>& links) {
    const HostPair pair = pair_of(a, b);
    links.clear();
    if (!over_one_switch(pair, links)) links = over_several(pair);
    if (links.empty())
        throw InvalidInput(std::string(electrical_ ? "no electrical links join " : "no circuit can join ") +
                               base::quoted(network_.node(a).name) + " and " + base::quoted(network_.node(b).name),
                           electrical_ ? "add links over switches that are not circuit switches" : "");
    if (pair.first == a) return;
    std::reverse(links.begin(), links.end());
    for (LinkId& link : links) link.value ^= 1;  // the other direction of the cable
}

bool CircuitPaths::over_one_switch(HostPair pair, std::vector<LinkId>& links) const {
    for (const LinkId first : network_.links_from(pair.first)) {
        const NodeId middle = network_.link(first).target;
        if (!switches_[middle.at()]) continue;
        for (const LinkId back : network_.links_from(pair.second)) {  // fewer than those of the switch
            if (network_.link(back).target != middle) continue;
            links = {first, LinkId{back.value ^ 1}};
            return true;
        }
    }
    return false;
}

const std::vector<LinkId>& CircuitPaths::over_several(HostPair pair) {
    const auto& [a, b] = pair;
    const std::uint64_t key =
        std::uint64_t{static_cast<std::uint32_t>(a.value)} << 32U | static_cast<std::uint32_t>(b.value);
    const auto [known, is_new] = known_.try_emplace(key);
    if (!is_new) return known->second;
    std::vector<LinkId> came_by(network_.nodes().size());
    std::vector<NodeId> level{a};
    std::vector<bool> seen(network_.nodes().size(), false);
    seen[a.at()] = true;
    while (!level.empty() && !seen[b.at()]) {
        std::vector<NodeId> next;
        for (const NodeId node : level)
            for (const LinkId link : network_.links_from(node)) {
                const NodeId target = network_.link(link).target;
                if (seen[target.at()] || !(switches_[target.at()] || (target == b && switches_[node.at()]))) continue;
                seen[target.at()] = true;
                came_by[target.at()] = link;
                next.push_back(target);
            }
        level = std::move(next);
    }
    if (!seen[b.at()]) return known->second;
    for (NodeId node = b; node != a; node = network_.link(came_by[node.at()]).source)
        known->second.push_back(came_by[node.at()]);
    std::reverse(known->second.begin(), known->second.end());
    return known->second;
}

double CircuitPaths::latency_s(const std::vector<LinkId>& path) const {
    double latency_s = 0;
    for (const LinkId link : path) latency_s += network_.link(link).latency_s;
    return latency_s;
}

}  // namespace hocket::circuits
