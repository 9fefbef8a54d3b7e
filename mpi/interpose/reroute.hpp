// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <optional>

#include "hocket/schedule/schedule.hpp"
#include "runtime/memory.hpp"

namespace hocket::interpose {

/// One call of the program. The buffer of bcast is `arguments.recv`.
struct Call {
    Collective collective;
    runtime::Arguments arguments;
    int root;
    MPI_Comm comm;
};

/// Carries the call out by the plan and returns its MPI error code; nothing if the MPI's own function shall do it. What decides
/// is the same on all ranks of the communicator: collective, members, bytes of the signature, root, operator.
std::optional<int> reroute(const Call& call);

}  // namespace hocket::interpose
