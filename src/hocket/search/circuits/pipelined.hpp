// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hocket/base/random.hpp"
#include "hocket/circuits/circuit_schedule.hpp"
#include "hocket/search/circuits/graphs.hpp"

/// Broadcasts of several segments from node 0 through one configuration, in rounds of one message each.
namespace hocket::search {

constexpr std::int32_t most_segments = 64;  ///< of round_broadcast

struct RoundMessage {
    std::int32_t round, from, to, segment;
};

struct RoundRules {
    bool send_on_all = false;  ///< a node sends on all its circuits in a round; otherwise on one of them
    bool receive_one = false;  ///< and receives at most one message
};

/// List schedule on a connected graph: node 0 sends a new segment in each round, and the newest segment that somebody
/// lacks goes first. Ties are broken by chance. None if it takes more than `most_rounds`.
std::optional<std::vector<RoundMessage>> round_broadcast(const Graph&, std::int32_t segments, RoundRules,
                                                         std::int32_t most_rounds, base::Random&);

/// On a ring of an even number p of nodes, in segments - 1 + p / 2 rounds, the fewest with two ports and one message of
/// a node at a time. The proof is in pipelined.cpp. No node receives two messages in a round.
std::vector<RoundMessage> ring_broadcast(std::int32_t p, std::int32_t segments);

/// The messages in the order of rounds, in one configuration.
circuits::Draft draft_of(const std::vector<RoundMessage>&, double segment_bytes);

}  // namespace hocket::search
