// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <limits>
#include <mutex>

#include "hocket/base/error.hpp"
#include "hocket/network/routing.hpp"

namespace hocket::network {
namespace {

class EcmpRouter final : public Router {
public:
    EcmpRouter(std::size_t num_nodes, std::span<const Link> links, Routing routing)
        : routing_(std::move(routing)),
          sources_(links.size()),
          targets_(links.size()),
          links_from_(num_nodes),
          links_to_(num_nodes),
          found_(num_nodes),
          distances_(num_nodes) {
        for (std::size_t i = 0; i < links.size(); ++i) {
            sources_[i] = links[i].source;
            targets_[i] = links[i].target;
            links_from_[sources_[i].at()].push_back(LinkId{static_cast<std::int32_t>(i)});
            links_to_[targets_[i].at()].push_back(LinkId{static_cast<std::int32_t>(i)});
        }
    }

    void route(NodeId a, NodeId b, std::vector<LinkId>& out) const override {
        std::call_once(found_[b.at()], [&] { distances_[b.at()] = distances_to(b); });
        const std::vector<std::int32_t>& distance = distances_[b.at()];
        base::Random draws = draws_of(*routing_.ecmp_seed, a, b);
        for (NodeId node = a; node != b; node = targets_[out.back().at()]) {
            const auto begins_shortest = [&](LinkId l) {
                return distance[targets_[l.at()].at()] + 1 == distance[node.at()];
            };
            std::int64_t choices = 0;
            for (const LinkId l : links_from_[node.at()])
                if (begins_shortest(l)) ++choices;
            HOCKET_ASSERT(choices > 0, "routes are asked for between nodes that reach each other only");
            std::int64_t choice = draws.below(choices);
            for (const LinkId l : links_from_[node.at()])
                if (begins_shortest(l) && choice-- == 0) {
                    out.push_back(l);
                    break;
                }
        }
    }

    [[nodiscard]] Routing routing() const override { return routing_; }

private:
    /// Links on a shortest path from each node; far beyond any where there is none.
    [[nodiscard]] std::vector<std::int32_t> distances_to(NodeId destination) const {
        constexpr std::int32_t far = std::numeric_limits<std::int32_t>::max() - 1;
        std::vector<std::int32_t> distance(links_to_.size(), far);
        std::vector<NodeId> queue{destination};
        distance[destination.at()] = 0;
        for (std::size_t head = 0; head < queue.size(); ++head) {
            const NodeId node = queue[head];
            for (const LinkId l : links_to_[node.at()]) {
                const NodeId source = sources_[l.at()];
                if (distance[source.at()] != far) continue;
                distance[source.at()] = distance[node.at()] + 1;
                queue.push_back(source);
            }
        }
        return distance;
    }

    Routing routing_;
    std::vector<NodeId> sources_, targets_;                   // [link]
    std::vector<std::vector<LinkId>> links_from_, links_to_;  // [node], by link id
    mutable std::vector<std::once_flag> found_;               // [destination]
    mutable std::vector<std::vector<std::int32_t>> distances_;
};

}  // namespace

std::shared_ptr<const Router> make_ecmp_router(std::size_t num_nodes, std::span<const Link> links, Routing routing) {
    HOCKET_ASSERT(routing.ecmp_seed, "the hash has a seed");
    return std::make_shared<EcmpRouter>(num_nodes, links, std::move(routing));
}

}  // namespace hocket::network
