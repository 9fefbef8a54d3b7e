// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/base/index.hpp"
#include "hocket/network/generate.hpp"
#include "hocket/network/network.hpp"

namespace hocket::network {

/// What a simulation of flows needs of a network: which capacities a message from one rank to another crosses, and what
/// they carry. A regular network computes it, so that a million hosts need no tables of nodes and links.
/// Immutable; any number of threads may ask at once.
class Fabric {
public:
    virtual ~Fabric() = default;
    [[nodiscard]] virtual std::int32_t num_ranks() const = 0;
    [[nodiscard]] virtual std::int32_t num_links() const = 0;
    /// Of the shared capacities 0, 1, ...; a full-duplex cable has two, a half-duplex one a single capacity.
    [[nodiscard]] virtual std::int32_t num_capacities() const = 0;
    /// Infinity = unlimited.
    [[nodiscard]] virtual double bandwidth_bytes_per_s(std::int32_t capacity) const = 0;
    [[nodiscard]] virtual std::int32_t capacity_of(LinkId) const = 0;
    [[nodiscard]] virtual double latency_s(LinkId) const = 0;
    /// The directed links from `a` to `b` in order, in `out`, which is cleared. None if both sit on one node.
    virtual void route(Rank a, Rank b, std::vector<LinkId>& out) const = 0;

    // For people who look at the result: nodes by name, and which nodes a link joins.
    struct Ends {
        NodeId source, target;
    };
    [[nodiscard]] virtual std::string name() const = 0;
    [[nodiscard]] virtual std::int32_t num_nodes() const = 0;
    [[nodiscard]] virtual std::string node_name(NodeId) const = 0;
    [[nodiscard]] virtual NodeId node_of(Rank) const = 0;
    [[nodiscard]] virtual Ends ends(LinkId) const = 0;
};

/// A view of a network, which must outlive it.
std::unique_ptr<Fabric> make_fabric(const Network&);

/// A network of `generate`, with the same numbers of links and the same routes, by arithmetic: no tables, and sizes up
/// to the limits of shape.hpp. Only two-clusters, routing "shortest-path" where there are several paths, and "ecmp" on
/// a dragonfly have the tables of a Network behind them.
/// @throws InvalidInput  as `generate`.
std::unique_ptr<Fabric> make_fabric(std::string_view kind_and_shape, const GenerateOptions&);

}  // namespace hocket::network
