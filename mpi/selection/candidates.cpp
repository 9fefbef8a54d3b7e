// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "selection/candidates.hpp"

#include <algorithm>
#include <cmath>

namespace hocket::selection {

void Candidates::took(std::size_t arm, std::int64_t duration_ns) {
    arms_[arm].samples.push_back(std::max<std::int64_t>(1, duration_ns));
}

std::int64_t Candidates::sample_ns(std::size_t arm) const {
    std::vector<std::int64_t> samples = arms_[arm].samples;
    std::sort(samples.begin(), samples.end());
    return samples.empty() ? no_time : samples[(samples.size() - 1) / 2];
}

void Candidates::clear_samples() {
    for (Arm& arm : arms_) arm.samples.clear();
}

bool Candidates::is_behind(std::size_t arm, std::int64_t best_ns, int percent) const {
    // In floating point, since no_time times anything would overflow.
    return static_cast<double>(arms_[arm].agreed_ns) > static_cast<double>(best_ns) * (1 + percent / 100.0);
}

std::size_t Candidates::end_round(int round, int percent, std::size_t kept) {
    std::size_t best = kept;
    std::int64_t best_ns = no_time;
    for (std::size_t i = 0; i < arms_.size(); ++i) {
        if (arms_[i].dropped_in_round != 0 || arms_[i].agreed_ns >= best_ns) continue;
        best = i;
        best_ns = arms_[i].agreed_ns;
    }
    for (std::size_t i = 0; i < arms_.size(); ++i) {
        if (arms_[i].dropped_in_round == 0 && i != kept && is_behind(i, best_ns, percent))
            arms_[i].dropped_in_round = round;
    }
    return best;
}

Candidates::Verdict Candidates::compare(std::size_t challenger) {
    const std::int64_t challenger_ns = arms_[challenger].agreed_ns, chosen_ns = arms_[chosen_].agreed_ns;
    const bool lost = is_behind(chosen_, challenger_ns, policy_->slower_percent);
    num_lost_ = lost ? num_lost_ + 1 : 0;
    bool gives_way = num_lost_ >= policy_->lost_comparisons;
    if (policy_->lost_percent_limit > 0) {
        const std::int64_t longer_ns = std::max(chosen_ns, challenger_ns);
        const std::int64_t percent = 100 * (chosen_ns - challenger_ns) / longer_ns - policy_->slower_percent;
        lost_percent_ = std::max<std::int64_t>(0, lost_percent_ + percent);
        gives_way = gives_way || lost_percent_ >= policy_->lost_percent_limit;
    }
    if (!gives_way) return lost ? Verdict::lost : Verdict::kept;
    use(challenger);
    ++num_changes_;
    return Verdict::changed;
}

void Candidates::inherit(int num_lost, std::size_t challenger) {
    num_lost_ = num_lost;
    if (num_lost >= policy_->lost_comparisons) use(challenger);
}

void Candidates::use(std::size_t arm) {
    chosen_ = arm;
    num_lost_ = 0;
    lost_percent_ = 0;
}

double Candidates::lost_by(std::size_t arm) const {
    const std::int64_t arm_ns = arms_[arm].agreed_ns, chosen_ns = arms_[chosen_].agreed_ns;
    if (arm_ns == no_time || chosen_ns == no_time) return 0;
    return std::max(0.0, static_cast<double>(arm_ns) / static_cast<double>(chosen_ns) - 1);
}

std::int64_t Candidates::calls_that_pay(double cost) {
    constexpr double most = 1e8;  // any longer is never
    return static_cast<std::int64_t>(std::ceil(calls_for_cost * std::clamp(cost, 0.0, most)));
}

}  // namespace hocket::selection
