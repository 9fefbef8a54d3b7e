// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Prints, on rank 0, how far apart the starts were that the ranks were given (by rank 0's clock, where each clock is
// ahead of CLOCK_BOOTTIME by the first argument times its rank), how many returned before the start, how many starts
// were missed while a rank came late, and the longest time that was reported of times of rank + 1 seconds.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "common/common_start.hpp"
#include "probes/measuring.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const double ahead_s = atof(argv[1]) * rank;
    hocket::CommonStart start(MPI_COMM_WORLD);
    double apart_s = 0;
    int early = 0, missed = 0;
    for (int i = 0; i < 20; ++i) {
        if (i % 4 == rank) usleep(3000);  // the start must wait for who comes late
        const double begin_s = start.wait();
        early += hocket::now_s() < begin_s ? 1 : 0;
        double mine = begin_s - ahead_s, least = 0, most = 0;
        MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        apart_s = std::max(apart_s, most - least);
        missed += start.time(0).together ? 0 : 1;
    }
    int all_early = 0;
    MPI_Reduce(&early, &all_early, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    const double longest_s = start.time(rank + 1).longest_s;
    if (rank == 0) printf("apart %.9f early %d missed %d longest %g\n", apart_s, all_early, missed, longest_s);
    MPI_Finalize();
    return 0;
}
