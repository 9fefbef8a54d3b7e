// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <limits>
#include <mutex>

#include "hocket/base/error.hpp"
#include "hocket/network/routing.hpp"

namespace hocket::network {
namespace {

class ShortestPathRouter final : public Router {
public:
    ShortestPathRouter(std::size_t num_nodes, std::span<const Link> links, Routing routing)
        : routing_(std::move(routing)),
          links_(links.begin(), links.end()),
          links_to_(num_nodes),
          found_(num_nodes),
          next_(num_nodes) {
        for (std::size_t i = 0; i < links_.size(); ++i)
            links_to_[links_[i].target.at()].push_back(LinkId{static_cast<std::int32_t>(i)});
    }

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
        std::vector<LinkId> next(links_to_.size());
        std::vector<std::int32_t> distance(links_to_.size(), std::numeric_limits<std::int32_t>::max());
        std::vector<NodeId> queue{destination};
        distance[destination.at()] = 0;
        for (std::size_t head = 0; head < queue.size(); ++head) {
            const NodeId node = queue[head];
            for (const LinkId l : links_to_[node.at()]) {
                const NodeId source = links_[l.at()].source;
                const std::int32_t through_node = distance[node.at()] + 1;
                if (through_node > distance[source.at()]) continue;
                if (through_node < distance[source.at()]) {
                    distance[source.at()] = through_node;
                    queue.push_back(source);
                    next[source.at()] = l;
                } else if (node < links_[next[source.at()].at()].target) {
                    next[source.at()] = l;
                }
            }
        }
        return next;
    }

    Routing routing_;
    std::vector<Link> links_;
    std::vector<std::vector<LinkId>> links_to_;  // by link id
    mutable std::vector<std::once_flag> found_;  // [destination]
    mutable std::vector<std::vector<LinkId>> next_;
};

}  // namespace

std::shared_ptr<const Router> make_shortest_path_router(std::size_t num_nodes, std::span<const Link> links,
                                                        Routing routing) {
    return std::make_shared<ShortestPathRouter>(num_nodes, links, std::move(routing));
}

}  // namespace hocket::network
