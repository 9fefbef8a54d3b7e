// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <string_view>

#include "hocket/schedule/schedule.hpp"

namespace hocket::cost {

/// Time of an algorithm in Hockney's model [Hockney94]: a message of n bytes takes alpha + n * beta, where alpha is the
/// latency and beta one over the bandwidth; a rank sends one message at a time and receives one at a time; there is no
/// contention between ranks, and combining costs nothing. The forms are those of [Thakur05] and [PjesivacGrbovic07];
/// they are exact in the model for powers of two and, where hockney.cpp has no other note, for every number of ranks.
/// `bytes` as in lower(); `segments` as in collectives::Shape.
/// @throws InvalidInput  for an algorithm without a closed form, naming those that have one, or a value out of range.
double hockney_s(Collective, std::string_view algorithm, std::int32_t num_ranks, std::int64_t bytes, double latency_s,
                 double bandwidth_bytes_per_s, std::int32_t segments = 1);

}  // namespace hocket::cost
