// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/network/ranges.hpp"

#include <array>
#include <cstdio>

#include "hocket/base/error.hpp"

namespace hocket::network {
namespace {

[[noreturn]] void refuse(const std::string& where, double value, const char* unit, const char* accepted) {
    std::array<char, 40> number{};
    std::snprintf(number.data(), number.size(), "%.6g", value);
    throw InvalidInput(where + ": " + number.data() + " " + unit + " is out of range", accepted);
}

}  // namespace

void check_bandwidth(double bytes_per_s, const std::string& where) {
    if (!is_bandwidth(bytes_per_s)) refuse(where, bytes_per_s, "bytes/s", "accepted: from 1 bit/s to 1e18 bytes/s");
}

void check_latency(double latency_s, const std::string& where) {
    if (!is_latency(latency_s)) refuse(where, latency_s, "s", "accepted: from 0 to 1e6 s");
}

}  // namespace hocket::network
