// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <mutex>

#include "hocket/base/error.hpp"
#include "hocket/network/distances.hpp"
#include "hocket/network/routing.hpp"

namespace hocket::network {
namespace {

class ShortestPathRouter final : public Router {
public:
    ShortestPathRouter(std::span<const Node> nodes, std::span<const Link> links, Routing routing)
        : routing_(std::move(routing)),
          links_(links.begin(), links.end()),
          distances_(nodes, links),
          found_(nodes.size()),
          next_(nodes.size()) {}

    void route(NodeId a, NodeId b, std::vector<LinkId>& out) const override {
        std::call_once(found_[b.at()], [&] { next_[b.at()] = towards(b); });
        for (NodeId node = a; node != b; node = links_[out.back().at()].target) {
            const LinkId next = next_[b.at()][node.at()];
            HOCKET_ASSERT(next.valid(), "routes are asked for between nodes that reach each other only");
            out.push_back(next);
        }
    }

    [[nodiscard]] Routing routing() const override { return routing_; }

private:
    /// The first link from each node on its way to `destination`.
    [[nodiscard]] std::vector<LinkId> towards(NodeId destination) const {
        const std::vector<std::int32_t> distance = distances_.to(destination);
        std::vector<LinkId> next(distance.size());
        for (std::size_t i = 0; i < links_.size(); ++i) {
            const auto [source, target] = std::pair(links_[i].source, links_[i].target);
            if (distance[target.at()] + 1 != distance[source.at()] ||
                !distances_.may_enter(source, target, destination))
                continue;
            LinkId& best = next[source.at()];
            if (!best.valid() || target < links_[best.at()].target) best = LinkId{static_cast<std::int32_t>(i)};
        }
        return next;
    }

    Routing routing_;
    std::vector<Link> links_;
    Distances distances_;
    mutable std::vector<std::once_flag> found_;  // [destination]
    mutable std::vector<std::vector<LinkId>> next_;
};

}  // namespace

std::shared_ptr<const Router> make_shortest_path_router(std::span<const Node> nodes, std::span<const Link> links,
                                                        Routing routing) {
    return std::make_shared<ShortestPathRouter>(nodes, links, std::move(routing));
}

}  // namespace hocket::network
