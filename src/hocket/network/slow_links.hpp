// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/network/network.hpp"

namespace hocket::network {

/// Positions in `order` whose message from the rank before takes as long per byte as the slowest (to 1 %): the starts
/// of algorithm "uneven_ring". None where that is a single one, or all: then there is nothing to spare.
std::vector<std::int32_t> behind_slow_links(const Network&, std::span<const Rank> members, std::span<const Rank> order);

/// Positions in `order` whose message from the rank before passes more links than the fewest of such messages: where
/// the ranks of another host or switch begin, if the order follows the network. None where there are none, or one.
std::vector<std::int32_t> behind_longer_routes(const Network&, std::span<const Rank> members,
                                               std::span<const Rank> order);

}  // namespace hocket::network
