// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

#include "interpose/call.hpp"
#include "interpose/communicators.hpp"

namespace hocket::interpose {

/// What all ranks see alike: bytes of the message, or of the block of one rank. Negative if there is no such size,
/// which the MPI's own function will complain about.
std::int64_t bytes_of(const Call& call, const Communicator& communicator);

/// The entry that serves a call of so many bytes, or null.
Route* find_route(Communicator& communicator, const Call& call, std::int64_t bytes);

}  // namespace hocket::interpose
