// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/search/growth.hpp"
#include "hocket/search/state.hpp"
#include "hocket/search/units.hpp"

namespace hocket::search {

/// How long all that is behind a link needs at least, once one of the holders there or one before the link can send to
/// it, as long as nobody else there has the message.
struct SubtreeBound {
    std::int64_t needs_ns = 0;  ///< 0: not known
    std::vector<std::int32_t> holders;
    bool is_exact = false;  ///< no search for it finds more
};

/// A lower bound on the end of every broadcast that begins as a State does, whenever its further transfers start.
///
/// At each place, what hangs on each of its cables is a unit, and Growth counts units that have the message somewhere
/// inside. Units of a place are senders and receivers at once, so this also bounds clusters that help each other.
class Bound {
public:
    /// `subtrees`: empty or of each link. Must outlive the bound.
    explicit Bound(const Tree&, std::span<const SubtreeBound> subtrees = {});

    /// May stop at `enough_ns`. What is more than `aim_ns` may mean only that it cannot end by then.
    std::int64_t of(const State&, std::int64_t enough_ns = never, std::int64_t aim_ns = never);
    /// Of the last state whose bound was not enough: the sum of what the places found. Distinguishes states of equal
    /// bounds.
    [[nodiscard]] double mean_ns() const { return mean_ns_; }
    /// And for what is missing below and at a node; 0 if nothing is.
    [[nodiscard]] std::int64_t below_ns(std::int32_t node, const State&);
    [[nodiscard]] const Units& units() const { return units_; }

private:
    /// What the informed computers on one side of a link can do.
    struct Side {
        std::int64_t from_ns = never;  ///< the message can be at the link's end
        std::int64_t flow = 0;         ///< of those that are ready before another computer can be, all together
        std::int64_t best = 0;         ///< of one of them
    };
    /// The sides that meet at a node: the best two are enough to leave any one out.
    struct Meeting {
        Side first, second;  // from_ns and best by themselves; first.flow: the sum
        void join(const Side& side) {
            second.from_ns = std::min(second.from_ns, std::max(first.from_ns, side.from_ns));
            second.best = std::max(second.best, std::min(first.best, side.best));
            first.from_ns = std::min(first.from_ns, side.from_ns);
            first.best = std::max(first.best, side.best);
            first.flow += side.flow;
        }
        [[nodiscard]] Side without(const Side& side) const {
            return {side.from_ns == first.from_ns ? second.from_ns : first.from_ns, first.flow - side.flow,
                    side.best == first.best ? second.best : first.best};
        }
    };
    static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
    [[nodiscard]] Sender sender_of(const Unit&, const Side&, std::int64_t first_ns, const State&) const;
    [[nodiscard]] Side own_side(std::int32_t computer, const State&) const;
    [[nodiscard]] Side side_of(const Unit&, const State&) const;
    [[nodiscard]] std::int64_t first_free(std::int32_t link, std::int64_t from_ns, const State&) const;
    [[nodiscard]] std::int64_t can_send_ns(std::int32_t computer, const State&) const;
    [[nodiscard]] std::int64_t of_subtrees(const State&);
    void read(const State&);
    std::int64_t at_place(const Place&, const State&, std::int64_t aim_ns, std::int32_t but_in_link = -1);
    [[nodiscard]] bool in_one_branch(const Unit&, const State&) const;

    const Tree* tree_;
    std::span<const SubtreeBound> subtrees_;
    std::vector<std::int32_t> num_below_;  // [node] informed
    Units units_;
    std::vector<std::size_t> order_;      // places, those that were enough lately first
    std::vector<Side> sides_;             // [link] what is before its end
    std::vector<std::int64_t> found_ns_;  // [place]
    std::vector<std::int32_t> place_at_;  // [node] or -1
    std::vector<Meeting> meetings_;       // [node]
    double mean_ns_ = 0;
    std::int64_t late_ns_ = 0;  // before, nobody has the message but those who are known to
    Growth growth_;
    std::vector<const Unit*> missing_;
};

}  // namespace hocket::search
