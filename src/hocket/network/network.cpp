// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/network.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/network/ranges.hpp"
#include "hocket/network/routing.hpp"

namespace hocket {
namespace {

[[noreturn]] void refuse(const std::string& network, const std::string& why) {
    throw InvalidInput("network " + base::quoted(network) + ": " + why);
}

void check_links(const std::string& name, const std::vector<Node>& nodes, const std::vector<Link>& links) {
    const auto num_nodes = static_cast<std::int32_t>(nodes.size());
    std::vector<std::int32_t> first_with(links.size(), -1), num_with(links.size(), 0);
    for (std::size_t i = 0; i < links.size(); ++i) {
        const Link& link = links[i];
        const auto refuse_link = [&](const std::string& why) {
            refuse(name, "link " + std::to_string(i) + ": " + why);
        };
        for (const NodeId end : {link.source, link.target})
            if (end.value < 0 || end.value >= num_nodes)
                refuse_link("node " + std::to_string(end.value) + " is not in 0.." + std::to_string(num_nodes - 1));
        if (link.source == link.target) refuse_link("it joins a node with itself");
        // Only of a wrong link, since a network may have millions.
        const auto where = [&](const char* what) {
            return "network " + base::quoted(name) + ": link " + std::to_string(i) + ": " + what;
        };
        if (!network::is_bandwidth(link.bandwidth_bytes_per_s))
            network::check_bandwidth(link.bandwidth_bytes_per_s, where("bandwidth"));
        if (!network::is_latency(link.latency_s)) network::check_latency(link.latency_s, where("latency"));
        if (link.capacity < 0 || static_cast<std::size_t>(link.capacity) >= links.size())
            refuse_link("capacity " + std::to_string(link.capacity) + " is not in 0.." +
                        std::to_string(links.size() - 1));
        const auto capacity = static_cast<std::size_t>(link.capacity);
        if (++num_with[capacity] == 1) {
            first_with[capacity] = static_cast<std::int32_t>(i);
            continue;
        }
        const Link& other = links[static_cast<std::size_t>(first_with[capacity])];
        if (num_with[capacity] > 2 || other.source != link.target || other.target != link.source ||
            std::not_equal_to<>{}(other.bandwidth_bytes_per_s, link.bandwidth_bytes_per_s))
            refuse_link("only the two directions of one cable, of equal bandwidth, may share a capacity");
    }
}

/// Nodes that can be reached from `start` along (or against) the links, through hosts that relay only.
std::vector<bool> reachable(std::span<const Node> nodes, std::span<const Link> links, NodeId start, bool forward) {
    std::vector<std::int32_t> first(nodes.size() + 1, 0);
    const auto from = [&](const Link& link) { return forward ? link.source : link.target; };
    const auto to = [&](const Link& link) { return forward ? link.target : link.source; };
    for (const Link& link : links) ++first[from(link).at() + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<NodeId> neighbours(links.size());
    std::vector<std::int32_t> next(first.begin(), first.end() - 1);
    for (const Link& link : links) neighbours[static_cast<std::size_t>(next[from(link).at()]++)] = to(link);
    const auto is_process = [&](NodeId n) { return nodes[n.at()].kind == NodeKind::process; };
    std::vector<bool> seen(nodes.size(), false);
    std::vector<NodeId> waiting{start};
    seen[start.at()] = true;
    bool own_host = true;  // of `start`: itself or, next in turn, the only neighbour of a process
    while (!waiting.empty()) {
        const NodeId node = waiting.back();
        waiting.pop_back();
        const bool passes = own_host || nodes[node.at()].relays;
        own_host = own_host && is_process(node);
        for (auto i = first[node.at()]; i < first[node.at() + 1]; ++i) {
            const NodeId neighbour = neighbours[static_cast<std::size_t>(i)];
            if (seen[neighbour.at()] || !(passes || is_process(neighbour))) continue;
            seen[neighbour.at()] = true;
            waiting.push_back(neighbour);
        }
    }
    return seen;
}

/// The ranks without a path from or to the node.
std::vector<std::size_t> lost_ranks(std::span<const Node> nodes, std::span<const Link> links,
                                    std::span<const NodeId> rank_nodes, NodeId start) {
    const std::vector<bool> there = reachable(nodes, links, start, true);
    const std::vector<bool> back = reachable(nodes, links, start, false);
    std::vector<std::size_t> lost;
    for (std::size_t r = 0; r < rank_nodes.size(); ++r)
        if (!there[rank_nodes[r].at()] || !back[rank_nodes[r].at()]) lost.push_back(r);
    return lost;
}

void check_connected(const std::string& name, std::span<const Node> nodes, std::span<const Link> links,
                     std::span<const NodeId> rank_nodes) {
    const auto check_from = [&](std::size_t rank) {
        const std::vector<std::size_t> lost = lost_ranks(nodes, links, rank_nodes, rank_nodes[rank]);
        if (lost.empty()) return;
        const auto named = [&](std::size_t r) {
            return std::to_string(r) + " on " + base::quoted(nodes[rank_nodes[r].at()].name);
        };
        constexpr std::size_t most_named = 8;
        std::string names;
        for (std::size_t i = 0; i < std::min(lost.size(), most_named); ++i)
            names += (i > 0 ? ", " : "") + named(lost[i]);
        if (lost.size() > most_named) names += " and " + std::to_string(lost.size() - most_named) + " more";
        throw InvalidInput("network " + base::quoted(name) + ": no path in both directions between rank " +
                               named(rank) + " and rank" + (lost.size() > 1 ? "s " : " ") + names,
                           "join the parts with a link");
    };
    check_from(0);
    if (std::all_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.relays; })) return;
    // Others need not meet at rank 0, which may not relay. Mostly all meet beside it; if not, each is asked.
    NodeId host = rank_nodes[0];
    if (nodes[host.at()].kind == NodeKind::process)
        host = std::find_if(links.begin(), links.end(), [&](const Link& link) { return link.source == host; })->target;
    for (const Link& link : links)
        if (link.source == host && nodes[link.target.at()].relays &&
            nodes[link.target.at()].kind != NodeKind::process &&
            lost_ranks(nodes, links, rank_nodes, link.target).empty())
            return;
    for (std::size_t r = 1; r < rank_nodes.size(); ++r) check_from(r);
}

/// Whether the cables within the part that contains `start` form a tree with both directions of each cable.
bool forms_tree(std::span<const Node> nodes, std::span<const Link> links, NodeId start) {
    const std::vector<bool> part = reachable(nodes, links, start, true);
    const auto part_size = static_cast<std::size_t>(std::count(part.begin(), part.end(), true));
    std::size_t links_inside = 0;
    for (const Link& link : links) {
        if (part[link.source.at()] != part[link.target.at()]) return false;  // leads in, not out
        if (part[link.source.at()]) ++links_inside;
    }
    if (links_inside != 2 * (part_size - 1)) return false;
    std::vector<std::pair<NodeId, NodeId>> pairs;
    pairs.reserve(links_inside);
    for (const Link& link : links)
        if (part[link.source.at()]) pairs.emplace_back(link.source, link.target);
    std::sort(pairs.begin(), pairs.end());
    if (std::adjacent_find(pairs.begin(), pairs.end()) != pairs.end()) return false;
    // n nodes, connected, 2(n-1) different directed links, each with its opposite: n-1 cables, so a tree.
    return std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
        return std::binary_search(pairs.begin(), pairs.end(), std::pair(pair.second, pair.first));
    });
}

}  // namespace

