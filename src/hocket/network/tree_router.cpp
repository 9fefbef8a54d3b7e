// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/routing.hpp"

namespace hocket::network {
namespace {

class TreeRouter final : public Router {
public:
    TreeRouter(const Network& network, NodeId root) : nodes_(network.nodes().size()) {
        std::vector<NodeId> waiting{root};
        while (!waiting.empty()) {
            const NodeId node = waiting.back();
            waiting.pop_back();
            for (const LinkId l : network.links_from(node)) {
                const NodeId next = network.link(l).target;
                if (next == nodes_[node.at()].parent) {
                    nodes_[node.at()].up = l;
                    continue;
                }
                nodes_[next.at()] = {node, LinkId{}, l, nodes_[node.at()].depth + 1};
                waiting.push_back(next);
            }
        }
    }

    void route(NodeId a, NodeId b, std::vector<LinkId>& out) const override {
        std::size_t down_links = 0;
        for (NodeId x = a, y = b; x != y;) {
            if (nodes_[x.at()].depth >= nodes_[y.at()].depth) {
                out.push_back(nodes_[x.at()].up);
                x = nodes_[x.at()].parent;
            } else {
                ++down_links;
                y = nodes_[y.at()].parent;
            }
        }
        // The way down was walked from its end; it is written backwards behind the way up.
        out.resize(out.size() + down_links);
        for (std::size_t i = out.size(); down_links > 0; --down_links) {
            out[--i] = nodes_[b.at()].down;
            b = nodes_[b.at()].parent;
        }
    }

private:
    struct InTree {
        NodeId parent;
        LinkId up;    ///< to the parent
        LinkId down;  ///< from the parent
        std::int32_t depth = 0;
    };
    std::vector<InTree> nodes_;
};

}  // namespace

std::shared_ptr<const Router> make_tree_router(const Network& network, NodeId root) {
    return std::make_shared<TreeRouter>(network, root);
}

}  // namespace hocket::network
