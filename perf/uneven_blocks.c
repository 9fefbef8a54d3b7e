// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Times MPI_Allgatherv and MPI_Reduce_scatter with sizes that differ from rank to rank. Arguments: calls, then lists of
// the sizes of all ranks in bytes, separated by commas, one list a case. A line for each collective and case: its name,
// the number of the list, and the median over the calls of the time of the slowest rank in seconds.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int calls = argc > 1 ? atoi(argv[1]) : 10;
    int* counts = malloc(sizeof(int) * (size_t)size);
    int* places = malloc(sizeof(int) * (size_t)size);
    double* times = malloc(sizeof(double) * (size_t)calls);
    for (int list = 2; list < argc; ++list) {
        int total = 0;
        char* text = argv[list];
        for (int i = 0; i < size; ++i) {
            counts[i] = (int)strtol(text, &text, 10) / (int)sizeof(int);
            if (*text == ',') ++text;
            places[i] = total;
            total += counts[i];
        }
        int* out = calloc((size_t)total + 1, sizeof(int));
        int* in = calloc((size_t)total + 1, sizeof(int));
        for (int reduces = 0; reduces < 2; ++reduces) {
            for (int call = -2; call < calls; ++call) {
                MPI_Barrier(MPI_COMM_WORLD);
                const double begin = MPI_Wtime();
                if (reduces)
                    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
                else
                    MPI_Allgatherv(out, counts[rank], MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
                double mine = MPI_Wtime() - begin, longest = 0;
                MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
                if (call >= 0) times[call] = longest;
            }
            qsort(times, (size_t)calls, sizeof(double), ascending);
            if (rank == 0)
                printf("%s %d %.9f\n", reduces ? "reduce_scatter" : "allgatherv", list - 2, times[calls / 2]);
        }
        free(out);
        free(in);
    }
    free(counts);
    free(places);
    free(times);
    MPI_Finalize();
    return 0;
}
