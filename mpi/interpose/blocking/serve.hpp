// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>

#include "interpose/call.hpp"
#include "interpose/communicators.hpp"

namespace hocket::interpose {

/// Carries out a call of so many bytes by the route's schedule, and counts it. The schedule is prepared at the first
/// call of its kind. Returns an MPI error code, `refused` without a message where that is one; the communicator's error
/// handler has been called.
int serve(Route& route, const Communicator& communicator, const Call& call, std::int64_t bytes, int refused);

}  // namespace hocket::interpose
