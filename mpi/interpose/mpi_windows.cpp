// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// MPI functions that make and free windows. Where the network or the MPI has no hardware for it, MPI_Accumulate and the
// like move on only while their target is inside MPI, many steps for one large operation. A target that waits in a
// collective and napped between its looks would make each step as long as a nap. With MPICH that is so in shared memory
// too, where a lock asks the target's rank.

#include <mpi.h>

#include "common/backoff.hpp"
#include "interpose/mpi_define.hpp"
#include "interpose/next.hpp"

using hocket::Backoff;
using hocket::interpose::next;

#define HOCKET_FUNCTION(name, function, parameters, arguments, ...)    \
    HOCKET_DEFINE(name, parameters) {                                  \
        const int code = next.name arguments;                          \
        if (code == MPI_SUCCESS) Backoff::add_reason_to_stay_awake(1); \
        return code;                                                   \
    }
#include "pmpi/window.inc"

HOCKET_DEFINE(Win_free, (MPI_Win * window)) {
    const int code = next.Win_free(window);
    if (code == MPI_SUCCESS) Backoff::add_reason_to_stay_awake(-1);
    return code;
}
