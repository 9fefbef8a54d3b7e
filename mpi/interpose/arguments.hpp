// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include "interpose/call.hpp"

namespace hocket::interpose {

/// What to do with a call, judged by what this rank alone sees.
struct Verdict {
    enum { serve, native, refuse } action;
    int code = MPI_SUCCESS;  ///< the error to refuse it with
};

/// Finds what the MPI's own function would refuse before its first message, by asking the MPI. Such a call is left to
/// the MPI's own function, which reports the error in its own words; but where an MPI forgives what is wrong on the
/// root alone, the root is refused here, because that MPI would then wait for ranks that follow the schedule. A call
/// with receives on other ranks may still fail later. `rank` and `size` are those of the call's communicator.
Verdict judge(const Call& call, int rank, int size);

/// Once, after MPI_Init and before judge(). Local.
void prepare_arguments();
/// Before MPI_Finalize.
void release_arguments();

}  // namespace hocket::interpose
