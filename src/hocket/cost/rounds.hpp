// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/cost/cost_model.hpp"
#include "hocket/cost/sums.hpp"
#include "hocket/network/network.hpp"
#include "hocket/schedule/schedule.hpp"

/// What a schedule takes, without a simulation: its messages in rounds, and what the busiest link carries in each.
namespace hocket::cost {

/// A message goes in the round after the last of those that its sender waits for. So the messages of a round are under
/// way together. Rounds of the same messages, one after another, are kept once.
struct Rounds {
    struct Message {
        std::int32_t source, target;
        double blocks;      ///< size in blocks of the collective (see Schedule), one segment each
        bool reduces;       ///< the receiver combines it
        double copies = 1;  ///< at the same time, between ranks that are placed alike
        bool operator==(const Message&) const = default;
    };
    struct Round {
        std::vector<Message> messages;  ///< by source, then in the order in which it sends them
        std::int64_t times;
    };
    std::int32_t num_ranks = 0;
    std::vector<Round> rounds;
};

/// `parts` are those of all ranks, each right, of a schedule with so many segments in a block.
Rounds rounds_of(std::span<const RankSchedule> parts, std::int32_t segments);

/// The time of calls of any size, of one schedule on one network:
///
///   T(m, 1) = sum over rounds (o + L + m * B)
///   T(m, k) = T(m / k, 1) + (k - 1) * max(O, m / k * B_all)      in k segments that follow each other
///
/// o is the overhead of the sends of the rank that has most of them in the round, and of the receives of the one that
/// has most, and L the longest latency of a route; B is the largest sum of bytes over bandwidth on a link, and of bytes
/// that a rank combines, for a block of one byte. O is the overhead of all messages of a rank, and B_all is B over all
/// rounds, since segments keep all of them busy [Patarasuk08]. Where all ranks share cores, o and O are at least the
/// overheads of all ranks over the number of cores. From the rendezvous size on a message asks its receiver
/// first, for 2 L and its overheads.
class RoundTimes {
public:
    /// A message's answer waits behind the bytes of the message that its receiver sends to it meanwhile. Two ranks that
    /// send each other messages above the rendezvous size so take turns. Measured on a star of 200 Mbit/s: recursive
    /// doubling of 1 MB takes 70 ms with Open MPI, and 38 ms where the limit is raised.
    static constexpr double turns = 2;

    /// `ranks[v]` is the rank on the network of the schedule's rank v.
    RoundTimes(const Rounds&, const Network&, const CostModel&, std::span<const Rank> ranks);
    /// The same in room that is there already, for all links of the network.
    RoundTimes(const Rounds&, const Network&, const CostModel&, std::span<const Rank> ranks, LinkSums& room);

    /// Of a call whose blocks have so many bytes, in `segments` >= 1. With `takes_turns`, pairs above the rendezvous
    /// size do, else they are taken to send both ways at once.
    [[nodiscard]] double seconds(double block_bytes, std::int32_t segments, bool takes_turns) const;

    /// Whether a message of such a call asks its receiver first.
    [[nodiscard]] bool waits(double block_bytes, std::int32_t segments) const;

    bool operator==(const RoundTimes&) const = default;

private:
    struct Term {
        double times, fixed_s, handshake_s, s_per_byte;
        double largest;       // message, in blocks
        double largest_pair;  // the same of two ranks that send each other one; 0 = none

        bool operator==(const Term&) const = default;
        [[nodiscard]] bool takes_as_long_as(Term other) const {
            other.times = times;
            return *this == other;
        }
    };
    std::vector<Term> terms_;
    double stage_fixed_s_ = 0, stage_s_per_byte_ = 0;
    double rendezvous_bytes_ = 0;
};

}  // namespace hocket::cost
