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

}  // namespace hocket
