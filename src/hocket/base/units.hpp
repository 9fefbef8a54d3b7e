// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Text with units, at the edges only: inside, everything is SI in plain numbers.
/// k = 1000, Ki = 1024, B = byte, b or bit = bit. A bare non-zero number without a unit is an error.
namespace hocket::base {

/// "25 GB/s", "1 Gbit/s", "93 Mb/s", "3.6 Gbps" -> bytes per second, > 0 and finite.
/// @throws InvalidInput  naming `where`, the text found and the accepted units.
double parse_bandwidth(std::string_view text, std::string_view where = {});

/// "50 us", "1.5ms", "0" -> seconds, >= 0 and finite. @throws InvalidInput
double parse_duration(std::string_view text, std::string_view where = {});

/// "1 MB", "64KiB", "8 B", "0" -> bytes, >= 0. A fraction must come to whole bytes. @throws InvalidInput
std::int64_t parse_bytes(std::string_view text, std::string_view where = {});

/// The shortest text that parses back to the same value: "93 Mbit/s", "50 us", "64 KiB". A bandwidth is in bits.
std::string print_bandwidth(double bytes_per_s);
std::string print_duration(double seconds);
std::string print_bytes(std::int64_t bytes);

}  // namespace hocket::base
