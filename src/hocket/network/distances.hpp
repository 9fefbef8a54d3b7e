// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hocket/network/network.hpp"

namespace hocket::network {

/// How many links the nodes of a graph are from each other, by breadth-first search.
class Distances {
public:
    /// Of nodes that cannot reach the destination; one more is still a number.
    static constexpr std::int32_t unreachable = std::numeric_limits<std::int32_t>::max() - 1;

    Distances(std::span<const Node> nodes, std::span<const Link> links)
        : sources_to_(nodes.size()), closed_(nodes.size()), host_of_(nodes.size()) {
        for (const Link& link : links) {
            sources_to_[link.target.at()].push_back(link.source);
            if (nodes[link.source.at()].kind == NodeKind::process) host_of_[link.source.at()] = link.target;
        }
        for (std::size_t n = 0; n < nodes.size(); ++n) closed_[n] = !nodes[n].relays;
    }

    /// Whether a route to `destination` may go from `source` to its neighbour `target`: a host that does not relay lets
    /// only pass what its own ranks send and receive.
    [[nodiscard]] bool may_enter(NodeId source, NodeId target, NodeId destination) const {
        return !closed_[target.at()] || target == destination || host_of_[destination.at()] == target ||
               host_of_[source.at()] == target;
    }

    /// [node] the links on a shortest path from there to `destination`.
    [[nodiscard]] std::vector<std::int32_t> to(NodeId destination) const {
        std::vector<std::int32_t> distance(sources_to_.size(), unreachable);
        std::vector<NodeId> queue{destination};
        distance[destination.at()] = 0;
        for (std::size_t head = 0; head < queue.size(); ++head) {
            const NodeId node = queue[head];
            for (const NodeId source : sources_to_[node.at()]) {
                if (distance[source.at()] != unreachable || !may_enter(source, node, destination)) continue;
                distance[source.at()] = distance[node.at()] + 1;
                queue.push_back(source);
            }
        }
        return distance;
    }

private:
    std::vector<std::vector<NodeId>> sources_to_;  // [node] where its incoming links begin
    std::vector<bool> closed_;                     // [node] does not relay
    std::vector<NodeId> host_of_;                  // [process]; invalid of other nodes
};

}  // namespace hocket::network
