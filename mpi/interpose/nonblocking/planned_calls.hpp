// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/call.hpp"
#include "interpose/nonblocking/collective_queue.hpp"

namespace hocket::interpose {

/// Collective over the communicator, while the program makes it: its calls may go by the plan in the background from
/// now on.
void open_queue(MPI_Comm comm);

/// Starts a non-blocking collective by the plan. Empty: it stays the MPI's own.
std::unique_ptr<PlannedCall> plan_call(const Call& call, int* code);

/// A persistent collective for starts by the plan, when the MPI has made its own. Collective. Empty on all ranks: it
/// stays the MPI's own.
std::unique_ptr<PlannedCall> plan_persistent(const Call& call);

}  // namespace hocket::interpose
