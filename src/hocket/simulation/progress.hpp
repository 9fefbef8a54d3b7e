// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <chrono>
#include <cstdint>

#include "hocket/simulation/simulate.hpp"

namespace hocket::simulation {

/// Since some instant that is the same throughout a process.
inline double real_time_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Calls on_progress each time that much work has been done: the same calls for the same simulation, tens a second.
class ProgressTeller {
public:
    ProgressTeller(const OnProgress& on_progress, std::int64_t work_between)
        : on_progress_(on_progress), work_between_(work_between), next_(work_between) {}

    /// Whether to go on, after `work` in all; `progress()` says how far.
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

}  // namespace hocket::simulation
