// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <atomic>
#include <cstdint>

namespace hocket {

// Where nothing has moved for long, as when a rank is late, a hundredth of that time more does not matter. A native
// request counts as still until it is done: 5 MB at 1 Gbit/s, 40 ms, overlap as well with these naps as without.
inline constexpr std::int64_t long_nap_fraction = 100;
inline constexpr std::int64_t max_long_nap_ns = 1'000'000;

/// What a rank does between two polls that found nothing. On a node with more ranks than cores, the rank that polls
/// keeps the one from running that would send: so poll a little, then yield, then nap. A nap is a fraction of the time
/// already waited, which bounds what it can add to the wait; naps are short enough for a network with messages of a few
/// kilobytes.
class Backoff {
public:
    Backoff() = default;
    Backoff(const Backoff&) = delete;
    Backoff& operator=(const Backoff&) = delete;
    ~Backoff();

    /// Something moved.
    void reset() {
        num_polls_ = 0;
        is_long_ = false;
    }
    /// Nothing moved.
    void pause();
    /// Nothing has moved for longer than a message of a few kilobytes takes.
    [[nodiscard]] bool is_long() const { return is_long_; }
    /// Nothing has moved for so long that a limit of ours may be the reason.
    [[nodiscard]] bool is_very_long() const { return is_very_long_; }

    /// One reason more, or less (-1), for this process only to yield and not to nap.
    static void add_reason_to_stay_awake(int change) { reasons_to_stay_awake.fetch_add(change); }

private:
    static inline std::atomic<int> reasons_to_stay_awake{0};
    std::int64_t num_polls_ = 0;
    std::int64_t idle_since_ns_ = 0;
    bool is_long_ = false;
    bool is_very_long_ = false;
    int timer_slack_ns_ = -1;  // what to give back, once changed
};

}  // namespace hocket
