// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace hocket::selection {

/// Whether calls of one kind shall progress in the background, found by this rank alone from the time that the program
/// computes between the start of a call and the wait for it, and from the time it waits. What a native call may gain is
/// the lesser of the two. Where that is worth a thread, some calls are made with it; it stays if they were faster. Now
/// and then all is looked at again.
class Choice {
public:
    static constexpr int native_calls = 3, background_calls = 5;                 ///< whose medians are compared
    static constexpr std::int64_t first_interval = 64, longest_interval = 4096;  ///< calls until it is looked at again
    static constexpr std::int64_t min_gain_ns = 10'000;                          ///< some times what a proxy costs
    static constexpr std::int64_t min_gain_fraction = 50;                        ///< one 50th of the time

    /// Of large messages each call is timed, which costs little beside them, so that a change of the program is seen at
    /// once.
    explicit Choice(bool is_large) : is_large_(is_large) {}

    enum class Way {
        native,
        timed_native,  ///< and took() is to be called
        background,    ///< as well
    };
    /// Of the next call.
    Way next();
    void took(bool in_background, std::int64_t compute_ns, std::int64_t wait_ns);

private:
    enum class Step { settled, native, background };
    void settle(bool in_background, bool can_gain);

    const bool is_large_;
    std::atomic<std::int64_t> calls_left_{0};  // until it is looked at again
    std::atomic<Step> step_{Step::settled};
    std::atomic<bool> background_{false};
    std::mutex mutex_;  // guards the rest
    std::int64_t interval_ = first_interval;
    int num_samples_ = 0;
    std::array<std::int64_t, background_calls> total_ns_{}, gain_ns_{};
    std::int64_t native_ns_ = 0;
};

}  // namespace hocket::selection
