// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hocket/network/network.hpp"

namespace hocket::search {

/// Which neighbours in an order of ranks send to each other, all at once.
enum class Walk : std::uint8_t {
    ring,      ///< each to the next, the last to the first
    chain,     ///< each to the next
    backward,  ///< each to the one before it: a chain reversed, as a reduction takes it
};
/// "ring", "chain", "backward". @throws InvalidInput  listing these.
Walk walk_from(std::string_view name);

/// How the messages of a walk share the network.
struct Congestion {
    std::int32_t most_flows = 0;    ///< on a shared capacity: a directed link, or a half-duplex cable
    double busiest_s_per_byte = 0;  ///< largest sum of flows / bandwidth: a rank passes on no more than one over it
    double longest_latency_s = 0;   ///< of a message
    double total_latency_s = 0;     ///< of all messages
};

using Orders = std::span<const std::vector<Rank>>;

/// `order` is a permutation of 0 .. members.size()-1, positions in `members`. `others` are walked at the same time.
Congestion congestion_of(const Network&, std::span<const Rank> members, std::span<const Rank> order, Walk,
                         Orders others = {});

struct OrderOptions {
    std::uint64_t seed = 1;
    std::int64_t max_moves = 50'000;  ///< tried in all
};

struct FoundOrder {
    std::vector<Rank> order;
    Congestion congestion;
    std::int64_t num_moves = 0;  ///< tried; 0 = the order it began with has no congestion
};

/// An order of little congestion that begins as `start` does: local search by moving a rank, reversing a stretch, and
/// exchanging two. `others` are walked at the same time. The same seed gives the same order.
FoundOrder improve_order(const Network&, std::span<const Rank> members, std::span<const Rank> start, Walk,
                         const OrderOptions& = {}, Orders others = {});

}  // namespace hocket::search
