// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/depth_first.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "hocket/base/error.hpp"
#include "hocket/network/members.hpp"

namespace hocket::network {

namespace {
constexpr std::size_t most_members = 1 << 20;

/// From each node down to its farthest member, by latency; less than 0 where there is none.
std::vector<double> farthest_member_s(const Network& network, const std::vector<std::vector<Rank>>& members_on,
                                      NodeId first) {
    const std::size_t num_nodes = members_on.size();
    std::vector<NodeId> queue{first}, parent(num_nodes);
    std::vector<bool> seen(num_nodes, false);
    seen[first.at()] = true;
    for (std::size_t i = 0; i < queue.size(); ++i)
        for (const LinkId l : network.links_from(queue[i])) {
            const NodeId next = network.link(l).target;
            if (seen[next.at()]) continue;
            seen[next.at()] = true;
            parent[next.at()] = queue[i];
            queue.push_back(next);
        }
    std::vector<double> farthest_s(num_nodes, -1);
    for (std::size_t node = 0; node < num_nodes; ++node)
        if (!members_on[node].empty()) farthest_s[node] = 0;
    for (std::size_t i = queue.size(); i-- > 1;) {
        const NodeId node = queue[i];
        if (farthest_s[node.at()] < 0) continue;
        double step_s = 0;
        for (const LinkId l : network.links_from(parent[node.at()]))
            if (network.link(l).target == node) step_s = network.link(l).latency_s;
        double& above_s = farthest_s[parent[node.at()].at()];
        above_s = std::max(above_s, farthest_s[node.at()] + step_s);
    }
    return farthest_s;
}
}  // namespace

std::vector<Rank> depth_first_order(const Network& network, std::span<const Rank> members, Rank start, Branch branch) {
    check_members(network, members, most_members);
    if (!start.valid() || start.at() >= members.size())
        throw InvalidInput("start is " + std::to_string(start.value) + ": expected 0 to " +
                           std::to_string(members.size() - 1));
    const auto num_nodes = network.nodes().size();
    std::vector<std::vector<Rank>> members_on(num_nodes);  // those of processes at their host
    for (std::size_t i = 0; i < members.size(); ++i)
        members_on[network.host_of(members[i]).at()].push_back(Rank{static_cast<std::int32_t>(i)});
    const NodeId first = network.host_of(members[start.at()]);
    // The start leads its host, so that a chain begins with it.
    auto& leaders = members_on[first.at()];
    std::rotate(leaders.begin(), std::find(leaders.begin(), leaders.end(), start), leaders.end());

    std::vector<double> farthest_s;
    if (branch == Branch::deepest_last) farthest_s = farthest_member_s(network, members_on, first);
    const auto key = [&](LinkId l) {
        const Link& link = network.link(l);
        switch (branch) {
            case Branch::listed:
                return 0.0;
            case Branch::fastest_first:
                return -link.bandwidth_bytes_per_s;
            case Branch::slowest_first:
                return link.bandwidth_bytes_per_s;
            case Branch::deepest_last:
                return farthest_s[link.target.at()] + link.latency_s;
        }
        return 0.0;
    };
    std::vector<Rank> order;
    order.reserve(members.size());
    std::vector<bool> seen(num_nodes, false);
    std::vector<NodeId> waiting{first};
    std::vector<std::tuple<double, NodeId>> next;
    while (!waiting.empty() && order.size() < members.size()) {
        const NodeId node = waiting.back();
        waiting.pop_back();
        if (seen[node.at()]) continue;
        seen[node.at()] = true;
        order.insert(order.end(), members_on[node.at()].begin(), members_on[node.at()].end());
        next.clear();
        for (const LinkId l : network.links_from(node))
            if (!seen[network.link(l).target.at()]) next.emplace_back(key(l), network.link(l).target);
        std::sort(next.begin(), next.end(), std::greater<>());  // the first comes off the stack first
        for (const auto& [_, target] : next) waiting.push_back(target);
    }
    return order;
}

}  // namespace hocket::network
