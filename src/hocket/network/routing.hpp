// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hocket/network/network.hpp"

namespace hocket::network {

/// Finds the links between two nodes. Immutable; any number of threads may ask at once.
class Router {
public:
    virtual ~Router() = default;
    /// Appends the directed links from `a` to `b`, in order. Both nodes can be reached from each other.
    virtual void route(NodeId a, NodeId b, std::vector<LinkId>& out) const = 0;
    /// The `[generate]` table without which a network file would not give the same routes; none if nodes and links say all.
    [[nodiscard]] virtual std::optional<std::string> generate_table() const { return std::nullopt; }
};

/// The paths of the tree that contains `root`; every link has its opposite. O(length of the route) per query.
std::shared_ptr<const Router> make_tree_router(const Network&, NodeId root);

/// Paths of fewest links; among equals the one whose next node has the smallest id, at each step. Towards one destination
/// the routes form a tree. The tree of a destination is found by breadth-first search when first needed and kept.
std::shared_ptr<const Router> make_shortest_path_router(const Network&);

}  // namespace hocket::network
