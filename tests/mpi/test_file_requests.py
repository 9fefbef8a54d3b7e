# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Non-blocking collective accesses to files beside progress in the background and a plan.

MPICH's ROMIO makes them of collectives and messages that it starts by MPI's public names, some of them when the program
completes the request. A rank that was then inside of hocket left them to the MPI, and another one made schedules of
them: on MPICH 4.0.2, 5 of 6 runs of MPICH's `io/i_setviewcur` did not end.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mpi_parts import entry, write_plan

from hocket.mpi.build import build_mpi_parts
from mpis import MpiRunner

RANKS = 4
# Each rank writes every fourth integer, waits in several ways, and reads what the next rank has written. A broadcast is
# pending meanwhile, which is completed before the access on one rank and after it on the others.
ACCESSES = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
#define NUM 256
#define ROUNDS 6
static void complete(MPI_Request *request, int how) {
    int done = 0;
    if (how == 0) MPI_Wait(request, MPI_STATUS_IGNORE);
    if (how == 1) MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
    while (how == 2 && !done) MPI_Test(request, &done, MPI_STATUS_IGNORE);
}
int main(int argc, char **argv) {
    int rank, size, wrong = 0, all = 0, mine[NUM], other[NUM], sent[100];
    MPI_File file;
    MPI_Datatype every;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_vector(NUM, 1, size, MPI_INT, &every);
    MPI_Type_commit(&every);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Request access, broadcast;
        for (int i = 0; i < NUM; ++i) mine[i] = round * 1000000 + rank * 1000 + i;
        for (int i = 0; i < 100; ++i) sent[i] = rank == round % size ? i : -1;
        MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL);
        MPI_Ibcast(sent, 100, MPI_INT, round % size, MPI_COMM_WORLD, &broadcast);
        MPI_File_iwrite_at_all(file, 0, mine, NUM, MPI_INT, &access);
        if (rank == 1) usleep(3000);
        if (rank == round % size) complete(&broadcast, 0);
        complete(&access, (round + rank) % 3);
        complete(&broadcast, 0);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        const int next = (rank + 1) % size;
        MPI_File_set_view(file, next * (MPI_Offset)sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL);
        MPI_File_iread_all(file, other, NUM, MPI_INT, &access);
        complete(&access, round % 3);
        for (int i = 0; i < NUM; ++i) wrong += other[i] != round * 1000000 + next * 1000 + i;
        for (int i = 0; i < 100; ++i) wrong += sent[i] != i;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
    MPI_Type_free(&every);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d wrong\n", all);
    MPI_Finalize();
    return 0;
}
"""
COLLECTIVES = {"alltoall": "pairwise", "allreduce": "ring", "allgather": "ring", "bcast": "binomial"}


@pytest.mark.parametrize("has_plan", [False, True])
def test_collective_accesses_end_with_the_right_data(runner: MpiRunner, tmp_path: Path, has_plan: bool) -> None:
    statistics = tmp_path / "statistics.json"
    env = {"HOCKET_PROGRESS": "on", "HOCKET_STATISTICS": str(statistics)}
    if has_plan:
        entries = [entry(name, list(range(RANKS)), algorithm) for name, algorithm in COLLECTIVES.items()]
        env |= {"HOCKET_PLAN": str(write_plan(tmp_path, RANKS, entries)), "HOCKET_SELF_CHECK": "off"}
    libraries = [build_mpi_parts(runner.mpi).interpose]
    result = runner.run(RANKS, runner.compile(ACCESSES), tmp_path / "data", libraries=libraries, env=env)
    assert result.stdout == "0 wrong\n"
    # The program's broadcasts were served all the same.
    calls = {call["function"]: call for call in json.loads(statistics.read_text())["progress"]["calls"]}
    assert calls["MPI_Ibcast"]["calls"] >= 6
