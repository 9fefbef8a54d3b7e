// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hocket/program/program.hpp"
#include "hocket/simulation/timeline.hpp"

namespace hocket::simulation {

/// Two that no message of the program has.
std::array<std::int32_t, 2> free_tags(const Program&);

/// The program with what MPIs do for a message of `rendezvous_bytes` or more: its sender asks by an empty message, the
/// receiver answers by another once the recv is posted, and then the data go. Both are messages as others, with
/// overheads, latencies and places in the queue of their pair; a request needs no recv to be taken. Ops keep their
/// numbers, new ones come after them. Nothing if no message is that large.
/// @throws InvalidInput  as `match`.
std::optional<Program> with_handshakes(const Program&, std::int64_t rendezvous_bytes);

/// Leaves the intervals [rank][op] of the ops that `program` has without handshakes: a send starts when it asks.
void forget_handshakes(const Program& program, const Program& with_handshakes,
                       std::vector<std::vector<Timeline::Interval>>& ranks);

}  // namespace hocket::simulation
