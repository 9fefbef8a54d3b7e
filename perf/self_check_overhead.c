/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* The time of a loop of broadcasts, in seconds: of how many bytes, how many. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank;
    const int bytes = atoi(argv[1]), calls = atoi(argv[2]);
    char* const data = calloc((size_t)bytes, 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < calls; ++i) MPI_Bcast(data, bytes, MPI_BYTE, i / 100 % 2, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%.9f\n", MPI_Wtime() - begin);
    MPI_Finalize();
    free(data);
    return 0;
}
