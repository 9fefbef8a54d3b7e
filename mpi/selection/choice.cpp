// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "selection/choice.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace hocket::selection {

namespace {

std::int64_t median(std::span<const std::int64_t> values) {
    std::vector<std::int64_t> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
}

}  // namespace

Choice::Way Choice::next() {
    Step step = step_.load(std::memory_order_relaxed);
    if (step == Step::settled) {
        // Two threads may lose a count between them.
        const std::int64_t left = calls_left_.load(std::memory_order_relaxed);
        if (left > 0) {
            calls_left_.store(left - 1, std::memory_order_relaxed);
            return background_.load(std::memory_order_relaxed) ? Way::background : Way::native;
        }
        const std::lock_guard lock(mutex_);
        num_samples_ = 0;
        step_ = step = Step::native;
    }
    return step == Step::native ? Way::timed_native : Way::background;
}

void Choice::took(bool in_background, std::int64_t compute_ns, std::int64_t wait_ns) {
    const Step expected = in_background ? Step::background : Step::native;
    if (step_.load(std::memory_order_relaxed) != expected) return;
    const std::lock_guard lock(mutex_);
    if (step_.load(std::memory_order_relaxed) != expected) return;
    const auto place = static_cast<std::size_t>(num_samples_++);
    total_ns_[place] = compute_ns + wait_ns;
    gain_ns_[place] = std::min(compute_ns, wait_ns);
    if (num_samples_ < (in_background ? background_calls : native_calls)) return;
    const auto num = static_cast<std::size_t>(num_samples_);
    const std::int64_t total_ns = median(std::span(total_ns_).first(num));
    const std::int64_t gain_ns = median(std::span(gain_ns_).first(num));
    num_samples_ = 0;
    if (in_background) return settle(total_ns < native_ns_, true);
    if (gain_ns < std::max(min_gain_ns, total_ns / min_gain_fraction)) return settle(false, false);
    native_ns_ = total_ns;
    step_ = Step::background;
}

void Choice::settle(bool in_background, bool can_gain) {
    background_ = in_background;
    if (can_gain || !is_large_) {
        calls_left_ = interval_;
        interval_ = std::min(4 * interval_, longest_interval);
    }
    step_ = Step::settled;
}

}  // namespace hocket::selection
