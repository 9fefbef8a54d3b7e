// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hocket/base/index.hpp"
#include "hocket/network/calibration.hpp"
#include "hocket/network/circuits.hpp"

namespace hocket {

enum class NodeKind : std::uint8_t {
    host,     ///< carries ranks and may relay
    switch_,  ///< only relays
    process,  ///< one rank behind its own memory link; made by the reader for hosts with several ranks
};

struct Node {
    std::string name;
    NodeKind kind = NodeKind::host;
    bool relays = true;  ///< false: a host that forwards no messages of others, such as one with several network cards
    bool operator==(const Node&) const = default;
};

/// A directed link. A full-duplex cable is two links; a half-duplex one is two links that share one bandwidth.
struct Link {
    NodeId source;
    NodeId target;
    double bandwidth_bytes_per_s;  ///< > 0; infinity = unlimited
    double latency_s;              ///< >= 0, wire and switch delay; excludes serialisation
    std::int32_t
        capacity;  ///< index of the shared capacity: equal for both directions of a half-duplex cable, else unique
    bool operator==(const Link&) const = default;
};

namespace network {
class Router;
}

/// Nodes, links and where each rank sits; fixed after construction. Shared between threads without locks.
class Network {
public:
    /// `rank_nodes[r]` is the node of rank r (kind host or process). Without a `router`, routes on a tree are its paths
    /// and elsewhere the shortest paths (see network/routing.hpp), none of them through a host that does not relay.
    /// @throws InvalidInput  if there is no rank, a link names an unknown node, joins a node with itself, has a
    ///         bandwidth or a latency out of range (network/ranges.hpp), a capacity is shared by other than the two
    ///         directions of one cable, a rank sits on a switch, a switch does not relay, or two ranks cannot reach
    ///         each other.
    Network(std::string name, std::vector<Node> nodes, std::vector<Link> links, std::vector<NodeId> rank_nodes,
            std::shared_ptr<const network::Router> router = nullptr);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
    [[nodiscard]] std::span<const Link> links() const { return links_; }
    [[nodiscard]] const Node& node(NodeId n) const { return nodes_[n.at()]; }
    [[nodiscard]] const Link& link(LinkId l) const { return links_[l.at()]; }
    [[nodiscard]] std::int32_t num_ranks() const { return static_cast<std::int32_t>(rank_nodes_.size()); }
    [[nodiscard]] NodeId node_of(Rank r) const { return rank_nodes_[r.at()]; }
    [[nodiscard]] std::span<const NodeId> rank_nodes() const { return rank_nodes_; }
    /// The host that rank r sits on: its node, or the host beside its process node.
    [[nodiscard]] NodeId host_of(Rank r) const;
    /// Links that start at `n`, by target id, then link id.
    [[nodiscard]] std::span<const LinkId> links_from(NodeId n) const;
    [[nodiscard]] std::int32_t num_capacities() const { return num_capacities_; }

    /// True if the cables that the ranks can reach form a tree (so that a cut of one cable separates the network).
    [[nodiscard]] bool is_tree() const { return is_tree_; }

    /// The directed links from `a` to `b` in order; empty if both sit on the same node. O(length).
    [[nodiscard]] std::vector<LinkId> route(Rank a, Rank b) const;
    /// The same, appended to `out` (which is cleared): no allocation in the steady state.
    void route(Rank a, Rank b, std::vector<LinkId>& out) const;
    [[nodiscard]] const network::Router& router() const { return *router_; }
    [[nodiscard]] const std::shared_ptr<const network::Router>& shared_router() const { return router_; }

    /// Hosts in the order of a depth-first walk of the network from `start`'s host, smaller node ids first; ranks of
    /// one host in rank order. On a tree, a chain in this order crosses every directed link at most once.
    [[nodiscard]] std::vector<Rank> depth_first_order(Rank start) const;

    /// What its file has on how it was measured; null = nothing. Copies share it.
    [[nodiscard]] const network::Calibration* calibration() const { return calibration_.get(); }
    /// The same network with a calibration.
    [[nodiscard]] Network calibrated(network::Calibration) &&;

    /// What of it is switched by circuits; null = nothing. Its routes are as if all circuits were up. Copies share it.
    [[nodiscard]] const network::Circuits* circuits() const { return circuits_.get(); }
    /// The same network with circuits.
    /// @throws InvalidInput  if they name what is not there, or hosts that no circuit can join
    [[nodiscard]] Network with_circuits(network::Circuits) &&;

    /// The same name, nodes, links, ranks, routes and circuits; how they were measured makes no difference.
    friend bool operator==(const Network&, const Network&);

private:
    std::string name_;
    std::vector<Node> nodes_;
    std::vector<Link> links_;
    std::vector<NodeId> rank_nodes_;
    std::vector<std::int32_t> first_out_;  // CSR over nodes
    std::vector<LinkId> out_;
    std::int32_t num_capacities_ = 0;
    bool is_tree_ = false;
    std::shared_ptr<const network::Router> router_;
    std::shared_ptr<const network::Calibration> calibration_;
    std::shared_ptr<const network::Circuits> circuits_;
};

}  // namespace hocket
