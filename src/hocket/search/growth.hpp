// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hocket/search/tree.hpp"

namespace hocket::search {

/// What hangs on a place, a node or some joined nodes, by one cable; or a computer at the place itself, behind no
/// cable.
struct Unit {
    std::int32_t out_link = -1, in_link = -1;  ///< -1: a computer at the place
    std::int32_t computer = -1;                ///< that computer
    std::int64_t out_bandwidth = 0;
    std::int64_t best_out = 0, worst_out = never;  ///< over its computers, least bandwidth of the way to the place
    std::int64_t best_in = 0, worst_in = never;    ///< and from the place
    std::int64_t near_out_ns = never, near_in_ns = never;  ///< least delay of these ways
    std::int64_t far_in_ns = 0;                            ///< largest
    std::int64_t tail_ns = 0;                              ///< from its first arrival to the last, at least
    std::int64_t alone_tail_ns = 0;                        ///< the same if it gets the message once
    std::int64_t pause_ns = 0;  ///< then, how long it cannot send to others before its second branch has the message

    [[nodiscard]] bool holds_computers() const { return best_out > 0; }
};

/// A unit with the message, as a sender to those without.
struct Sender {
    std::int64_t from_ns;     ///< when it can begin
    std::int64_t base_ns;     ///< from here on it has all of `bandwidth`
    std::int64_t base_bytes;  ///< and has sent as much at most
    std::int64_t bandwidth;   ///< > 0
    std::int64_t least_ns;    ///< of a message that begins before late_ns, of which there are `at_once` at a time
    std::int64_t at_once;
    std::int64_t best_rate = 0;                       ///< to any computer at all
    std::int64_t late_ns = never, late_least_ns = 0;  ///< and of one that begins then or later
    std::int64_t num_begun = 0;                       ///< messages that may be all but complete at from_ns
    std::int64_t num_sent = 0;
    std::int64_t pause_before_ns = never, pause_ns = 0;  ///< what would be complete later is so after a pause
};

/// How fast units without the message can get it from those that have it: a unit with the message sends at most the
/// bandwidth of its cable, so that its k-th message is complete after k messages' bytes at the earliest; each one
/// complete makes another unit a sender, the one with most bandwidth first. A unit also needs its tail.
class Growth {
public:
    explicit Growth(const Tree& tree) : tree_(&tree) {}

    /// Of the units without the message.
    struct Receivers {
        std::int64_t best_in = 0, worst_in = never;
        std::int64_t near_in_ns = never, near_out_ns = never;
    };

    void begin();
    void add_receiver(const Unit&);
    [[nodiscard]] bool has_receivers() const { return !missing_.empty(); }
    [[nodiscard]] std::span<const Unit* const> missing() const { return missing_; }
    [[nodiscard]] const Receivers& receivers() const { return receivers_; }
    /// A sender to the receivers of the moment.
    [[nodiscard]] Sender sender_of(const Unit&, std::int64_t from_ns) const;
    void add_sender(const Sender& sender) { senders_.push_back(sender); }
    /// When a unit can begin at the latest: one whose message comes late, or must go far, may get another one.
    [[nodiscard]] std::int64_t helped_ns(std::int64_t first_ns, const Unit&) const;

    /// When the last of the receivers and of what is in them has the message, from senders that `add_senders` adds for
    /// the receivers of the moment.
    template <class AddSenders>
    std::int64_t last_arrival(AddSenders&& add_senders) {
        if (missing_.empty()) return 0;
        senders_.clear();
        add_senders();
        std::int64_t end = each_by_itself();
        end = std::max(end, all_together({}));
        // Those that receive slowly, by themselves, with as many senders at any time as the growth of all has found.
        all_missing_ = missing_;
        std::sort(all_missing_.begin(), all_missing_.end(),
                  [](const Unit* a, const Unit* b) { return a->best_in > b->best_in; });
        const Receivers all = receivers_;
        for (std::size_t i = 1; i < all_missing_.size(); ++i) {
            if (all_missing_[i]->best_in == all_missing_[i - 1]->best_in) continue;
            begin();
            for (std::size_t k = i; k < all_missing_.size(); ++k) add_receiver(*all_missing_[k]);
            senders_.clear();
            add_senders();
            end = std::max(end, slow_ones(all));
        }
        return end;
    }

