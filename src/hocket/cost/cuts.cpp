// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/cost/cuts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <set>

namespace hocket::cost {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What all cuts of one network, member list and root share.
struct Setting {
    const Network& network;
    std::vector<std::int64_t> members_on;  // [node]
    NodeId root_node;
    Bursts bursts;
    std::int64_t num_members = 0;
    std::vector<double> from_member_s, to_member_s;  // [node] least latency from, to any member
    std::vector<std::vector<LinkId>> links_to;       // [node]

    Setting(const Network& n, std::span<const Rank> members, Rank root, const Bursts& b)
        : network(n),
          members_on(n.nodes().size(), 0),
          root_node(n.node_of(root)),
          bursts(b),
          links_to(n.nodes().size()) {
        std::vector<NodeId> nodes;
        for (const Rank member : members) {
            nodes.push_back(n.node_of(member));
            ++members_on[nodes.back().at()];
            ++num_members;
        }
        for (std::size_t l = 0; l < n.links().size(); ++l)
            links_to[n.links()[l].target.at()].push_back(LinkId{static_cast<std::int32_t>(l)});
        from_member_s = least_latencies_s(n, nodes, true);
        to_member_s = least_latencies_s(n, nodes, false);
    }

    /// `out` and `in` are all links that leave and enter the part.
    [[nodiscard]] Cut cut(std::int64_t members, bool has_root, const std::vector<LinkId>& out,
                          const std::vector<LinkId>& in) const {
        Cut cut{members, has_root};
        cut.out_latency_s = cut.in_latency_s = infinity;
        std::set<std::int32_t> capacities;
        const auto add = [&](LinkId l, double& bytes_per_s, double& burst_bytes, double& latency_s) {
            const Link& link = network.link(l);
            const double burst = std::isfinite(link.bandwidth_bytes_per_s)
                                     ? std::max(bursts.bytes, bursts.seconds * link.bandwidth_bytes_per_s)
                                     : 0;
            bytes_per_s += link.bandwidth_bytes_per_s;
            burst_bytes += burst;
            if (capacities.insert(link.capacity).second) {
                cut.both_bytes_per_s += link.bandwidth_bytes_per_s;
                cut.both_burst_bytes += burst;
            }
            // A message across the link has come from some member to its source, and goes on to some member.
            latency_s =
                std::min(latency_s, from_member_s[link.source.at()] + link.latency_s + to_member_s[link.target.at()]);
        };
        for (const LinkId l : out) add(l, cut.out_bytes_per_s, cut.out_burst_bytes, cut.out_latency_s);
        for (const LinkId l : in) add(l, cut.in_bytes_per_s, cut.in_burst_bytes, cut.in_latency_s);
        return cut;
    }
};

/// Parts of a tree: for each directed link, what lies behind its source.
class TreeCuts {
public:
    explicit TreeCuts(const Setting& setting)
        : setting_(setting), network_(setting.network), parent_(network_.nodes().size()), below_(setting.members_on) {
        order_.push_back(setting.root_node);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const NodeId node = order_[i];
            for (const LinkId l : network_.links_from(node)) {
                const NodeId next = network_.link(l).target;
                if (next == parent_[node.at()]) continue;
                parent_[next.at()] = node;
                order_.push_back(next);
            }
        }
        // Rooted at the root member's node: the root is behind a link exactly if the link leads away from there.
        for (std::size_t i = order_.size(); i-- > 1;) below_[parent_[order_[i].at()].at()] += below_[order_[i].at()];
    }

    Cuts find() {
        Cuts result;
        for (const NodeId node : order_) {
            std::vector<std::int32_t> division;
            const auto add = [&](const Cut& cut) {
                if (cut.members == 0 || cut.members == setting_.num_members) return;
                division.push_back(static_cast<std::int32_t>(result.cuts.size()));
                result.cuts.push_back(cut);
            };
            std::vector<LinkId> all_out, all_in;
            for (const LinkId out : network_.links_from(node)) {
                const LinkId in = back(out);
                all_out.push_back(out);
                all_in.push_back(in);
                const NodeId neighbour = network_.link(out).target;
                const bool towards_root = neighbour == parent_[node.at()];
                const std::int64_t behind =
                    towards_root ? setting_.num_members - below_[node.at()] : below_[neighbour.at()];
                add(setting_.cut(behind, towards_root, {in}, {out}));
            }
            add(setting_.cut(setting_.members_on[node.at()], node == setting_.root_node, all_out, all_in));
            if (division.size() > 1) result.divisions.push_back(std::move(division));
        }
        return result;
    }

private:
    /// The opposite direction, which every cable of a tree has.
    [[nodiscard]] LinkId back(LinkId l) const {
        const Link& link = network_.link(l);
        const auto links = network_.links_from(link.target);  // by target
        return *std::partition_point(links.begin(), links.end(),
                                     [&](LinkId other) { return network_.link(other).target < link.source; });
    }

