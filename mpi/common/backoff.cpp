// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "common/backoff.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

#include "common/clock.hpp"

namespace hocket {

namespace {

constexpr std::int64_t polls_before_yield = 32;
constexpr std::int64_t poll_ns = 2'000;  // from then on: in shared memory a message comes while a yield would last
// Then naps. Eight ranks on two cores take 0.4 to 0.95 times as long for calls of a few bytes as with 50 us, and no
// longer for large ones: who wakes from a nap waits until those that yield have had their turns.
constexpr std::int64_t yield_ns = 1'000'000;
constexpr std::int64_t nap_fraction = 8;
constexpr std::int64_t max_nap_ns = 200'000;
constexpr std::int64_t long_idle_ns = 500'000;
constexpr std::int64_t very_long_idle_ns = 50'000'000;

}  // namespace

Backoff::~Backoff() {
    if (timer_slack_ns_ > 0) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(timer_slack_ns_));
}

void Backoff::pause() {
    if (++num_polls_ < polls_before_yield) return;
    if (num_polls_ == polls_before_yield) idle_since_ns_ = now_ns();
    const std::int64_t idle_ns = now_ns() - idle_since_ns_;
    is_long_ = idle_ns > long_idle_ns;
    is_very_long_ = is_very_long_ || idle_ns > very_long_idle_ns;
    if (idle_ns < poll_ns) return;
    if (idle_ns < yield_ns || reasons_to_stay_awake.load(std::memory_order_relaxed) > 0) {
        sched_yield();
        return;
    }
    if (timer_slack_ns_ < 0) {  // the usual slack of 50 us would double a short nap
        timer_slack_ns_ = prctl(PR_GET_TIMERSLACK);
        prctl(PR_SET_TIMERSLACK, 1UL);
    }
    const timespec nap{0, std::max(std::min(idle_ns / nap_fraction, max_nap_ns),
                                   std::min(idle_ns / long_nap_fraction, max_long_nap_ns))};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
}

}  // namespace hocket
