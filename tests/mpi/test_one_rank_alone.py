# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A communicator of one rank that a plan serves: what the program does with it waits for no other rank."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_parts import entry, write_plan

from hocket.mpi.build import build_mpi_parts
from mpis import MpiRunner

# Rank 1 comes to a duplicate of `shared` once rank 0, whose other thread waits there, has made some of its own self.
# Natively these never wait: Open MPI makes those of the oldest parent first, and MPI_COMM_SELF is older than `shared`.
TWO_THREADS = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#define ROUNDS 100
#define TIMES 20
static MPI_Comm shared;
static void *duplicate(void *unused) {
    MPI_Comm made;
    MPI_Comm_dup(shared, &made);
    MPI_Comm_free(&made);
    return unused;
}
int main(int argc, char **argv) {
    int provided, rank, go = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    for (int round = 0; round < ROUNDS; ++round) {
        if (rank == 0) {
            pthread_t thread;
            pthread_create(&thread, NULL, duplicate, NULL);
            for (int i = 0; i < TIMES; ++i) {
                MPI_Comm self;
                MPI_Comm_dup(MPI_COMM_SELF, &self);
                MPI_Comm_free(&self);
            }
            MPI_Send(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
            pthread_join(thread, NULL);
        } else {
            MPI_Recv(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            duplicate(NULL);
        }
    }
    MPI_Comm_free(&shared);
    MPI_Finalize();
    if (rank == 0) printf("%d\n", provided == MPI_THREAD_MULTIPLE);
    return 0;
}
"""


@pytest.mark.parametrize("progress", ["off", "on"])
def test_it_waits_for_no_other_rank(runner: MpiRunner, tmp_path: Path, progress: str) -> None:
    plan = write_plan(tmp_path, 2, [entry("allreduce", members, "ring") for members in ([0, 1], [0], [1])])
    env = {"HOCKET_PLAN": str(plan), "HOCKET_PROGRESS": progress}
    program = runner.compile(TWO_THREADS, "-pthread")
    assert runner.run(2, program, libraries=[build_mpi_parts(runner.mpi).interpose], env=env).stdout == "1\n"
