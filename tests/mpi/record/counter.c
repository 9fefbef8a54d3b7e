/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Another PMPI tool: it counts broadcasts and barriers. */
#include <mpi.h>
#include <stdio.h>

static int num_broadcasts, num_barriers;

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    ++num_broadcasts;
    return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Barrier(MPI_Comm comm) {
    ++num_barriers;
    return PMPI_Barrier(comm);
}

int MPI_Finalize(void) {
    printf("counted %d %d\n", num_broadcasts, num_barriers);
    fflush(stdout);
    return PMPI_Finalize();
}
