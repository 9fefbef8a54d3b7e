// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

#include "interpose/call.hpp"
#include "interpose/communicators.hpp"

namespace hocket::interpose {

/// What all ranks see alike: bytes of the message, or of the block of one rank. Negative if there is no such size,
/// which the MPI's own function will complain about.
std::int64_t signature_bytes(const Call& call, const Communicator& communicator);

/// The entry that serves a call of so many bytes, or null.
Route* find_route(Communicator& communicator, const Call& call, std::int64_t bytes);

/// Whether the route's schedule may combine with the operator and datatype of a call whose arguments are good.
bool may_combine(const Route& route, const Call& call);
/// The same for a call of any collective.
inline bool keeps_order(const Route& route, const Call& call) {
    return !combines(call.collective) || may_combine(route, call);
}

}  // namespace hocket::interpose