Network::Network(std::string name, std::vector<Node> nodes, std::vector<Link> links, std::vector<NodeId> rank_nodes,
                 std::shared_ptr<const network::Router> router)
    : name_(std::move(name)),
      nodes_(std::move(nodes)),
      links_(std::move(links)),
      rank_nodes_(std::move(rank_nodes)),
      router_(std::move(router)) {
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
    if (nodes_.size() > most || links_.size() > most || rank_nodes_.size() > most)
        refuse(name_, "it has more than 2^31 parts");
    check_links(name_, nodes_, links_);
    if (rank_nodes_.empty()) refuse(name_, "it has no rank");
    for (const Node& node : nodes_)
        if (node.kind != NodeKind::host && !node.relays)
            refuse(name_, base::quoted(node.name) + " is not a host and must relay");
    for (std::size_t r = 0; r < rank_nodes_.size(); ++r) {
        const NodeId node = rank_nodes_[r];
        if (!node.valid() || node.at() >= nodes_.size())
            refuse(name_, "rank " + std::to_string(r) + " sits on an unknown node");
        if (nodes_[node.at()].kind == NodeKind::switch_)
            refuse(name_, "rank " + std::to_string(r) + " sits on the switch " + base::quoted(nodes_[node.at()].name));
    }
    check_connected(name_, nodes_, links_, rank_nodes_);

    for (const Link& link : links_) num_capacities_ = std::max(num_capacities_, link.capacity + 1);
    first_out_.assign(nodes_.size() + 1, 0);
    for (const Link& link : links_) ++first_out_[link.source.at() + 1];
    std::partial_sum(first_out_.begin(), first_out_.end(), first_out_.begin());
    out_.resize(links_.size());
    std::vector<std::int32_t> next(first_out_.begin(), first_out_.end() - 1);
    for (std::int32_t l = 0; l < static_cast<std::int32_t>(links_.size()); ++l)
        out_[static_cast<std::size_t>(next[link(LinkId{l}).source.at()]++)] = LinkId{l};
    for (std::size_t n = 0; n < nodes_.size(); ++n)
        std::sort(out_.begin() + first_out_[n], out_.begin() + first_out_[n + 1],
                  [&](LinkId a, LinkId b) { return std::tie(link(a).target, a) < std::tie(link(b).target, b); });

    is_tree_ = forms_tree(nodes_, links_, rank_nodes_[0]);
    if (!router_)
        router_ = is_tree_ ? network::make_tree_router(*this, rank_nodes_[0])
                           : network::make_shortest_path_router(nodes_, links_);
}

