// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "selection/selector.hpp"

#include <algorithm>

namespace hocket::selection {

Selector::Selector(std::size_t num_arms, std::size_t native, std::int64_t delay, const std::vector<double>& prior_s)
    : candidates_(num_arms, native, policy),
      native_(native),
      finds_delay_(delay == 0),
      delay_(std::max<std::int64_t>(1, delay)) {
    if (prior_s.size() == num_arms) {
        const double best = *std::min_element(prior_s.begin(), prior_s.end());
        for (std::size_t i = 0; i < num_arms; ++i) {
            if (i != native && prior_s[i] > hopeless * best) candidates_[i].dropped_in_round = -1;
        }
    }
    plan_round();
}

void Selector::trust(std::size_t arm, double native_per_arm) {
    candidates_.use(arm);
    queue_.clear();
    round_ = num_rounds;
    rest(native_per_arm - 1);
}

void Selector::plan_round() {
    // Backwards in every other round: what an arm leaves behind does not always meet the same one.
    for (std::size_t i = 0; i < num_arms(); ++i) {
        if (candidates_[i].dropped_in_round == 0) queue_.push_back(i);
    }
    if (round_ % 2 == 0) std::reverse(queue_.begin(), queue_.end());
    if (queue_.size() == 1) {  // nothing to choose from
        queue_.clear();
        round_ = num_rounds;
        rest();
    }
}

std::size_t Selector::challenger() const {
    if (chosen() != native_) return native_;
    for (std::size_t i = 1; i < num_arms(); ++i) {
        const std::size_t candidate = (challenger_ + i) % num_arms();
        if (candidate != native_ && candidates_[candidate].dropped_in_round >= 0) return candidate;
    }
    return native_;
}

void Selector::plan_comparison() {
    challenger_ = challenger();
    if (challenger_ == chosen()) {
        rest_left_ = last_rest;
        return;
    }
    queue_comparison();
}

void Selector::queue_comparison() {
    candidates_.clear_samples();
    if (delay_ == 1) {
        for (int i = 0; i < calls_a_side; ++i) queue_.insert(queue_.end(), {chosen(), challenger_});
        return;
    }
    // Calls that are in flight together slow each other down: as many as that by one arm, then as many by the other.
    const auto num = static_cast<std::size_t>(num_calls_a_side());
    queue_.insert(queue_.end(), num, chosen());
    queue_.insert(queue_.end(), num, challenger_);
}

int Selector::num_calls_a_side() const {
    return static_cast<int>(std::clamp<std::int64_t>(delay_, calls_a_side, most_calls_a_side));
}

std::size_t Selector::next() {
    ++call_;
    std::size_t arm = chosen();
    if (exchange_at_ == 0 && queue_.empty() && round_ == num_rounds && --rest_left_ <= 0) plan_comparison();
    if (!queue_.empty()) {
        arm = queue_.back();
        queue_.pop_back();
        // Then all calls so far have ended, since no more than delay_ are in flight.
        if (queue_.empty()) exchange_at_ = call_ + delay_;
    }
    ++candidates_[arm].calls;
    return arm;
}

void Selector::took(std::size_t arm, std::int64_t duration_ns) {
    if (queue_.empty() && exchange_at_ == 0) return;  // nothing is being tried
    candidates_.took(arm, duration_ns);
}

Selector::Statement Selector::statement() const {
    Statement mine;
    for (std::size_t i = 0; i < num_arms(); ++i) mine.push_back(candidates_.sample_ns(i));
    return mine;
}

void Selector::conclude(const Statement& all) {
    exchange_at_ = 0;
    if (finds_delay_ && delay_ < max_delay &&
        lacks_a_time(all)) {  // calls had not ended: the same once more, with more time
        delay_ *= 2;
        candidates_.clear_samples();
        return round_ < num_rounds ? plan_round() : queue_comparison();
    }
    for (std::size_t i = 0; i < num_arms(); ++i) {
        // What disturbs a call makes it longer: of several rounds the shortest time counts.
        const bool is_round = round_ > 1 && round_ < num_rounds;
        if (all[i] != no_time) candidates_.agree(i, is_round ? std::min(all[i], candidates_[i].agreed_ns) : all[i]);
    }
    candidates_.clear_samples();
    if (round_ < num_rounds) {
        end_round();
    } else {
        end_comparison();
    }
}

bool Selector::lacks_a_time(const Statement& all) const {
    if (round_ == num_rounds) return all[chosen()] == no_time || all[challenger_] == no_time;
    for (std::size_t i = 0; i < num_arms(); ++i) {
        if (candidates_[i].dropped_in_round == 0 && all[i] == no_time) return true;
    }
    return false;
}

void Selector::end_round() {
    const std::size_t best = candidates_.end_round(round_ + 1, behind_percent[round_], native_);
    if (round_ > 0) candidates_.use(best);
    if (++round_ < num_rounds) return plan_round();
    if (!candidates_.is_behind(native_, candidates_[best].agreed_ns, policy.slower_percent)) candidates_.use(native_);
    rest();
}

void Selector::rest() { rest(candidates_.lost_by(challenger())); }

void Selector::rest(double lost) {
    // What the challenger is known to lose is waited for.
    rest_left_ = std::max(rest_, Candidates::calls_that_pay(num_calls_a_side() * lost));
}

void Selector::end_comparison() {
    switch (candidates_.compare(challenger_)) {
        case Candidates::Verdict::kept:
            rest_ = std::min(2 * rest_, last_rest);
            return rest();
        case Candidates::Verdict::lost:  // the same once more
            rest_left_ = 1;
            rest_ = first_rest;
            challenger_ = (challenger_ + num_arms() - 1) % num_arms();
            return;
        case Candidates::Verdict::changed:
            rest_left_ = rest_ = first_rest;
            candidates_[chosen()].dropped_in_round = 0;
            return;
    }
}

}  // namespace hocket::selection
