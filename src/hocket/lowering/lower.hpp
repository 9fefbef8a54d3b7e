// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

#include "hocket/program/program.hpp"
#include "hocket/schedule/schedule.hpp"

namespace hocket {

/// A Schedule with sizes. `bytes` is the message of bcast, reduce, allreduce, and the block of one rank (what MPI calls
/// sendcount or recvcount times the type's size) for the others; 0 for barrier.
/// Blocks are cut by the rule of schedule/segments.hpp; `element_bytes` is the granularity of the cut.
/// Messages whose chunks come to 0 bytes are left out; those without chunks stay, for they keep an order. A recv_reduce
/// becomes recv + reduce. The k-th message from one rank to another has tag k.
/// @throws InvalidInput  if the schedule is malformed, or bytes is negative or not a multiple of element_bytes.
Program lower(const Schedule&, std::int64_t bytes, std::int64_t element_bytes = 1);

/// The part of one rank in a schedule of `num_ranks` with so many segments, which must be well formed.
/// @throws InvalidInput  if bytes is negative or too large.
RankProgram lower_rank(const RankSchedule&, Collective, std::int32_t num_ranks, std::int32_t segments,
                       std::int64_t bytes);

}  // namespace hocket
