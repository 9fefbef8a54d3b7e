// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/base/random.hpp"
#include "hocket/network/network.hpp"

namespace hocket::network {

/// What a network file has of routes beyond nodes and links; nothing = the path of a tree, elsewhere the shortest.
struct Routing {
    /// The `[generate]` table that gives nodes, links and routes; empty = none.
    std::string generate_table;
    std::optional<std::int64_t> ecmp_seed;  ///< >= 0; none = shortest paths
    /// Explicit routes: nodes from one host to another. Pairs of hosts without one take the other routing.
    std::vector<std::vector<NodeId>> routes;
    bool operator==(const Routing&) const = default;
};

/// Finds the links between two nodes. Immutable; any number of threads may ask at once.
class Router {
public:
    virtual ~Router() = default;
    /// Appends the directed links from `a` to `b`, in order. Both nodes can be reached from each other.
    virtual void route(NodeId a, NodeId b, std::vector<LinkId>& out) const = 0;
    /// What a network file must contain to get these routes.
    [[nodiscard]] virtual Routing routing() const { return {}; }
};

/// The paths of the tree that contains `root`; every link has its opposite. O(length of the route) per query.
std::shared_ptr<const Router> make_tree_router(const Network&, NodeId root);

/// Paths of fewest links; among equals the one whose next node has the smallest id, at each step. Towards one
/// destination the routes form a tree, and none passes a host that does not relay. The tree of a destination is found
/// by breadth-first search when first needed and kept.
std::shared_ptr<const Router> make_shortest_path_router(std::span<const Node>, std::span<const Link>, Routing = {});

/// Equal-cost multipath: among the paths of fewest links, each pair of nodes has one by a hash of the pair and
/// `ecmp_seed`, as switches do that hash the addresses of a packet [Hopps00]: at the k-th link the k-th number of
/// `draws_of` chooses among the links that begin a shortest path, in order of their ids.
std::shared_ptr<const Router> make_ecmp_router(std::span<const Node>, std::span<const Link>, Routing);
/// The numbers that choose the links from `a` to `b`: the same pair has the same route at any time.
inline base::Random draws_of(std::int64_t seed, NodeId a, NodeId b) {
    const auto pair = (static_cast<std::uint64_t>(a.value) << 32U) | static_cast<std::uint32_t>(b.value);
    return base::Random(base::Random(static_cast<std::uint64_t>(seed)).bits() ^ base::Random(pair).bits());
}

/// A route that is not a path from one host to another.
class InvalidRoute : public InvalidInput {
public:
    InvalidRoute(std::size_t number, const std::string& what, const std::string& hint)
        : InvalidInput(what, hint), index(number) {}
    std::size_t index;  ///< into Routing::routes
};

/// `routing.routes`, and `others` between hosts that have none. A process takes the routes of its host.
/// @throws InvalidRoute  if a route visits a node twice, is of less than two nodes, joins nodes without a link or
///         others than hosts, or is the second of its pair.
std::shared_ptr<const Router> make_explicit_router(std::span<const Node>, std::span<const Link>, Routing routing,
                                                   std::shared_ptr<const Router> others);

}  // namespace hocket::network
