// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "selection/candidates.hpp"

namespace hocket::selection {

/// What makes two calls of one collective on one communicator comparable.
struct CallKey {
    std::int64_t entry = -1;  ///< place among the entries that serve this collective here; negative: no sample
    std::int64_t bytes = 0;
    std::int64_t root = 0;

    /// Sizes may differ a little, since many programs never make two calls of one size. Each kind goes first in every
    /// other comparison, so that neither gains by it.
    [[nodiscard]] bool is_like(const CallKey& other) const {
        constexpr std::int64_t sixteenth = 16;
        const std::int64_t difference = bytes > other.bytes ? bytes - other.bytes : other.bytes - bytes;
        return entry == other.entry && root == other.root && difference <= std::max(bytes, other.bytes) / sixteenth;
    }
};

/// Decides, alike on all ranks of a communicator, which calls of a collective are timed, and when an entry of the plan
/// has become slower than the MPI's own function. Needs no MPI: the caller lets the ranks exchange statements.
///
/// Positions are numbers of calls of the collective on the communicator. Every rank counts every call, also one that is
/// wrong on it alone, so that all exchange statements before the same call; everything else follows from what they
/// agree on there. A comparison takes two calls of one entry with nearly the same bytes and the same root, one by the
/// schedule and one native, each right behind an exchange, which takes the lateness of ranks out of their times; the
/// next call's exchange carries the time of the second. Each goes first in every other comparison. The first comparison
/// of an entry does not count.
class SelfCheck {
public:
    /// An entry is given up when it has lost so many comparisons in a row, on whatever communicators. Noise that looks
    /// so once in four comparisons does it once in 1,400 of them, on the mean; once in two, as of an entry that is no
    /// faster, in 62.
    static constexpr Candidates::Policy policy{.slower_percent = 5, .lost_comparisons = 5, .lost_percent_limit = 450};
    /// The same of an entry that nothing has shown to be faster, only predicted.
    static constexpr Candidates::Policy trial_policy{
        .slower_percent = 5, .lost_comparisons = 2, .lost_percent_limit = 60};
    enum Arm : std::size_t { native = 0, schedule = 1 };
    /// Before this call of the collective the ranks agree for the first time.
    static constexpr std::uint64_t first_position = 8;
    /// The same where an entry is on trial.
    static constexpr std::uint64_t first_position_of_trial = 2;
    /// Where the first comparison of an entry on trial shows a gain of so many percent, the next one waits for so many
    /// calls: a program of few calls would lose to native ones a large part of what it gains.
    static constexpr std::int64_t clear_gain_percent = 25;
    static constexpr std::int64_t calls_after_clear_gain = 16;
    /// As `first_position` where an entry has lost its last comparison on another communicator, so that short-lived
    /// ones come to a verdict.
    static constexpr std::uint64_t first_position_of_suspect = 2;

    struct Entry {
        bool watched = true;                     ///< false: never compared, or given up
        bool may_wait = true;                    ///< on trial, where the first comparison shows a clear gain
        bool seems_faster = false;               ///< and it has
        bool native_first = false;               ///< until a comparison shows a clear gain; the first one decides
        std::int64_t wait = 0;                   ///< calls of this entry to let pass before its next comparison
        std::uint64_t due = 0;                   ///< position before which no comparison of it takes another's turn
        std::uint64_t calls = 0;                 ///< so far, as this rank sees it
        std::int64_t last = 0;                   ///< position of its last call, as this rank sees it; 0 = none
        std::int64_t distance = 0;               ///< from its call with the same root before that; 0 = none
        std::vector<std::int64_t> last_of_root;  ///< positions, as `last`
        int num_compared = 0;
        Candidates candidates{2, schedule, policy};

