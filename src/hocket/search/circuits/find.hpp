// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "hocket/circuits/circuit_schedule.hpp"
#include "hocket/schedule/schedule.hpp"

/// A fast schedule of a collective on circuits, with a time that no schedule can beat.
namespace hocket::search {

struct CircuitProblem {
    Collective collective;  ///< bcast, reduce, allgather, allreduce or alltoall; the root is node 0
    circuits::Rules rules;
    double
        bytes;  ///< of the message of bcast, reduce and allreduce; of the block of a rank, or for one peer, otherwise
    std::optional<std::int32_t> segments = 1;  ///< of bcast and reduce, of equal size; none: as many as is fastest
    double time_limit_s = 3;                   ///< on a fast machine the search ends before
    std::uint64_t seed = 1;
};

struct CircuitAnswer {
    circuits::CircuitSchedule schedule;
    double lower_bound_s;
    bool optimal;           ///< proven: nothing is faster
    std::string algorithm;  ///< what made the schedule
    std::int32_t blocks;    ///< segments, parts of the vector, or blocks
};

/// @param go_on  asked between attempts; the search ends with what it has when it returns false
/// @throws InvalidInput  for another collective, or a value out of range
CircuitAnswer find_circuit_schedule(const CircuitProblem&, const std::function<bool()>& go_on = {});

}  // namespace hocket::search