    /// Whether all that is `missing` may end by `aim_ns`, for what is known of `unit`: one of those missing, or that of
    /// the sender with this number, of which only one branch has the message. It gets the message once more, which
    /// takes one message from the others; or it does not, and must pause what it sends to others in time to spread it.
    template <class AddSenders>
    bool can_end_by(std::int64_t aim_ns, std::span<const Unit* const> missing, const Unit& unit, std::ptrdiff_t sender,
                    AddSenders&& add_senders) {
        const std::int64_t latest_ns = aim_ns - unit.alone_tail_ns;
        const auto begin_with = [&](const Unit* one_more) {
            begin();
            for (const Unit* one : missing) add_receiver(*one);
            if (one_more != nullptr) add_receiver(*one_more);
        };
        const auto can_end = [&](std::size_t arrival, bool sender_pauses) {
            senders_.clear();
            add_senders();
            if (sender_pauses) let_pause(senders_[static_cast<std::size_t>(sender)], unit, latest_ns);
            return all_together({arrival, &unit, latest_ns}) <= aim_ns;
        };
        Unit again = unit;  // the last to get it, and of no use as a sender
        again.tail_ns = 0;
        again.out_bandwidth = again.best_out = 1;
        again.worst_out = never;
        begin_with(&again);
        if (can_end(no_arrival, false)) return true;
        begin_with(nullptr);
        if (can_end(no_arrival, sender >= 0)) {
            if (sender >= 0) return true;
        } else {
            return false;
        }
        const std::vector<std::int64_t> arrivals = arrivals_;
        for (std::size_t k = 0; k < arrivals.size() && arrivals[k] <= latest_ns; ++k) {
            const bool is_same = k > 0 && arrivals[k] == arrivals[k - 1] && bandwidths_[k] == bandwidths_[k - 1] &&
                                 rates_[k] == rates_[k - 1];
            if (!is_same && can_end(k, false)) return true;
        }
        return false;
    }

private:
    static constexpr std::size_t no_arrival = std::numeric_limits<std::size_t>::max();
    /// The k-th that gets the message is this unit, and pauses.
    struct Pausing {
        std::size_t arrival = no_arrival;
        const Unit* unit = nullptr;
        std::int64_t latest_ns = 0;
    };
    struct Next {
        std::int64_t time_ns;
        std::size_t sender;
        bool operator<(const Next& other) const { return time_ns > other.time_ns; }  // the earliest on top
    };
    [[nodiscard]] std::int64_t next_completion(const Sender&) const;
    [[nodiscard]] std::int64_t each_by_itself() const;
    std::int64_t all_together(const Pausing&);
    std::int64_t slow_ones(const Receivers& all);
    static void let_pause(Sender&, const Unit&, std::int64_t latest_ns);
    void start_heap();
    void fill_heap();
    void add_grown(std::size_t k, std::int64_t from_ns);
    void begin_pool();
    std::int64_t next_pooled();
    std::int64_t pop_completion();
    [[nodiscard]] Sender grown(std::size_t k, std::int64_t from_ns) const;

    const Tree* tree_;
    Receivers receivers_;
    std::vector<const Unit*> missing_, all_missing_;
    std::vector<Sender> senders_;
    std::vector<Next> heap_;
    /// Of the senders that have grown, all together.
    struct Pooled {
        __int128 bandwidth = 0, before = 0;  ///< of those that have joined; what they have not sent since time 0
        std::size_t num_joined = 0;
        std::int64_t num_whole = 0, num_sent = 0;  ///< messages that they may have sent each by itself; that were taken
        std::int64_t last_ns = 0;
    };
    Pooled pooled_;
    std::vector<std::pair<std::int64_t, std::int64_t>>
        pooled_senders_;                                               // when each joins, bandwidth; the earliest first
    std::size_t num_first_ = 0;                                        ///< senders that have not grown
    std::vector<std::int64_t> bandwidths_, rates_, tails_, arrivals_;  // largest first; arrivals_: earliest first
    std::int64_t slowest_out_ = never;
};

}  // namespace hocket::search
