// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "hocket/simulation/matching.hpp"
#include "hocket/simulation/message_state.hpp"
#include "hocket/simulation/timeline.hpp"

namespace hocket::simulation {

/// The ops and messages of a Program that is there as a whole, as a ProgramEngine sees them: numbered from 0 on.
class WholeWork {
public:
    static constexpr bool grows = false;

    explicit WholeWork(const Program& program)
        : program_(program),
          matched_(match(program)),
          waits_for_(matched_.num_dependencies),
          states_(matched_.messages.size()),
          intervals_(matched_.message_of.size(), {0, -1}) {
        rank_of_.reserve(intervals_.size());
        for (std::size_t r = 0; r < program.ranks.size(); ++r)
            rank_of_.insert(rank_of_.end(), program.ranks[r].ops.size(), static_cast<std::int32_t>(r));
    }

    [[nodiscard]] std::size_t num_ranks() const { return program_.ranks.size(); }
    [[nodiscard]] std::size_t num_pairs() const { return matched_.pairs.size(); }
    [[nodiscard]] std::size_t num_messages() const { return states_.size(); }
    /// Ops that will have been done in the end.
    [[nodiscard]] std::int64_t num_total(std::int64_t) const { return static_cast<std::int64_t>(intervals_.size()); }

    [[nodiscard]] const ProgramOp& op(std::int32_t op) const {
        const auto rank = static_cast<std::size_t>(rank_of(op));
        return program_.ranks[rank].ops[static_cast<std::size_t>(op - matched_.first_op[rank])];
    }
    [[nodiscard]] std::int32_t rank_of(std::int32_t op) const { return rank_of_[static_cast<std::size_t>(op)]; }
    [[nodiscard]] std::int32_t message_of(std::int32_t op) const {
        return matched_.message_of[static_cast<std::size_t>(op)];
    }
    [[nodiscard]] const Message& message(std::int32_t m) const {
        return matched_.messages[static_cast<std::size_t>(m)];
    }
    [[nodiscard]] const std::pair<Rank, Rank>& ends(std::int32_t m) const {
        return matched_.pairs[static_cast<std::size_t>(message(m).pair)];
    }
    /// The place of its send in the source's RankProgram.
    [[nodiscard]] std::int32_t place_of_send(std::int32_t m) const {
        return message(m).send - matched_.first_op[ends(m).first.at()];
    }
    MessageState& state(std::int32_t m) { return states_[static_cast<std::size_t>(m)]; }

    /// `ready(op)` for each op that waits for none, in their order.
    template <class Ready>
    void begin(Ready&& ready) {
        for (std::int32_t op = 0; op < static_cast<std::int32_t>(intervals_.size()); ++op)
            if (waits_for_[static_cast<std::size_t>(op)] == 0) ready(op);
    }
    void starts(std::int32_t op, double time_s) { intervals_[static_cast<std::size_t>(op)].start_s = time_s; }
    /// `ready(op)` for each that waited for this one last.
    template <class Ready>
    void done(std::int32_t op, double now_s, Ready&& ready) {
        intervals_[static_cast<std::size_t>(op)].end_s = now_s;
        const auto first = static_cast<std::size_t>(matched_.first_dependent[static_cast<std::size_t>(op)]);
        const auto last = static_cast<std::size_t>(matched_.first_dependent[static_cast<std::size_t>(op) + 1]);
        for (std::size_t i = first; i < last; ++i)
            if (--waits_for_[static_cast<std::size_t>(matched_.dependents[i])] == 0) ready(matched_.dependents[i]);
    }
    /// Fills the intervals and the finish of each rank.
    void take(Timeline& timeline) {
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        for (Timeline::Interval& interval : intervals_)
            if (interval.end_s < 0) interval = {unknown, unknown};
        for (std::size_t r = 0; r < program_.ranks.size(); ++r) {
            timeline.ranks.emplace_back(intervals_.begin() + matched_.first_op[r],
                                        intervals_.begin() + matched_.first_op[r + 1]);
            double finish_s = 0;
            for (const Timeline::Interval& i : timeline.ranks.back())
                if (!std::isnan(finish_s) && !(i.end_s <= finish_s)) finish_s = i.end_s;  // NaN stays
            timeline.finish_s.push_back(finish_s);
        }
    }

private:
    const Program& program_;
    Matched matched_;
    std::vector<std::int32_t> waits_for_;  // [op] dependencies that are not done
    std::vector<std::int32_t> rank_of_;    // [op]
    std::vector<MessageState> states_;
    std::vector<Timeline::Interval> intervals_;  // [op] end_s < 0 until done
};

}  // namespace hocket::simulation