std::span<const LinkId> Network::links_from(NodeId n) const {
    const auto first = static_cast<std::size_t>(first_out_[n.at()]);
    return std::span(out_).subspan(first, static_cast<std::size_t>(first_out_[n.at() + 1]) - first);
}

NodeId Network::host_of(Rank r) const {
    const NodeId node = node_of(r);
    if (nodes_[node.at()].kind != NodeKind::process) return node;
    for (const LinkId l : links_from(node))
        if (nodes_[link(l).target.at()].kind == NodeKind::host) return link(l).target;
    return node;
}

std::vector<LinkId> Network::route(Rank a, Rank b) const {
    std::vector<LinkId> links;
    route(a, b, links);
    return links;
}

void Network::route(Rank a, Rank b, std::vector<LinkId>& out) const {
    out.clear();
    if (node_of(a) != node_of(b)) router_->route(node_of(a), node_of(b), out);
}

std::vector<Rank> Network::depth_first_order(Rank start) const {
    std::vector<std::vector<Rank>> ranks_on(nodes_.size());
    for (std::int32_t r = 0; r < num_ranks(); ++r) ranks_on[host_of(Rank{r}).at()].push_back(Rank{r});
    std::vector<Rank> order;
    order.reserve(rank_nodes_.size());
    std::vector<bool> seen(nodes_.size(), false);
    std::vector<NodeId> waiting{host_of(start)};
    while (!waiting.empty()) {
        const NodeId node = waiting.back();
        waiting.pop_back();
        if (seen[node.at()]) continue;
        seen[node.at()] = true;
        order.insert(order.end(), ranks_on[node.at()].begin(), ranks_on[node.at()].end());
        const auto out = links_from(node);
        for (std::size_t i = out.size(); i-- > 0;)  // the smallest id comes off the stack first
            if (!seen[link(out[i]).target.at()]) waiting.push_back(link(out[i]).target);
    }
    return order;
}

Network Network::calibrated(network::Calibration calibration) && {
    calibration_ = std::make_shared<const network::Calibration>(std::move(calibration));
    return std::move(*this);
}

Network Network::with_circuits(network::Circuits circuits) && {
    network::check(circuits, *this);
    circuits_ = std::make_shared<const network::Circuits>(std::move(circuits));
    return std::move(*this);
}

bool operator==(const Network& a, const Network& b) {
    const auto same_circuits = [&] {
        return a.circuits_ && b.circuits_ ? *a.circuits_ == *b.circuits_ : a.circuits_ == b.circuits_;
    };
    return a.name_ == b.name_ && a.nodes_ == b.nodes_ && a.links_ == b.links_ && a.rank_nodes_ == b.rank_nodes_ &&
           a.router_->routing() == b.router_->routing() && same_circuits();
}

}  // namespace hocket
