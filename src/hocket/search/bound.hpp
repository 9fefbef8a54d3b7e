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

    /// May stop at `enough_ns`.
    std::int64_t of(const State&, std::int64_t enough_ns = never);
    /// Of the last state whose bound was not enough: the sum of what the nodes found. Tells states of equal bounds apart.
    [[nodiscard]] double mean_ns() const { return mean_ns_; }

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
        std::int64_t from_ns;    ///< when it can begin
        std::int64_t base_ns;    ///< from here on it has all of `bandwidth`
        std::int64_t base_bytes; ///< and has sent as much at most
        std::int64_t bandwidth;  ///< > 0
        std::int64_t least_ns;   ///< of a message that begins before late_ns, of which there are `at_once` at a time
        std::int64_t at_once;
        std::int64_t late_ns = never, late_least_ns = 0;  ///< and of one that begins then or later
        std::int64_t num_begun = 0;  ///< messages that may be all but complete at from_ns
        std::int64_t num_sent = 0;
    };
    /// What the informed computers on one side of a link can do.
    struct Side {
        std::int64_t from_ns = never;  ///< the message can be at the link's end
        std::int64_t flow = 0;         ///< of those that are ready before another computer can be, all together
        std::int64_t best = 0;         ///< of one of them
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
    [[nodiscard]] Sender sender_of(const Unit&, const Side&, std::int64_t first_ns, const State&) const;
    [[nodiscard]] std::int64_t helped_ns(std::int64_t first_ns, const Unit&) const;
    std::int64_t grow();
    std::int64_t grow_again();
    template <class AddSenders>
    std::int64_t last_arrival(AddSenders&& add_senders);
    [[nodiscard]] Side side_of(const Unit&, std::int32_t node, const State&) const;
    void read(const State&);
    std::int64_t at_node(std::int32_t node, const State&);

    const Tree* tree_;
    std::vector<std::vector<std::int32_t>> neighbours_;
    std::vector<std::vector<Unit>> units_;                      // [node]
    std::vector<Side> below_, above_;  // [node] of the links up from it and down to it
    std::vector<std::int32_t> places_;  // nodes with several units
    double mean_ns_ = 0;
    std::int64_t late_ns_ = 0;         // before, nobody has the message but those who are known to
    std::vector<Unit> through_below_, through_above_;           // [node] cache of unit_through
    std::vector<char> known_below_, known_above_;
    // Of one growth.
    Receivers receivers_;
    std::vector<const Unit*> missing_;
    std::vector<Sender> senders_;
    std::vector<Next> heap_;
    std::vector<std::int64_t> bandwidths_, rates_, tails_, arrivals_, best_rates_;
    std::vector<const Unit*> all_missing_;
};

}  // namespace hocket::search
