/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The hocket authors */

/* What waiting in the MPI's own calls costs where ranks share cores: medians of calls in a row, between barriers.
 * Argument: seconds for each. Prints lines "CALL BYTES SECONDS". "late" is an allreduce for which one rank in turn
 * comes late by a computation, without that. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most = 2000, largest = 1 << 20 };

static int rank, size;
static char in[largest], out[largest];

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double compute_s(void) {
    static volatile double sink;
    const double begin_s = now_s();
    double x = 1;
    for (int i = 0; i < 4000000; ++i) x = x * 1.0000001 + 1e-9;
    sink = x;
    return now_s() - begin_s;
}

static int in_order(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double call_s(const char* name, int bytes, int turn) {
    const double begin_s = now_s();
    if (strcmp(name, "bcast") == 0) MPI_Bcast(in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (strcmp(name, "allreduce") == 0) MPI_Allreduce(in, out, bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(name, "alltoall") == 0)
        MPI_Alltoall(in, bytes / size, MPI_CHAR, out, bytes / size, MPI_CHAR, MPI_COMM_WORLD);
    if (strcmp(name, "late") == 0) {
        double mine_s = turn % size == rank ? compute_s() : 0, late_s = 0;
        MPI_Allreduce(&mine_s, &late_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return now_s() - begin_s - late_s;
    }
    return now_s() - begin_s;
}

static void measure(const char* name, int bytes, double seconds) {
    static double times_s[most];
    const int in_a_row = bytes <= 4096 ? 10 : bytes < largest ? 5 : 1;
    int count = 0;
    call_s(name, bytes, 0);
    const double end_s = now_s() + seconds;
    for (int go_on = 1; go_on; ++count) {
        MPI_Barrier(MPI_COMM_WORLD);
        double sum_s = 0;
        for (int i = 0; i < in_a_row; ++i) sum_s += call_s(name, bytes, count + i);
        times_s[count] = sum_s / in_a_row;
        go_on = count + 1 < most && now_s() < end_s;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    qsort(times_s, (size_t)count, sizeof times_s[0], in_order);
    double longest_s = 0;
    MPI_Reduce(&times_s[count / 2], &longest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s %d %.9f\n", name, bytes, longest_s);
}

int main(int argc, char** argv) {
    const char* const names[] = {"bcast", "allreduce", "alltoall"};
    const int sizes[] = {8, 4096, 32768, largest};
    const double seconds = argc > 1 ? atof(argv[1]) : 0.3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 4; ++k) measure(names[i], sizes[k] < size ? size : sizes[k], seconds);
    measure("late", 8, seconds);
    MPI_Finalize();
    return 0;
}
