// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

/* 100 broadcasts, then rank 1 ends as the argument asks while the others wait for it. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, value = 0;
    const char* how = argc > 1 ? argv[1] : "finalize";
    if (strcmp(how, "never") == 0) return 0; /* no MPI call at all */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; ++i) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "exit") == 0) exit(5);
    if (rank == 1) {
        if (strcmp(how, "kill") == 0) raise(SIGKILL);
        if (strcmp(how, "crash") == 0) raise(SIGSEGV);
        if (strcmp(how, "abort") == 0) {
            MPI_Abort(MPI_COMM_WORLD, 3);
            pause(); /* MPICH 5's may return before the launcher has ended the ranks: rank 0 would reach its end */
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d done\n", rank);
    MPI_Finalize();
    return 0;
}
