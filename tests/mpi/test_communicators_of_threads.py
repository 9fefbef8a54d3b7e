# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Several threads that make communicators at once, which a plan serves: none waits for another."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_parts import entry, write_plan

from hocket.mpi.build import build_mpi_parts
from mpis import MpiRunner

# With Open MPI it does not end where a thread makes one more communicator of its own: with MPI_Comm_dup in 5 of 5 runs.
FOUR_THREADS = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#define THREADS 4
#define ROUNDS 20
static MPI_Group world, first_three;
static int rank, right[THREADS];
static int is_right_on(MPI_Group group, int tag) {
    int one = 1, sum = 0, size;
    MPI_Comm made;
    MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &made);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
    MPI_Comm_size(made, &size);
    MPI_Comm_free(&made);
    return sum == size;
}
static void *make(void *number) {
    int *is_right = number, tag = (int)(is_right - right);
    *is_right = 1;
    for (int round = 0; round < ROUNDS; ++round) {
        if (rank < 3) *is_right &= is_right_on(first_three, tag);
        *is_right &= is_right_on(world, tag);
    }
    return NULL;
}
int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int provided, range[1][3] = {{0, 2, 1}}, all = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &first_three);
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, make, &right[i]);
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        all = all && right[i];
    }
    MPI_Group_free(&world);
    MPI_Group_free(&first_three);
    MPI_Finalize();
    if (rank == 0) printf("%d %d\n", provided == MPI_THREAD_MULTIPLE, all);
    return 0;
}
"""


@pytest.mark.parametrize("progress", ["off", "on"])
def test_none_waits_for_another(runner: MpiRunner, tmp_path: Path, progress: str) -> None:
    plan = write_plan(tmp_path, 4, [entry("allreduce", members, "ring") for members in ([0, 1, 2, 3], [0, 1, 2])])
    env = {"HOCKET_PLAN": str(plan), "HOCKET_PROGRESS": progress}
    program = runner.compile(FOUR_THREADS, "-pthread")
    assert runner.run(4, program, libraries=[build_mpi_parts(runner.mpi).interpose], env=env).stdout == "1 1\n"
