// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <cstdint>

#include "interpose/blocking/served.hpp"
#include "interpose/call.hpp"
#include "interpose/communicators.hpp"

namespace hocket::interpose {

/// How to carry out a call.
struct Decision {
    Outcome outcome = Outcome::communicator;
    SelfCheck* timed = nullptr;  ///< wants to know how long the call takes, unless it is null
    // Of a call by a schedule:
    Communicator* communicator = nullptr;
    Route* route = nullptr;
    std::int64_t bytes = 0;
    int refused = MPI_SUCCESS;  ///< the error that hocket reports instead
};

/// Collective over the call's communicator, where the plan serves it. All ranks decide alike: by collective, members,
/// bytes of the signature, root, operator, and what the self-check has found.
Decision decide(const Call& call);

}  // namespace hocket::interpose