    const Setting& setting_;
    const Network& network_;
    std::vector<NodeId> order_;  // breadth first from the root member's node
    std::vector<NodeId> parent_;
    std::vector<std::int64_t> below_;  // [node] members in its subtree
};

/// Each host with its processes, and each process alone.
Cuts host_cuts(const Setting& setting, std::span<const Rank> members) {
    const Network& network = setting.network;
    Cuts result;
    const auto add = [&](const std::set<NodeId>& part) {
        std::vector<LinkId> out, in;
        std::int64_t inside = 0;
        for (const NodeId node : part) {
            inside += setting.members_on[node.at()];
            for (const LinkId l : network.links_from(node))
                if (!part.contains(network.link(l).target)) out.push_back(l);
            for (const LinkId l : setting.links_to[node.at()])
                if (!part.contains(network.link(l).source)) in.push_back(l);
        }
        if (inside == 0 || inside == setting.num_members) return false;
        result.cuts.push_back(setting.cut(inside, part.contains(setting.root_node), out, in));
        return true;
    };
    std::set<NodeId> hosts;
    for (const Rank member : members) hosts.insert(network.host_of(member));
    std::vector<std::int32_t> division;
    for (const NodeId host : hosts) {
        std::set<NodeId> part{host};
        for (const LinkId l : network.links_from(host))
            if (network.node(network.link(l).target).kind == NodeKind::process) part.insert(network.link(l).target);
        if (add(part)) division.push_back(static_cast<std::int32_t>(result.cuts.size()) - 1);
    }
    if (division.size() > 1) result.divisions.push_back(std::move(division));
    for (const Rank member : members)
        if (network.node(network.node_of(member)).kind == NodeKind::process) add({network.node_of(member)});
    return result;
}

}  // namespace

std::vector<double> least_latencies_s(const Network& network, std::span<const NodeId> sources, bool forward) {
    std::vector<std::vector<std::pair<NodeId, double>>> next(network.nodes().size());
    for (const Link& link : network.links())
        next[(forward ? link.source : link.target).at()].emplace_back(forward ? link.target : link.source,
                                                                      link.latency_s);
    std::vector<double> least_s(network.nodes().size(), infinity);
    using Entry = std::pair<double, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (const NodeId source : sources) {
        least_s[source.at()] = 0;
        queue.emplace(0, source);
    }
    while (!queue.empty()) {
        const auto [latency_s, node] = queue.top();
        queue.pop();
        if (latency_s > least_s[node.at()]) continue;
        for (const auto& [target, step_s] : next[node.at()]) {
            if (latency_s + step_s >= least_s[target.at()]) continue;
            least_s[target.at()] = latency_s + step_s;
            queue.emplace(least_s[target.at()], target);
        }
    }
    return least_s;
}

Cuts cuts_of(const Network& network, std::span<const Rank> members, Rank root_member, const Bursts& bursts) {
    const Setting setting(network, members, root_member, bursts);
    Cuts cuts = host_cuts(setting, members);
    if (!network.is_tree()) return cuts;
    Cuts of_tree = TreeCuts(setting).find();
    const auto before = static_cast<std::int32_t>(cuts.cuts.size());
    cuts.cuts.insert(cuts.cuts.end(), of_tree.cuts.begin(), of_tree.cuts.end());
    for (std::vector<std::int32_t>& division : of_tree.divisions) {
        for (std::int32_t& part : division) part += before;
        cuts.divisions.push_back(std::move(division));
    }
    return cuts;
}

}  // namespace hocket::cost
