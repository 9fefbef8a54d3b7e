/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Calls of a collective on one rank, for perf/call_instructions.py: which collective, bytes, how many. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    const char* const collective = argv[1];
    const int bytes = atoi(argv[2]), calls = atoi(argv[3]);
    char *const from = calloc((size_t)bytes, 1), *const to = calloc((size_t)bytes, 1);
    MPI_Init(&argc, &argv);
    for (int i = 0; i < calls; ++i) {
        if (strcmp(collective, "bcast") == 0)
            MPI_Bcast(from, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        else if (strcmp(collective, "allreduce") == 0)
            MPI_Allreduce(from, to, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    free(from);
    free(to);
    return 0;
}
