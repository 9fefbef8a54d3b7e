// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <limits>
#include <string>

namespace hocket::network {

/// What a link may have. Far beyond any network, and such that the time of no message overflows, however many there
/// are.
inline constexpr double least_bandwidth_bytes_per_s = 0.125;  ///< 1 bit/s
inline constexpr double most_bandwidth_bytes_per_s = 1e18;
inline constexpr double most_latency_s = 1e6;

/// In range; a bandwidth may also be infinite.
constexpr bool is_bandwidth(double bytes_per_s) {
    return (bytes_per_s >= least_bandwidth_bytes_per_s && bytes_per_s <= most_bandwidth_bytes_per_s) ||
           bytes_per_s > std::numeric_limits<double>::max();
}
constexpr bool is_latency(double latency_s) { return latency_s >= 0 && latency_s <= most_latency_s; }

/// @throws InvalidInput  naming `where`, what was found and is accepted otherwise.
void check_bandwidth(double bytes_per_s, const std::string& where);
void check_latency(double latency_s, const std::string& where);

}  // namespace hocket::network
