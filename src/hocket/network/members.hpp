// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>

#include "hocket/network/network.hpp"

namespace hocket::network {

/// @throws InvalidInput  if there is no member or more than `most`, or one is not a rank of the network or comes twice.
void check_members(const Network&, std::span<const Rank> members, std::size_t most);

}  // namespace hocket::network
