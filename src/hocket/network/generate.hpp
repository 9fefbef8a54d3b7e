// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>
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
};

/// "star:16", "two-clusters:4+4", "tree:4x4", "fat-tree:8x8x16": see the functions below.
/// @throws InvalidInput  naming the accepted kinds, the form of the shape, or the limit on the size.
Blueprint generate(std::string_view kind_and_shape, const GenerateOptions& = {});

/// Hosts h0, h1, ... around the switch s0.
Blueprint star(std::int32_t hosts, const GenerateOptions&);
/// Hosts a0, a1, ... on switch s0, hosts b0, b1, ... on switch s1, and the trunk s0-s1.
Blueprint two_clusters(std::int32_t first_hosts, std::int32_t second_hosts, const GenerateOptions&);
/// A root switch with widths[0] children, each with widths[1] children, ...; the last level are the hosts.
Blueprint tree(const std::vector<std::int32_t>& widths, const GenerateOptions&);
/// A fat tree of full bisection with h = widths.size() levels of switches: widths[0] hosts on each switch of the first
/// level, and widths[l] children on each switch of level l+1. A switch has as many cables up as down. 8x8x16 has three
/// levels of 16-port switches, 1024 hosts and 3072 cables.
Blueprint fat_tree(const std::vector<std::int32_t>& widths, const GenerateOptions&);

}  // namespace hocket::network
