// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/network/blueprint.hpp"

/// Regular networks.
namespace hocket::network {

struct GenerateOptions {
    double bandwidth_bytes_per_s = 125e6;  ///< of every cable, each direction (1 Gbit/s)
    double latency_s = 0;                  ///< of every cable
    // Of two-clusters only; each is as above unless given.
    std::optional<double> second_bandwidth_bytes_per_s{};  ///< host cables of the second group
    std::optional<double> trunk_bandwidth_bytes_per_s{};   ///< the cable between the groups
    std::optional<double> trunk_latency_s{};
    /// "d-mod-k", "dimension-order", "minimal", "shortest-path", "ecmp", as the kind has them; empty = its first.
    std::string routing{};
    std::optional<std::int64_t> seed{};  ///< of ecmp alone, >= 0; 1 unless given
};

/// | kind and shape          | what the numbers are                                 | routing         | described in  |
/// |-------------------------|------------------------------------------------------|-----------------|---------------|
/// | star:16                 | hosts                                                | the only path   | tree.cpp      |
/// | two-clusters:4+4        | hosts of both groups                                 | the only path   | below         |
/// | tree:4x4                | children of each level, from the root down           | the only path   | tree.cpp      |
/// | fat-tree:8x8x16         | children of each level, from the hosts up            | d-mod-k         | fat_tree.cpp  |
/// | fat-tree:8x8x16/4x2     | the same, tapered: behind "/" cables up of a switch  | d-mod-k         | fat_tree.cpp  |
/// | torus:4x4x4, mesh:4x4x4 | hosts along each dimension                           | dimension-order | grid.cpp      |
/// | hypercube:10            | dimensions                                           | dimension-order | grid.cpp      |
/// | dragonfly:4,8,4[,33]    | hosts of a router, routers of a group, global        | minimal         | dragonfly.cpp |
/// |                         | links of a router, groups                            |                 |               |
///
/// Where there are several paths, "shortest-path" and "ecmp" (routing.hpp) can be chosen as well.
/// @throws InvalidInput  naming the accepted kinds, the form of the shape, or the limit on the size.
Blueprint generate(std::string_view kind_and_shape, const GenerateOptions& = {});

/// build(generate(...)) in half the memory where the routes are arithmetic. A `name` replaces the kind and shape.
Network generate_network(std::string_view kind_and_shape, const GenerateOptions& = {}, std::string name = {});

/// Hosts h0, h1, ... around the switch s0.
Blueprint star(std::int32_t hosts, const GenerateOptions&);
/// Hosts a0, a1, ... on switch s0, hosts b0, b1, ... on switch s1, and the trunk s0-s1.
Blueprint two_clusters(std::int32_t first_hosts, std::int32_t second_hosts, const GenerateOptions&);

/// @throws InvalidInput  if a bandwidth or latency is out of range, or one of two-clusters is given without
/// `has_trunk`.
void check(const GenerateOptions&, bool has_trunk);

}  // namespace hocket::network
