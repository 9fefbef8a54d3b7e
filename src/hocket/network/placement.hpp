// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "hocket/network/network.hpp"

/// Where the ranks of a job sit on the network of a cluster.
namespace hocket::network {

/// The host that a machine means by its own name. Names that differ only in a domain ("n12", "n12.cluster.org") mean
/// the same host, unless several of the network do.
std::optional<NodeId> find_host(const Network&, std::string_view machine);

/// The same network with rank r on `hosts[r]`. Ranks of a host whose processes have links of their own take these in
/// turn. Circuits are left out.
/// @throws InvalidInput  if there is no rank, or one is not on a host
Network placed(const Network&, std::span<const NodeId> hosts);

}  // namespace hocket::network
