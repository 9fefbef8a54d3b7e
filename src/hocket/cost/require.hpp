// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "hocket/base/error.hpp"

namespace hocket::cost {

/// Checks of what closed forms are asked for. Each throws InvalidInput that names `key`, what was found and what is
/// expected.
inline void require(bool ok, const std::string& key, const std::string& found, const std::string& expected) {
    if (!ok) throw InvalidInput(key + " is " + found + ": expected " + expected);
}

inline void require_time(double time_s, const std::string& key) {
    require(time_s >= 0 && std::isfinite(time_s), key, std::to_string(time_s), "a finite time, at least 0 s");
}

inline void require_bandwidth(double bytes_per_s) {
    require(bytes_per_s > 0, "bandwidth", std::to_string(bytes_per_s), "a number above 0");
}

inline void require_at_least_1(std::int64_t number, const std::string& key) {
    require(number >= 1, key, std::to_string(number), "at least 1");
}

}  // namespace hocket::cost
