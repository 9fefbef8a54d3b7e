// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/c_status.hpp"

using namespace hocket::runtime;

const char* hocket_status_string(hocket_status status) {
    switch (status) {
        case HOCKET_OK:
            return "success";
        case HOCKET_ERROR_INVALID:
            return "an argument is wrong";
        case HOCKET_ERROR_MPI:
            return "MPI returned an error";
        case HOCKET_ERROR_MEMORY:
            return "out of memory";
        case HOCKET_ERROR_ORDER:
            return "the schedule does not keep the order that a non-commutative operator needs";
        case HOCKET_ERROR_INTERNAL:
            return "internal error";
        case HOCKET_ERROR_THREAD_LEVEL:
            return "an engine with a thread needs MPI_THREAD_MULTIPLE: ask MPI_Init_thread for it";
    }
    return "unknown status";
}

const char* hocket_last_error(void) { return last_error.c_str(); }
int hocket_last_mpi_error(void) { return last_mpi_error; }
