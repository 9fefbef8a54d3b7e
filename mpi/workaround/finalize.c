// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// libhocket_workaround.so, for MPICH before 4.2 over UCX and TCP on several hosts. There MPI_Finalize waits for an
// answer of each peer, which a peer that is already in the launcher's last barrier never gives (pmodels/mpich pull
// request 6596), so that about every second program hangs at its end. After a barrier nothing is on its way, and the
// connections need no farewell.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

/// UCX: closes an endpoint. NULL = closed at once.
EXPORTED void* ucp_disconnect_nb(void* endpoint);
EXPORTED void* ucp_disconnect_nb(void* endpoint) {
    (void)endpoint;
    return NULL;
}

EXPORTED int PMPI_Finalize(void) {
    static int entered = 0;  // MPI calls MPI_Finalize from one thread
    int (*next)(void) = NULL;
    *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Finalize");
    if (!entered++) PMPI_Barrier(MPI_COMM_WORLD);
    return next();
}

EXPORTED int MPI_Finalize(void) { return PMPI_Finalize(); }