        static Entry on_trial() {
            Entry entry;
            entry.candidates = Candidates(2, schedule, trial_policy);
            return entry;
        }
        [[nodiscard]] bool is_on_trial() const { return &candidates.policy() == &trial_policy; }
        [[nodiscard]] bool is_refused() const { return native_first && !watched; }
        [[nodiscard]] bool given_up() const { return candidates.chosen() == native; }
        /// Comparisons in a row that the schedule has lost; all that it may lose, if it is given up.
        [[nodiscard]] int num_slower() const {
            return given_up() ? candidates.policy().lost_comparisons : candidates.num_lost();
        }
        [[nodiscard]] std::int64_t standing() const {
            if (is_refused()) return candidates.policy().lost_comparisons;
            if (num_slower() > 0) return num_slower();
            if (num_compared > 1) return shown_faster - wait;
            return seems_faster ? seemed_faster : unknown;
        }
    };
    /// What an entry's comparisons on a communicator mean for the next one, or for the next job. A positive number: it
    /// has lost so many in a row. `shown_faster` - n: so many calls pay for a comparison.
    static constexpr std::int64_t unknown = 0, seemed_faster = -1, shown_faster = -2;
    enum class Way { as_planned, time_schedule, time_native };
    /// The largest of each number over the ranks is what they agree on.
    using Statement = std::array<std::int64_t, 12>;

    SelfCheck() = default;
    explicit SelfCheck(std::vector<Entry> entries);

    /// Before the first call, alike on all ranks: how entry `place` stands by comparisons on other communicators.
    void inherit(std::int64_t place, std::int64_t standing);
    /// Counts a call of the collective, by entry `place` or, if negative, by none. True: all ranks exchange statements
    /// before it.
    bool count(std::int64_t place, std::int64_t root = 0) {
        ++position_;
        if (place >= 0) count_call(entries_[static_cast<std::size_t>(place)], static_cast<std::size_t>(root));
        return position_ == next_;
    }
    /// The call just counted was none, as this rank has found after the exchange, if there was one. The next has its
    /// position.
    void take_back() { --position_; }
    [[nodiscard]] Statement statement(const CallKey& call) const;
    /// `stated` is what the ranks agree on; the exchange took this rank `exchange_ns`. Returns how to carry out the
    /// call.
    Way conclude(const Statement& stated, std::int64_t exchange_ns);
    /// How long this rank was in the call that was to be timed; is not called if the call failed.
    void took(std::int64_t duration_ns) {
        entries_[target_].candidates.took(timed_, std::min(duration_ns, longest_ns));
    }
    /// The ranks cannot agree any more.
    void stop() { next_ = never; }

    /// Place of the entry that is compared next, or was last.
    [[nodiscard]] std::int64_t target() const { return static_cast<std::int64_t>(target_); }
    [[nodiscard]] const Entry& entry(std::int64_t place) const { return entries_[static_cast<std::size_t>(place)]; }

private:
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::int64_t no_time = Candidates::no_time;
    static constexpr std::int64_t longest_ns = 1'000'000'000'000'000;  // days; a hundredfold still fits
    enum class Step { settle, first, second };

    void count_call(Entry& entry, std::size_t root) {
        ++entry.calls;
        entry.last = static_cast<std::int64_t>(position_);
        if (entry.last_of_root.size() <= root) entry.last_of_root.resize(root + 1);
        std::int64_t& last = entry.last_of_root[root];
        if (last != 0) entry.distance = entry.last - last;
        last = entry.last;
    }
    void choose_first();
    void leave(std::int64_t place);
    /// Of the target's comparison under way.
    [[nodiscard]] Arm first_arm() const { return entries_[target_].num_compared % 2 == 0 ? native : schedule; }
    Way time(Arm arm);
    [[nodiscard]] std::size_t successor() const;
    Statement retargeted(Statement all, const CallKey& call);
    Way begin(const CallKey& call, const Statement& all);
    void compare(std::int64_t second_ns, std::int64_t exchange_ns);
    void miss(const Statement& all);
    void aim(const Statement& all, bool at_successor);

    std::vector<Entry> entries_;
    std::uint64_t position_ = 0;
    std::uint64_t next_ = never;
    Step step_ = Step::settle;
    std::size_t target_ = 0;
    CallKey first_{};                  // the call of the comparison that was timed first
    std::int64_t first_ns_ = no_time;  // agreed
    Arm timed_ = native;               // of the call timed last
    std::int64_t exchange_ns_ = 0;     // this rank's, the last one
    int num_missed_ = 0;               // exchanges in a row that met no call of the target
    bool comparing_ = false;           // two calls were timed and their times are to be exchanged
};

}  // namespace hocket::selection
