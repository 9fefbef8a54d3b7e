// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hocket/search/state.hpp"

namespace hocket::search {

/// A lower bound on the end of every broadcast that begins as a State does.
///
/// At each node, what hangs on each of its cables is a unit, and the bound counts units that have the message somewhere
/// inside: how fast can they become more? A unit with the message sends at most the bandwidth of its cable to the
/// node, so that its k-th message to others is complete after k messages' bytes at the earliest; each one complete makes
/// another unit a sender, the one with most bandwidth first. A unit without the message also needs its tail: the
/// time from its first arrival to the last, bounded likewise inside, with the cable as one more sender.
/// Units of a node are senders and receivers at once, so this also bounds clusters that help each other.
class Bound {
public:
    explicit Bound(const Tree&);

    std::int64_t of(const State&);

private:
    /// What hangs on a node's cable, seen from the node; or the node's own computer, behind no cable.
    struct Unit {
        std::int32_t out_link, in_link;  ///< -1: the node's own computer
        std::int64_t out_bandwidth;
        std::int64_t best_out, worst_out;  ///< over its computers, least bandwidth of the way to the node
        std::int64_t best_in, worst_in;    ///< and from the node
        std::int64_t near_out_ns, near_in_ns;  ///< least delay of these ways
        std::int64_t far_in_ns;                ///< largest
        std::int64_t tail_ns;                  ///< from its first arrival to the last, at least
    };
    /// A unit with the message, as a sender to those without.
    struct Sender {
        std::int64_t from_ns;       ///< when it can begin
        std::int64_t base_ns;       ///< from here on it has all of `bandwidth`
        std::int64_t base_bytes;    ///< and has sent as much at most
        std::int64_t bandwidth;     ///< > 0
        std::int64_t least_ns;      ///< of a message
        std::int64_t at_once;       ///< messages
        std::int64_t num_sent = 0;
    };
    struct Next {
        std::int64_t time_ns;
        std::int32_t sender;
        bool operator<(const Next& other) const { return time_ns > other.time_ns; }  // the earliest on top
    };
    /// Of the units without the message.
    struct Receivers {
        std::int64_t best_in = 0, worst_in = never;
        std::int64_t near_in_ns = never, near_out_ns = never;
    };

    static constexpr std::int64_t unlimited = std::int64_t{1} << 50U;  // bytes/s from a node to its own computer
    static constexpr Unit own_computer{-1, -1, unlimited, unlimited, unlimited, unlimited, unlimited, 0, 0, 0, 0};

    static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
    Unit unit_through(std::int32_t node, std::int32_t child_or_parent);
    std::int64_t tail_through(std::int32_t node, std::int32_t from);
    [[nodiscard]] std::int64_t next_completion(const Sender&) const;
    void begin_growth();
    void add_receiver(const Unit&);
    [[nodiscard]] Sender sender_of(const Unit&, std::int64_t from_ns) const;
    void let_help(std::int64_t first_ns, Sender&, const Unit&) const;
    void reserve(Sender&, const Unit&, const State&) const;
    std::int64_t grow();
    std::int64_t at_node(std::int32_t node, const State&);

    const Tree* tree_;
    std::vector<std::vector<std::int32_t>> neighbours_;
    std::vector<std::vector<Unit>> units_;                      // [node]
    std::vector<std::int64_t> below_ns_, above_ns_;             // [node] when the message can be there from below, above
    std::vector<Unit> through_below_, through_above_;           // [node] cache of unit_through
    std::vector<char> known_below_, known_above_;
    // Of one growth.
    Receivers receivers_;
    std::vector<const Unit*> missing_;
    std::vector<Sender> senders_;
    std::vector<Next> heap_;
    std::vector<std::int64_t> bandwidths_, rates_, tails_, earliest_, arrivals_;
};

}  // namespace hocket::search
