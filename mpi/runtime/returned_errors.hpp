// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

namespace hocket::runtime {

/// MPICH reports what MPI_Test and MPI_Testsome find to the error handler of MPI_COMM_WORLD, and all report so what
/// MPI_Reduce_local finds. While an object of this class lives these return it, so that the other ranks get their
/// messages and the program's own handler is called after. Nobody else can see the change: where other threads may call
/// MPI, nothing is changed and such an error is fatal.
class ReturnedErrors {
public:
    ReturnedErrors() {
        static const bool others = [] {
            int level = MPI_THREAD_MULTIPLE;
            PMPI_Query_thread(&level);
            return level == MPI_THREAD_MULTIPLE;
        }();
        if (others || PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &program_handler_) != MPI_SUCCESS) return;
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    ReturnedErrors(const ReturnedErrors&) = delete;
    ReturnedErrors& operator=(const ReturnedErrors&) = delete;
    ~ReturnedErrors() {
        if (program_handler_ == MPI_ERRHANDLER_NULL) return;
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, program_handler_);
        PMPI_Errhandler_free(&program_handler_);
    }

private:
    MPI_Errhandler program_handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace hocket::runtime
