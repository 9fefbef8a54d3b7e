// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "hocket/base/random.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/network/network.hpp"

namespace hocket::examples {

inline Network generated(const char* text) { return network::build(network::generate(text)); }

/// A tree of full-duplex cables with hosts at any nodes, some with several ranks.
inline Network random_tree(base::Random& random, std::int32_t num_nodes, std::int32_t num_ranks) {
    std::vector<NodeId> rank_nodes;
    for (std::int32_t r = 0; r < num_ranks; ++r)
        rank_nodes.emplace_back(static_cast<std::int32_t>(random.below(num_nodes)));
    std::vector<Node> nodes;
    for (std::int32_t i = 0; i < num_nodes; ++i) nodes.push_back({"n" + std::to_string(i), NodeKind::switch_});
    for (const NodeId node : rank_nodes) nodes[node.at()].kind = NodeKind::host;
    std::vector<Link> links;
    const std::int64_t reach = 1 + random.below(num_nodes);  // from chains to stars
    for (std::int32_t i = 1; i < num_nodes; ++i) {
        const auto above = static_cast<std::int32_t>(i - 1 - random.below(std::min<std::int64_t>(i, reach)));
        const double bandwidth = 1e6 * static_cast<double>(1 + random.below(3));
        for (const auto& [a, b] : {std::pair{above, i}, std::pair{i, above}})
            links.push_back({NodeId{a}, NodeId{b}, bandwidth, 1e-5, static_cast<std::int32_t>(links.size())});
    }
    return {"random", std::move(nodes), std::move(links), std::move(rank_nodes)};
}

}  // namespace hocket::examples
