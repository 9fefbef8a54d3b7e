// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <string>

#include "common/backoff.hpp"
#include "common/clock.hpp"
#include "hocket/base/error.hpp"

/// What the measuring programs have in common.
namespace hocket::probes {

/// @throws Error  if `code` is not MPI_SUCCESS
inline void require(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    PMPI_Error_string(code, text, &length);
    throw Error(std::string(what) + " failed: " + text);
}

/// Waits so that a rank on the same node that is not done has the core; a call that spins would take it.
inline void wait_aside(MPI_Request& request) {
    Backoff backoff;
    for (int done = 0; done == 0;) {
        require(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done == 0) backoff.pause();
    }
}

}  // namespace hocket::probes
