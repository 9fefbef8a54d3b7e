# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""MPI_Comm_idup beside progress in the background: Open MPI must not move on between the starts of such calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_parts import entry, write_plan

from hocket.mpi.build import build_mpi_parts
from mpis import MpiRunner

PENDING_DUPLICATES = r"""
#include <mpi.h>
#include <stdio.h>
#define PENDING 10
int main(int argc, char **argv) {
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int sums[PENDING], later[PENDING];
    MPI_Comm comms[PENDING];
    MPI_Request requests[2 * PENDING];
    for (int i = 0; i < PENDING; ++i) {
        MPI_Comm_idup(MPI_COMM_WORLD, &comms[i], &requests[i]);
        MPI_Iallreduce(&rank, &later[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[PENDING + i]);
    }
    MPI_Waitall(2 * PENDING, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < PENDING; ++i) {
        MPI_Allreduce(&rank, &sums[i], 1, MPI_INT, MPI_SUM, comms[i]);
        wrong += later[i] != size * (size - 1) / 2 || sums[i] != later[i];
        MPI_Comm_free(&comms[i]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d wrong\n", wrong);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("has_plan", [False, True])
def test_pending_duplicates_make_communicators_that_work(runner: MpiRunner, tmp_path: Path, has_plan: bool) -> None:
    env = {"HOCKET_PROGRESS": "on"}
    if has_plan:
        env["HOCKET_PLAN"] = str(write_plan(tmp_path, 4, [entry("allreduce", [0, 1, 2, 3], "ring")]))
    libraries = [build_mpi_parts(runner.mpi).interpose]
    assert runner.run(4, runner.compile(PENDING_DUPLICATES), libraries=libraries, env=env).stdout == "0 wrong\n"
