// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <exception>
#include <new>
#include <string>

#include "hocket.h"
#include "hocket/base/error.hpp"

/// How the functions of hocket.h end: what is thrown inside becomes a status, and the thread's last error.

namespace hocket::runtime {

inline thread_local std::string last_error;
inline thread_local int last_mpi_error = MPI_SUCCESS;

struct MpiFailure {
    int code;
};

inline void require(int code) {
    if (code != MPI_SUCCESS) throw MpiFailure{code};
}

inline void require_argument(bool good, const char* what) {
    if (!good) throw InvalidInput(what);
}

inline hocket_status fail(hocket_status status) {
    last_error = hocket_status_string(status);
    return status;
}

/// Turns whatever `work` throws into a status.
template <class Work>
hocket_status guarded(Work work) noexcept {
    try {
        return work();
    } catch (const InvalidInput& error) {
        last_error = error.what();
        return HOCKET_ERROR_INVALID;
    } catch (const MpiFailure& failure) {
        char text[MPI_MAX_ERROR_STRING + 1] = "";
        int length = 0;
        PMPI_Error_string(failure.code, text, &length);
        last_mpi_error = failure.code;
        last_error = text;
        return HOCKET_ERROR_MPI;
    } catch (const std::bad_alloc&) {
        last_error = "out of memory";
        return HOCKET_ERROR_MEMORY;
    } catch (const std::exception& error) {
        last_error = error.what();
        return HOCKET_ERROR_INTERNAL;
    }
}

}  // namespace hocket::runtime
