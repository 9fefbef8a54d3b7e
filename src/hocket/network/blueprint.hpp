// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hocket/network/network.hpp"
#include "hocket/network/routing.hpp"

namespace hocket::network {

/// What a network file contains: hosts with their ranks, switches and cables. Readers and generators make it, build()
/// turns it into a Network. To change a network, build a changed Blueprint.
struct Blueprint {
    struct Node {
        std::string name;
        NodeKind kind = NodeKind::host;  ///< host or switch_
        std::int32_t ranks = 1;          ///< hosts: places for ranks; switches: not used
        double memory_bandwidth_bytes_per_s = std::numeric_limits<double>::infinity();  ///< only with ranks > 1
        double memory_latency_s = 0;
        bool relays = true;  ///< hosts
        bool operator==(const Node&) const = default;
    };
    struct Cable {
        std::int32_t first, second;  ///< indices into nodes
        double bandwidth_bytes_per_s, bandwidth_back_bytes_per_s;
        double latency_s = 0, latency_back_s = 0;
        bool half_duplex = false;
        bool operator==(const Cable&) const = default;
    };
    std::string name;
    std::vector<Node> nodes;
    std::vector<Cable> cables;
    std::vector<std::int32_t> placement;   ///< [rank] node; empty = host by host, all places filled
    Routing routing;                       ///< of what has no `router`
    std::shared_ptr<const Router> router;  ///< of these nodes and cables; none = by `routing`
    std::optional<Circuits> circuits = {};
};

/// A network larger than this is refused when it is read or generated, before it takes minutes and fills the memory. A
/// fat tree of a million hosts is below; a Fabric (fabric.hpp) may be larger.
inline constexpr std::int64_t max_nodes = std::int64_t{1} << 21U;
inline constexpr std::int64_t max_cables = std::int64_t{1} << 22U;

/// The hosts of the ranks, host by host, or in turn ("cyclic"): first the first rank of every host, then the second ...
std::vector<std::int32_t> block_placement(const Blueprint&);
std::vector<std::int32_t> cyclic_placement(const Blueprint&);

/// @throws InvalidInput  if no network file can express it: names that are empty or occur twice, unknown nodes, a
///         second cable between two nodes. build() checks the rest.
void check(const Blueprint&);

/// The same without a `[generate]` table, so that nodes and cables can be changed, which the table describes. The
/// routes that it stands for are listed instead. @throws InvalidInput  if there are more than max_listed_hosts hosts
Blueprint without_generate_table(Blueprint);
inline constexpr std::size_t max_listed_hosts = 1024;

/// Cable i becomes the links 2i (first to second) and 2i+1. A host with several ranks gets one process node for each,
/// named "a0/0", "a0/1" ..., behind all other nodes, and their cables behind all others; a host's ranks take its
/// process nodes in rank order.
/// @throws InvalidInput  as Network does
Network build(const Blueprint&);

/// The inverse of build(). @throws InvalidInput  if the network has links that are not cables, which build() never
/// makes.
Blueprint blueprint_of(const Network&);

}  // namespace hocket::network
