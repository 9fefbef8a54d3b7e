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

    Distances(std::size_t num_nodes, std::span<const Link> links) : sources_to_(num_nodes) {
        for (const Link& link : links) sources_to_[link.target.at()].push_back(link.source);
    }

    /// [node] the links on a shortest path from there to `destination`.
    [[nodiscard]] std::vector<std::int32_t> to(NodeId destination) const {
        std::vector<std::int32_t> distance(sources_to_.size(), unreachable);
        std::vector<NodeId> queue{destination};
        distance[destination.at()] = 0;
        for (std::size_t head = 0; head < queue.size(); ++head) {
            const NodeId node = queue[head];
            for (const NodeId source : sources_to_[node.at()]) {
                if (distance[source.at()] != unreachable) continue;
                distance[source.at()] = distance[node.at()] + 1;
                queue.push_back(source);
            }
        }
        return distance;
    }

private:
    std::vector<std::vector<NodeId>> sources_to_;  // [node] where its incoming links begin
};

}  // namespace hocket::network
