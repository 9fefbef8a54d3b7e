// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <set>
#include <unordered_map>

#include "hocket/base/names.hpp"
#include "hocket/network/routing.hpp"

namespace hocket::network {
namespace {

std::uint64_t key_of(NodeId a, NodeId b) {
    return (static_cast<std::uint64_t>(a.value) << 32U) | static_cast<std::uint32_t>(b.value);
}

class ExplicitRouter final : public Router {
public:
    ExplicitRouter(std::span<const Node> nodes, std::span<const Link> links, Routing routing,
                   std::shared_ptr<const Router> others)
        : routing_(std::move(routing)), others_(std::move(others)), hosts_(nodes.size()) {
        std::unordered_map<std::uint64_t, LinkId> link_between;
        for (std::size_t i = 0; i < links.size(); ++i)
            link_between.emplace(key_of(links[i].source, links[i].target), LinkId{static_cast<std::int32_t>(i)});
        for (std::size_t n = 0; n < nodes.size(); ++n)
            if (nodes[n].kind != NodeKind::process) hosts_[n].host = NodeId{static_cast<std::int32_t>(n)};
        for (std::size_t i = 0; i < links.size(); ++i) {
            const LinkId id{static_cast<std::int32_t>(i)};
            if (nodes[links[i].source.at()].kind == NodeKind::process)
                hosts_[links[i].source.at()].host = links[i].target, hosts_[links[i].source.at()].to_host = id;
            if (nodes[links[i].target.at()].kind == NodeKind::process) hosts_[links[i].target.at()].from_host = id;
        }
        for (std::size_t r = 0; r < routing_.routes.size(); ++r) {
            const std::vector<NodeId>& route = routing_.routes[r];
            const auto name = [&](NodeId n) { return base::quoted(nodes[n.at()].name); };
            const auto refuse = [&](const std::string& why, const std::string& hint) {
                throw InvalidRoute(r, "route " + std::to_string(r + 1) + ": " + why, hint);
            };
            for (const NodeId n : route)
                if (!n.valid() || n.at() >= nodes.size())
                    refuse("node " + std::to_string(n.value) + " is not known", "name nodes of the network");
            if (route.size() < 2) refuse("it has less than two nodes", "name every node from one host to another");
            for (const NodeId end : {route.front(), route.back()})
                if (nodes[end.at()].kind != NodeKind::host)
                    refuse(name(end) + " is not a host", "routes lead from one host to another");
            std::vector<LinkId> path;
            std::set<NodeId> seen{route.front()};
            for (std::size_t i = 1; i < route.size(); ++i) {
                if (!seen.insert(route[i]).second)
                    refuse("it visits " + name(route[i]) + " twice", "leave the loop out");
                const auto link = link_between.find(key_of(route[i - 1], route[i]));
                if (link == link_between.end())
                    refuse("no link joins " + name(route[i - 1]) + " and " + name(route[i]),
                           "name every node on the way, or add the link");
                path.push_back(link->second);
            }
            if (!paths_.emplace(key_of(route.front(), route.back()), std::move(path)).second)
                refuse("it is the second from " + name(route.front()) + " to " + name(route.back()), "keep one");
        }
    }

    void route(NodeId a, NodeId b, std::vector<LinkId>& out) const override {
        const AtHost &from = hosts_[a.at()], &to = hosts_[b.at()];
        const auto path = paths_.find(key_of(from.host, to.host));
        if (path == paths_.end()) return others_->route(a, b, out);
        if (from.to_host.valid()) out.push_back(from.to_host);
        out.insert(out.end(), path->second.begin(), path->second.end());
        if (to.from_host.valid()) out.push_back(to.from_host);
    }

    [[nodiscard]] Routing routing() const override { return routing_; }

private:
    struct AtHost {
        NodeId host;                // itself, or the host beside a process
        LinkId to_host, from_host;  // of a process
    };
    Routing routing_;
    std::shared_ptr<const Router> others_;
    std::vector<AtHost> hosts_;                                     // [node]
    std::unordered_map<std::uint64_t, std::vector<LinkId>> paths_;  // by pair of hosts
};

}  // namespace

std::shared_ptr<const Router> make_explicit_router(std::span<const Node> nodes, std::span<const Link> links,
                                                   Routing routing, std::shared_ptr<const Router> others) {
    return std::make_shared<ExplicitRouter>(nodes, links, std::move(routing), std::move(others));
}

}  // namespace hocket::network
