// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

#include "common/launched.h"
#include "hocket/base/error.hpp"

namespace hocket {

/// "error: ..." and, if there is one, "hint: ...".
inline void print_error(const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    if (!error.hint().empty()) std::fprintf(stderr, "hint: %s\n", error.hint().c_str());
}

/// Ends all ranks, after a pause in which the launcher reads what was printed: MPICH 5.0's drops what it has not read
/// when a rank aborts (seen in 2 of 25 runs).
inline void abort_all(int status) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    PMPI_Abort(MPI_COMM_WORLD, status);
}

/// @throws InvalidInput  the launcher started several processes and each is alone
inline void require_one_world() {
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const hocket_alone alone = hocket_find_alone(ranks);
    if (alone.launcher == nullptr) return;
    if (!alone.is_first) std::_Exit(0);  // the first one says it for all
    throw InvalidInput(std::string(alone.launcher) + " has started " + std::to_string(alone.processes) +
                           " processes, and each is alone in its MPI_COMM_WORLD: the launcher is not of this MPI",
                       HOCKET_ALONE_HINT);
}

/// What a program does between MPI_Init and MPI_Finalize: the exit status of `run(rank)`. InvalidInput is one of all
/// ranks, and rank 0 prints it; after any other exception, which is of this rank alone, all ranks are ended, since they
/// may wait for it.
///
/// Only rank 0 returns `invalid`: where several statuses are not 0, mpiexec of Open MPI 5.0.11 at times does not end.
template <class Run>
int run_reporting_errors(Run&& run, int invalid = 2) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        require_one_world();
        return run(rank);
    } catch (const InvalidInput& error) {
        if (rank != 0) return 0;
        print_error(error);
        return invalid;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "error: rank %d: %s\n", rank, error.what());
        abort_all(1);
        return 1;
    }
}

}  // namespace hocket
