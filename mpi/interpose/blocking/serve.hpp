// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include "interpose/blocking/decision.hpp"
#include "interpose/call.hpp"

namespace hocket::interpose {

/// Carries out a call for which a schedule was decided, and counts it. The schedule is prepared at the first call of its
/// kind. Returns an MPI error code; the communicator's error handler has been called.
int serve(const Decision& decision, const Call& call);

}  // namespace hocket::interpose
