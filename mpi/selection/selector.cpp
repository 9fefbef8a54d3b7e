// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "selection/selector.hpp"

#include <algorithm>

namespace hocket::selection {

namespace {

bool is_behind(std::int64_t time_ns, std::int64_t best_ns, int percent) {
    // In floating point, since no_time times anything would overflow.
    return static_cast<double>(time_ns) > static_cast<double>(best_ns) * (1 + percent / 100.0);
}

}  // namespace

Selector::Selector(std::size_t num_arms, std::size_t native, std::int64_t delay, const std::vector<double>& prior_s)
    : arms_(num_arms),
      samples_(num_arms),
      native_(native),
      chosen_(native),
      finds_delay_(delay == 0),
      delay_(std::max<std::int64_t>(1, delay)) {
    if (prior_s.size() == num_arms) {
        const double best = *std::min_element(prior_s.begin(), prior_s.end());
        for (std::size_t i = 0; i < num_arms; ++i) {
            if (i != native && prior_s[i] > hopeless * best) arms_[i].dropped_in_round = -1;
        }
    }
    plan_round();
}

void Selector::trust(std::size_t arm, double native_per_arm) {
    chosen_ = arm;
    queue_.clear();
    round_ = num_rounds;
    rest(native_per_arm - 1);
}

void Selector::plan_round() {
    // Backwards in every other round: what an arm leaves behind does not always meet the same one.
    for (std::size_t i = 0; i < arms_.size(); ++i) {
        if (arms_[i].dropped_in_round == 0) queue_.push_back(i);
    }
    if (round_ % 2 == 0) std::reverse(queue_.begin(), queue_.end());
    if (queue_.size() == 1) {  // nothing to choose from
        queue_.clear();
        round_ = num_rounds;
        rest();
    }
}

std::size_t Selector::challenger() const {
    if (chosen_ != native_) return native_;
    for (std::size_t i = 1; i < arms_.size(); ++i) {
        const std::size_t candidate = (challenger_ + i) % arms_.size();
        if (candidate != native_ && arms_[candidate].dropped_in_round >= 0) return candidate;
    }
    return native_;
}

void Selector::plan_comparison() {
    challenger_ = challenger();
    if (challenger_ == chosen_) {
        rest_left_ = last_rest;
        return;
    }
    queue_comparison();
}

void Selector::queue_comparison() {
    for (auto& samples : samples_) samples.clear();
    if (delay_ == 1) {
        for (int i = 0; i < calls_a_side; ++i) queue_.insert(queue_.end(), {chosen_, challenger_});
        return;
    }
    // Calls that are in flight together slow each other down: as many as that by one arm, then as many by the other.
    const auto num = static_cast<std::size_t>(num_calls_a_side());
    queue_.insert(queue_.end(), num, chosen_);
    queue_.insert(queue_.end(), num, challenger_);
}

int Selector::num_calls_a_side() const {
    return static_cast<int>(std::clamp<std::int64_t>(delay_, calls_a_side, most_calls_a_side));
}

std::size_t Selector::next() {
    ++call_;
    std::size_t arm = chosen_;
    if (exchange_at_ == 0 && queue_.empty() && round_ == num_rounds && --rest_left_ <= 0) plan_comparison();
    if (!queue_.empty()) {
        arm = queue_.back();
        queue_.pop_back();
        // Then all calls so far have ended, since no more than delay_ are in flight.
        if (queue_.empty()) exchange_at_ = call_ + delay_;
    }
    ++arms_[arm].calls;
    return arm;
}

void Selector::took(std::size_t arm, std::int64_t duration_ns) {
    if (queue_.empty() && exchange_at_ == 0) return;  // nothing is being tried
    samples_[arm].push_back(std::max<std::int64_t>(1, duration_ns));
}

Selector::Statement Selector::statement() const {
    Statement mine;
    for (std::vector<std::int64_t> samples : samples_) {
        std::sort(samples.begin(), samples.end());
        mine.push_back(samples.empty() ? no_time : samples[(samples.size() - 1) / 2]);
    }
    return mine;
}

void Selector::conclude(const Statement& all) {
    exchange_at_ = 0;
    if (finds_delay_ && delay_ < max_delay &&
        lacks_a_time(all)) {  // calls had not ended: the same once more, with more time
        delay_ *= 2;
        for (auto& samples : samples_) samples.clear();
        return round_ < num_rounds ? plan_round() : queue_comparison();
    }
    for (std::size_t i = 0; i < arms_.size(); ++i) {
        // What disturbs a call makes it longer: of several rounds the shortest time counts.
        const bool is_round = round_ > 1 && round_ < num_rounds;
        if (all[i] != no_time) arms_[i].agreed_ns = is_round ? std::min(all[i], arms_[i].agreed_ns) : all[i];
        samples_[i].clear();
    }
    if (round_ < num_rounds) {
        end_round();
    } else {
        end_comparison();
    }
}

bool Selector::lacks_a_time(const Statement& all) const {
    if (round_ == num_rounds) return all[chosen_] == no_time || all[challenger_] == no_time;
    for (std::size_t i = 0; i < arms_.size(); ++i) {
        if (arms_[i].dropped_in_round == 0 && all[i] == no_time) return true;
    }
    return false;
}

void Selector::end_round() {
    std::int64_t best_ns = no_time;
    std::size_t best = native_;
    for (std::size_t i = 0; i < arms_.size(); ++i) {
        if (arms_[i].dropped_in_round != 0 || arms_[i].agreed_ns >= best_ns) continue;
        best = i;
        best_ns = arms_[i].agreed_ns;
    }
    for (std::size_t i = 0; i < arms_.size(); ++i) {
        Arm& arm = arms_[i];
        if (arm.dropped_in_round == 0 && i != native_ && is_behind(arm.agreed_ns, best_ns, behind_percent[round_]))
            arm.dropped_in_round = round_ + 1;
    }
    if (round_ > 0) chosen_ = best;
    if (++round_ < num_rounds) return plan_round();
    if (!is_behind(arms_[native_].agreed_ns, best_ns, slower_percent)) chosen_ = native_;
    rest();
}

void Selector::rest() {
    const std::size_t next = challenger();
    const bool known = arms_[next].agreed_ns != no_time && arms_[chosen_].agreed_ns != no_time;
    rest(known ? static_cast<double>(arms_[next].agreed_ns) / static_cast<double>(arms_[chosen_].agreed_ns) - 1 : 0);
}

void Selector::rest(double lost) {
    rest_left_ = rest_;
    if (lost > 0)  // what the challenger is known to lose is waited for
        rest_left_ =
            std::max(rest_left_, static_cast<std::int64_t>(calls_for_cost * num_calls_a_side() * std::min(lost, 1e6)));
}

void Selector::end_comparison() {
    if (!is_behind(arms_[chosen_].agreed_ns, arms_[challenger_].agreed_ns, slower_percent)) {
        num_lost_ = 0;
        rest_ = std::min(2 * rest_, last_rest);
        return rest();
    }
    rest_left_ = 1;
    rest_ = first_rest;
    if (++num_lost_ < lost_comparisons) {  // the same once more
        challenger_ = (challenger_ + arms_.size() - 1) % arms_.size();
        return;
    }
    num_lost_ = 0;
    rest_left_ = rest_;
    chosen_ = challenger_;
    arms_[chosen_].dropped_in_round = 0;
    ++num_changes_;
}

}  // namespace hocket::selection
