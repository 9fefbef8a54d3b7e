// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <mutex>

#include "hocket/base/error.hpp"
#include "hocket/network/distances.hpp"
#include "hocket/network/routing.hpp"

namespace hocket::network {
namespace {

class EcmpRouter final : public Router {
public:
    EcmpRouter(std::span<const Node> nodes, std::span<const Link> links, Routing routing)
        : routing_(std::move(routing)),
          distances_(nodes, links),
          targets_(links.size()),
          links_from_(nodes.size()),
          found_(nodes.size()),
          distances_to_(nodes.size()) {
        for (std::size_t i = 0; i < links.size(); ++i) {
            targets_[i] = links[i].target;
            links_from_[links[i].source.at()].push_back(LinkId{static_cast<std::int32_t>(i)});
        }
    }

    void route(NodeId a, NodeId b, std::vector<LinkId>& out) const override {
        std::call_once(found_[b.at()], [&] { distances_to_[b.at()] = distances_.to(b); });
        const std::vector<std::int32_t>& distance = distances_to_[b.at()];
        base::Random draws = draws_of(*routing_.ecmp_seed, a, b);
        for (NodeId node = a; node != b; node = targets_[out.back().at()]) {
            const auto begins_shortest = [&](LinkId l) {
                const NodeId target = targets_[l.at()];
                return distance[target.at()] + 1 == distance[node.at()] && distances_.may_enter(node, target, b);
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
    Routing routing_;
    Distances distances_;
    std::vector<NodeId> targets_;                  // [link]
    std::vector<std::vector<LinkId>> links_from_;  // [node], by link id
    mutable std::vector<std::once_flag> found_;    // [destination]
    mutable std::vector<std::vector<std::int32_t>> distances_to_;
};

}  // namespace

std::shared_ptr<const Router> make_ecmp_router(std::span<const Node> nodes, std::span<const Link> links,
                                               Routing routing) {
    HOCKET_ASSERT(routing.ecmp_seed, "the hash has a seed");
    return std::make_shared<EcmpRouter>(nodes, links, std::move(routing));
}

}  // namespace hocket::network
