// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/network_tree.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/network/members.hpp"

namespace hocket::search {
namespace {

constexpr std::int64_t unlimited = std::int64_t{1} << 50U;

std::string ends_of(const Network& network, const Link& link) {
    return network.node(link.source).name + " to " + network.node(link.target).name;
}

std::int64_t whole_bandwidth(const Network& network, const Link& link) {
    const double bandwidth = link.bandwidth_bytes_per_s;
    if (bandwidth >= static_cast<double>(unlimited)) return unlimited;
    if (bandwidth < 1)
        throw InvalidInput("the bandwidth of " + ends_of(network, link) + " is below 1 byte/s",
                           "the search counts whole bytes/s");
    return std::llround(bandwidth);
}

/// All transfers one after another, each over the whole network, must end before this.
constexpr double longest_ns = static_cast<double>(never) / 4;

void check_times(const Network& network, const Tree& tree) {
    double delays_ns = 0;
    double slowest_ns = 0;
    for (const Cable& cable : tree.cables())
        for (const int way : {0, 1}) {
            delays_ns += static_cast<double>(cable.delay_ns[way]);
            slowest_ns = std::max(slowest_ns,
                                  static_cast<double>(tree.bytes()) * 1e9 / static_cast<double>(cable.bandwidth[way]));
        }
    if ((slowest_ns + delays_ns) * tree.num_computers() > longest_ns)
        throw InvalidInput(network.name() + ": a broadcast of " + std::to_string(tree.bytes()) +
                               " bytes may take more than 18 years, which the search cannot count",
                           "give less bytes, or check the bandwidths and latencies of the network");
}

}  // namespace

Tree tree_of(const Network& network, std::int64_t bytes, std::span<const Rank> given) {
    if (bytes < 1) throw InvalidInput("bytes is " + std::to_string(bytes) + ": expected at least 1");
    if (!network.is_tree())
        throw InvalidInput(network.name() + ": optimal schedules are searched on trees, and its cables form cycles",
                           "leave out --optimal: other schedules serve any network");
    std::vector<Rank> members(given.begin(), given.end());
    if (members.empty())
        for (std::int32_t r = 0; r < network.num_ranks(); ++r) members.emplace_back(r);
    if (members.size() > most_computers)
        throw InvalidInput(network.name() + ": " + std::to_string(members.size()) + " ranks: the search serves up to " +
                               std::to_string(most_computers),
                           "leave out --optimal: other schedules serve any number");
    network::check_members(network, members, most_computers);
    // Nodes without a rank around them are left out, for they need not be connected.
    std::vector<std::int32_t> number(network.nodes().size(), -1);
    std::vector<NodeId> nodes{network.node_of(Rank{0})};
    number[nodes[0].at()] = 0;
    std::vector<Cable> cables;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (const LinkId id : network.links_from(nodes[i])) {
            const Link& link = network.link(id);
            std::int32_t& other = number[link.target.at()];
            if (other >= 0) continue;
            other = static_cast<std::int32_t>(nodes.size());
            nodes.push_back(link.target);
            for (const LinkId back_id : network.links_from(link.target)) {
                const Link& back = network.link(back_id);
                if (back.target != link.source) continue;
                const auto delay = [](const Link& l) {
                    return static_cast<std::int64_t>(std::llround(std::min(l.latency_s * 1e9, longest_ns)));
                };
                cables.push_back({static_cast<std::int32_t>(i),
                                  other,
                                  {whole_bandwidth(network, link), whole_bandwidth(network, back)},
                                  {delay(link), delay(back)},
                                  link.capacity == back.capacity});
            }
        }
    auto num_nodes = static_cast<std::int32_t>(nodes.size());
    std::vector<std::int32_t> ranks_at(nodes.size(), 0), computers;
    for (const Rank r : members) ++ranks_at[static_cast<std::size_t>(number[network.node_of(r).at()])];
    for (const Rank r : members) {
        const std::int32_t here = number[network.node_of(r).at()];
        if (ranks_at[static_cast<std::size_t>(here)] == 1) {
            computers.push_back(here);
            continue;
        }
        cables.push_back({here, num_nodes, {unlimited, unlimited}, {0, 0}, false});
        computers.push_back(num_nodes++);
    }
    Tree tree(num_nodes, std::move(computers), std::move(cables), bytes);
    check_times(network, tree);
    return tree;
}

}  // namespace hocket::search
