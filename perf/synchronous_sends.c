/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* A library to preload: every MPI_Isend of the runtime becomes an MPI_Issend, which completes once its receiver has
 * begun to take the message. For perf/send_after_send.py. */
#include <mpi.h>

int PMPI_Isend(const void* buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
               MPI_Request* request) {
    return PMPI_Issend(buffer, count, type, target, tag, comm, request);
}
