// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace hocket::selection {

/// The ways to carry out a call that recurs (arms), one of which is in use: the samples of their times, the times that
/// the ranks agree on, and when the one in use gives way. Needs no MPI: the ranks agree on the largest of what each
/// states, so that all decide alike. When which call is measured is for the user of this: Selector and SelfCheck.
class Candidates {
public:
    static constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::max();

    /// Of comparisons between the arm in use and a challenger.
    struct Policy {
        int slower_percent;    ///< a comparison is lost if the arm in use takes longer by more than this
        int lost_comparisons;  ///< in a row: the arm in use gives way
        /// It also gives way when it has lost so many percent in the sum over its comparisons, each beyond
        /// `slower_percent`; what it gains is taken off, down to 0. So an arm whose calls take many times as long now
        /// and then is found, though it wins most comparisons. Percent of the longer of the two times, so that a loss
        /// counts as a gain does, and one comparison cannot decide. 0: no such limit.
        std::int64_t lost_percent_limit;
    };
    /// What comparisons cost is waited for until so many times as much has been spent on calls.
    static constexpr double calls_for_cost = 100;

    struct Arm {
        std::int64_t calls = 0;
        std::int64_t agreed_ns = no_time;  ///< when it was last tried by all
        int dropped_in_round = 0;          ///< 0 = was not; -1 = hopeless from the start
        std::vector<std::int64_t> samples{};
    };

    /// `policy` lives as long as this.
    Candidates(std::size_t num_arms, std::size_t in_use, const Policy& policy)
        : arms_(num_arms), policy_(&policy), chosen_(in_use) {}

    /// Of this rank.
    void took(std::size_t arm, std::int64_t duration_ns);
    /// This rank's median; no_time if there is no sample.
    [[nodiscard]] std::int64_t sample_ns(std::size_t arm) const;
    void clear_samples();
    /// The ranks agree that it took so long.
    void agree(std::size_t arm, std::int64_t time_ns) { arms_[arm].agreed_ns = time_ns; }

    /// Drops what is behind the fastest by more than `percent`, but not `kept`. Returns the fastest of those left.
    std::size_t end_round(int round, int percent, std::size_t kept);
    enum class Verdict { kept, lost, changed };
    /// By the agreed times of the arm in use and of `challenger`, which is in use from now on if the verdict is
    /// `changed`.
    Verdict compare(std::size_t challenger);
    /// Before the first comparison: `num_lost` in a row have been lost elsewhere.
    void inherit(int num_lost, std::size_t challenger);
    void use(std::size_t arm);

    /// How much longer a call by the arm takes than by the one in use, in calls by that one; 0 if that is not known.
    [[nodiscard]] double lost_by(std::size_t arm) const;
    /// Calls that pay for a comparison which costs as much as `cost` calls.
    [[nodiscard]] static std::int64_t calls_that_pay(double cost);
    [[nodiscard]] bool is_behind(std::size_t arm, std::int64_t best_ns, int percent) const;

    [[nodiscard]] const Policy& policy() const { return *policy_; }
    [[nodiscard]] std::size_t chosen() const { return chosen_; }
    [[nodiscard]] std::size_t size() const { return arms_.size(); }
    Arm& operator[](std::size_t i) { return arms_[i]; }
    const Arm& operator[](std::size_t i) const { return arms_[i]; }
    [[nodiscard]] int num_lost() const { return num_lost_; }
    [[nodiscard]] std::int64_t num_changes() const { return num_changes_; }

private:
    std::vector<Arm> arms_;
    const Policy* policy_;
    std::size_t chosen_;
    int num_lost_ = 0;               // comparisons in a row, by the arm in use
    std::int64_t lost_percent_ = 0;  // see Policy::lost_percent_limit
    std::int64_t num_changes_ = 0;
};

}  // namespace hocket::selection
