// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <optional>

#include "hocket/program/program.hpp"

namespace hocket::simulation {

/// The program with what MPIs do for a message of `rendezvous_bytes` or more: its sender asks by an empty message, the receiver
/// answers by another once the recv is posted, and then the data go. Both are messages as others, with overheads, latencies
/// and places in the queue of their pair; a request needs no recv to be taken. Ops keep their numbers, new ones come
/// after them. Nothing if no message is that large.
/// @throws InvalidInput  as `match`.
std::optional<Program> with_handshakes(const Program&, std::int64_t rendezvous_bytes);

}  // namespace hocket::simulation
