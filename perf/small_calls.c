/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* Prints the time of one call of each collective with so many bytes, in nanoseconds: the median over loops. Roots take
 * turns, so that no rank runs ahead. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { loops = 60, calls = 500, kinds = 8 };

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void call(int kind, double* from, double* to, int count, int root) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    const MPI_Datatype type = MPI_DOUBLE;
    switch (kind) {
        case 0:
            MPI_Bcast(to, count, type, root, comm);
            break;
        case 1:
            MPI_Reduce(from, to, count, type, MPI_SUM, root, comm);
            break;
        case 2:
            MPI_Allreduce(from, to, count, type, MPI_SUM, comm);
            break;
        case 3:
            MPI_Allgather(from, count, type, to, count, type, comm);
            break;
        case 4:
            MPI_Alltoall(from, count, type, to, count, type, comm);
            break;
        case 5:
            MPI_Scatter(from, count, type, to, count, type, root, comm);
            break;
        case 6:
            MPI_Gather(from, count, type, to, count, type, root, comm);
            break;
        default:
            MPI_Barrier(comm);
    }
}

int main(int argc, char** argv) {
    static const char* const names[kinds] = {"bcast",    "reduce",  "allreduce", "allgather",
                                             "alltoall", "scatter", "gather",    "barrier"};
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int count = atoi(argv[1]) / 8;
    double* const from = calloc((size_t)(count * size), sizeof *from);
    double* const to = calloc((size_t)(count * size), sizeof *to);
    for (int kind = 0; kind < kinds; ++kind) {
        double took_s[loops];
        for (int loop = 0; loop < loops; ++loop) {
            MPI_Barrier(MPI_COMM_WORLD);
            const double begin_s = now_s();
            for (int i = 0; i < calls; ++i) call(kind, from, to, count, i % size);
            took_s[loop] = now_s() - begin_s;
        }
        qsort(took_s, loops, sizeof *took_s, compare);
        if (rank == 0) printf("%s %.1f\n", names[kind], 1e9 * took_s[loops / 2] / calls);
    }
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
