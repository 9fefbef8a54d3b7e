// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/outcome.hpp"

#include "common/mpi_calls.hpp"

namespace hocket::bench {

const char* status_name(Status status) {
    switch (status) {
        case Status::ok:
            return "ok";
        case Status::unsupported:
            return "unsupported";
        case Status::error:
            return "error";
        case Status::crash:
            return "crash";
        case Status::hang:
            return "hang";
        case Status::wrong_data:
            return "wrong_data";
    }
    return "";
}

namespace {

int class_of(int code) {
    int kind = MPI_ERR_OTHER;
    PMPI_Error_class(code, &kind);
    return kind;
}

}  // namespace

void call(int code, const char* function) {
    if (code == MPI_SUCCESS) return;
    const int kind = class_of(code);
    const bool unsupported = kind == MPI_ERR_UNSUPPORTED_OPERATION || kind == MPI_ERR_UNSUPPORTED_DATAREP;
    throw Failure(unsupported ? Status::unsupported : Status::error,
                  std::string(function) + " returned class " + std::to_string(kind) + ": " + mpi_error_text(code));
}

void call_making_window(int code, const char* function) {
    if (code == MPI_SUCCESS || class_of(code) != MPI_ERR_WIN) return call(code, function);
    throw Failure(Status::unsupported, std::string(function) +
                                           " returned MPI_ERR_WIN: this MPI has no one-sided communication between "
                                           "these ranks; of Open MPI, `ompi_info --param osc all` lists the "
                                           "components, and --mca osc chooses among them");
}

}  // namespace hocket::bench
