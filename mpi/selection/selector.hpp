// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "selection/candidates.hpp"

namespace hocket::selection {

/// Finds, while a call recurs, the fastest of several ways to carry it out (arms), alike on all ranks. Needs no MPI:
/// the caller lets the ranks exchange statements. [Nanri15] asks how to choose; the rules that it gives are beaten by
/// trying.
///
/// Rounds try every arm once; after each the ranks agree on times, and what is far behind is dropped. Then the best one
/// is used, and now and then compared with a challenger: the MPI's own way, or if that is the one used, the others in
/// turn. Who loses to the challenger twice in a row gives way (`policy`). So no arm that is slower than the MPI's own
/// way stays, and what comparisons cost is bounded.
class Selector {
public:
    static constexpr Candidates::Policy policy{.slower_percent = 3, .lost_comparisons = 2, .lost_percent_limit = 0};
    static constexpr std::int64_t max_delay = 1024;
    static constexpr int num_rounds = 4;    ///< of trials; the first does not count
    static constexpr int calls_a_side = 2;  ///< of a comparison, at least
    static constexpr int most_calls_a_side = 64;
    static constexpr std::int64_t first_rest =
        50;  ///< calls from one comparison to the next, doubled by each that changes nothing
    static constexpr std::int64_t last_rest = 1000;
    /// By this much of the best time an arm may be behind after rounds 1, 2, ... to be tried again, in percent.
    static constexpr int behind_percent[num_rounds] = {1900, 100, 30, 10};

    /// Median time of each arm on this rank, ns; no_time if it has none. What the ranks agree on is the largest of
    /// each.
    using Statement = std::vector<std::int64_t>;
    static constexpr std::int64_t no_time = Candidates::no_time;

    /// `native` is the arm of the MPI's own way, used until more is known. `delay`: calls from an exchange to its
    /// conclusion, which is how many calls are in flight at once; 0 = not known: 1, and doubled when calls had not
    /// ended. `prior_s`, if given, is what each arm is expected to take: one that is expected to be more than
    /// `hopeless` times as slow as the best is not tried.
    Selector(std::size_t num_arms, std::size_t native, std::int64_t delay, const std::vector<double>& prior_s = {});
    static constexpr double hopeless = 3;
    /// It has been measured that the MPI's own way takes `native_per_arm` times as long as `arm`: that is used from now
    /// on, without trials.
    void trust(std::size_t arm, double native_per_arm);

    /// Counts a call and gives its arm.
    std::size_t next();
    /// Whether the ranks exchange statements with the call that next() has just counted.
    [[nodiscard]] bool exchanges() const { return exchange_at_ == call_; }
    [[nodiscard]] Statement statement() const;
    /// Whether conclude() must be called before next() is called again.
    [[nodiscard]] bool is_due() const { return exchange_at_ > 0 && call_ == exchange_at_ + delay_ - 1; }
    void conclude(const Statement& all);

    /// From the start of a call to the end of the wait for it, with what the program did in between.
    void took(std::size_t arm, std::int64_t duration_ns);

    /// In use now; while the arms are still tried, the one that stands in.
    [[nodiscard]] std::size_t chosen() const { return candidates_.chosen(); }
    [[nodiscard]] bool is_settled() const { return round_ == num_rounds; }
    using Arm = Candidates::Arm;
    [[nodiscard]] const Arm& arm(std::size_t i) const { return candidates_[i]; }
    [[nodiscard]] std::size_t num_arms() const { return candidates_.size(); }
    [[nodiscard]] std::int64_t num_changes() const { return candidates_.num_changes(); }

private:
    void plan_round();
    void plan_comparison();
    void queue_comparison();
    [[nodiscard]] int num_calls_a_side() const;
    [[nodiscard]] bool lacks_a_time(const Statement& all) const;
    void end_round();
    void end_comparison();
    void rest();
    void rest(double lost);
    [[nodiscard]] std::size_t challenger() const;

    Candidates candidates_;  // with the samples of this round or comparison
    std::size_t native_, challenger_ = 0;
    bool finds_delay_;
    std::int64_t delay_;
    std::int64_t call_ = 0;
    std::int64_t exchange_at_ = 0;  // 0 = none under way
    std::int64_t rest_left_ = 0, rest_ = first_rest;
    std::vector<std::size_t> queue_;  // arms of the next calls, the next one last
    int round_ = 0;                   // num_rounds = the arms have been tried
};

}  // namespace hocket::selection
