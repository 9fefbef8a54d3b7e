// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>

#include "hocket/cost/cuts.hpp"
#include "hocket/network/network.hpp"
#include "hocket/schedule/schedule.hpp"

namespace hocket::cost {

/// A time in seconds that no schedule of the collective among `members` (network ranks in communicator order) can beat
/// on this network, whatever its algorithm, segments and order: from the bytes that must cross each cut of the network
/// and the latencies that news needs. `bytes` as in lower(); `root` is a position in `members`; `bursts` pass each link
/// at once.
///
/// It holds where links are shared (not for Sharing::none), and for schedules that move chunks whole, as they came or
/// reduced. 0 for one member, and for 0 bytes except of a barrier.
/// @throws InvalidInput  if a member is not a rank of the network or comes twice, or root, bytes or bursts are out of
/// range.
double wire_limit_s(Collective, const Network&, std::span<const Rank> members, std::int64_t bytes, Rank root = Rank{0},
                    const Bursts& bursts = {});

}  // namespace hocket::cost
