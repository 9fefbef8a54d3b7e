// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <time.h>

#include <cstdint>

namespace hocket {

/// A clock of this host that never goes back.
inline std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

/// The same in seconds.
inline double now_s() { return 1e-9 * static_cast<double>(now_ns()); }

/// CPU time of this thread in seconds.
inline double thread_cpu_s() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace hocket
