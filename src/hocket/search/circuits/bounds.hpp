// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>

#include "hocket/circuits/circuit_schedule.hpp"
#include "hocket/schedule/schedule.hpp"

/// Times that no schedule on circuits can beat; bounds.cpp has the proofs.
namespace hocket::search {

/// @param bytes     as for the steps of the collective (steps.hpp); of the message for bcast and reduce
/// @param segments  of bcast and reduce, of equal size, which are not divided; none: any division
double circuit_bound_s(Collective, const circuits::Rules&, double bytes, std::optional<std::int32_t> segments);

/// s + d + min over m of (m - 1 + r)(alpha + n beta / m), r the fewest rounds of one configuration: what m segments of
/// equal size in rounds take at least with injection one. No bound for other schedules; a measure of the pipelining.
/// Infinite if one configuration does not reach all.
double pipelined_reference_s(const circuits::Rules&, double bytes);

}  // namespace hocket::search
