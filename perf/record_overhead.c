// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

/* What the recorder costs: the time of an MPI_Isend or MPI_Wait to MPI_PROC_NULL, in ns, the best of 400 batches. Run
 * it with and without libhocket_record.so preloaded; the difference is the cost of a call. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    enum { BATCHES = 400, PAIRS = 1000 };
    double best = 1e9, value = 0;
    MPI_Init(&argc, &argv);
    for (int batch = 0; batch < BATCHES; ++batch) {
        const double start = MPI_Wtime();
        for (int i = 0; i < PAIRS; ++i) {
            MPI_Request request;
            MPI_Isend(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        const double spent = MPI_Wtime() - start;
        if (spent < best) best = spent;
    }
    printf("%.1f\n", best / (2.0 * PAIRS) * 1e9);
    MPI_Finalize();
    return 0;
}
