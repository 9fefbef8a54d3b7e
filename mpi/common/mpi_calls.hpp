// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <string>

#include "common/backoff.hpp"
#include "hocket/base/error.hpp"

namespace hocket {

/// MPI's text for an error code.
inline std::string mpi_error_text(int code) {
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    PMPI_Error_string(code, text, &length);
    return text;
}

/// @throws Error  if `code` is not MPI_SUCCESS
inline void require(int code, const char* what) {
    if (code != MPI_SUCCESS) throw Error(std::string(what) + " failed: " + mpi_error_text(code));
}

/// Waits so that a rank on the same node that is not done has the core; a call that spins would take it.
inline void wait_aside(MPI_Request& request) {
    Backoff backoff;
    for (int done = 0; done == 0;) {
        require(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done == 0) backoff.pause();
    }
}

}  // namespace hocket
