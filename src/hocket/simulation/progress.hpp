// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "hocket/simulation/options.hpp"

namespace hocket::simulation {

/// Since some instant that is the same throughout a process.
inline double real_time_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Calls on_progress each time that much work has been done: the same calls for the same simulation, tens a second.
class PeriodicProgress {
public:
    PeriodicProgress(const OnProgress& on_progress, std::int64_t work_between)
        : on_progress_(on_progress), work_between_(work_between), next_(work_between) {}

    /// Whether to go on, after `work` in all; `progress()` is how far.
    template <class Progress>
    bool goes_on(std::int64_t work, Progress&& progress) {
        if (work < next_ || !on_progress_) return true;
        next_ = work + work_between_;
        return on_progress_(progress());
    }

private:
    const OnProgress& on_progress_;
    std::int64_t work_between_, next_;
};

/// What all threads of a simulation have done together. The calling thread alone reports it: a progress function need
/// not be safe to be called by others.
class SharedProgress {
public:
    SharedProgress(const OnProgress& on_progress, std::int64_t num_total)
        : on_progress_(on_progress), num_total_(num_total) {}

    void add(std::int64_t num_done) { num_done_.fetch_add(num_done, std::memory_order_relaxed); }
    /// In the calling thread. `time_s` may be earlier than one reported before: parts are simulated one after another.
    void report(double time_s = 0) {
        latest_s_ = std::max(latest_s_, time_s);
        if (!on_progress_ || stops()) return;
        try {
            if (!on_progress_({num_done_.load(std::memory_order_relaxed), num_total_, latest_s_})) stop();
        } catch (...) {
            stop();
            throw;
        }
    }
    /// All threads, soon.
    void stop() { stops_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool stops() const { return stops_.load(std::memory_order_relaxed); }

private:
    const OnProgress& on_progress_;
    const std::int64_t num_total_;
    std::atomic<std::int64_t> num_done_ = 0;
    std::atomic<bool> stops_ = false;
    double latest_s_ = 0;
};

/// What one of these threads has done: the parts that it has been through, and the one at hand.
class ThreadProgress {
public:
    ThreadProgress(SharedProgress& shared, bool reports) : shared_(shared), reports_(reports) {}

    /// With so much done of the part at hand; whether to go on. Looks up tens of times a second.
    bool goes_on(std::int64_t num_done, std::int64_t work, double time_s) {
        if (work_before_ + work < next_) return true;
        next_ = work_before_ + work + (std::int64_t{1} << 15U);
        shared_.add(num_done - num_added_);
        num_added_ = num_done;
        if (reports_) shared_.report(time_s);
        return !shared_.stops();
    }
    void end_part(std::int64_t num_done, std::int64_t work) {
        shared_.add(num_done - num_added_);
        num_added_ = 0;
        work_before_ += work;
    }

private:
    SharedProgress& shared_;
    const bool reports_;
    std::int64_t num_added_ = 0;  // of the part at hand
    std::int64_t work_before_ = 0, next_ = std::int64_t{1} << 15U;
};

}  // namespace hocket::simulation
