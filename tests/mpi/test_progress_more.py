# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Progress in the background: calls that are rare, mpi4py, error handlers that jump."""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import Any

import pytest
from mpi_parts import compile_check

from hocket.mpi.build import MpiParts, build_mpi_parts
from mpis import LIMIT_S, MpiRunner


@pytest.fixture
def parts(runner: MpiRunner) -> MpiParts:
    return build_mpi_parts(runner.mpi)


def check(runner: MpiRunner, parts: MpiParts, ranks: int, program: str, scenario: str, rounds: int) -> dict[str, Any]:
    """Runs a scenario; for each function how many calls there were and how many went on in the background."""
    executable = compile_check(runner, parts, program)
    statistics = runner.folder / "statistics.json"
    env = {"HOCKET_PROGRESS": "on", "HOCKET_STATISTICS": str(statistics)}
    result = runner.run(ranks, executable, scenario, 70 + ranks, rounds, libraries=[parts.interpose], env=env)
    assert f"{scenario} seed {70 + ranks}: wrong 0" in result.stdout, result.stdout + result.stderr
    counts: dict[str, Any] = {}
    for call in json.loads(statistics.read_text())["progress"]["calls"]:
        before = counts.get(call["function"], (0, 0))
        counts[call["function"]] = (before[0] + call["calls"], before[1] + call["in_background"])
    return counts


@pytest.mark.parametrize("ranks", [4, 6, 7])
def test_mixed_requests_of_more_ranks(runner: MpiRunner, parts: MpiParts, ranks: int) -> None:
    check(runner, parts, ranks, "progress_check", "mixed", 5)


def test_large_counts(runner: MpiRunner, parts: MpiParts) -> None:
    counts = check(runner, parts, 3, "progress_more_check", "large", 20)
    if not counts:
        pytest.skip(f"{runner.mpi.name} has no functions with large counts")
    names = ("bcast", "allreduce", "alltoall", "alltoallv", "alltoallw", "allgatherv", "reduce_scatter", "scan")
    assert {f"MPI_I{name}" for name in names} | {"MPI_Isend", "MPI_Irecv"} == counts.keys()
    for name in names:
        assert counts[f"MPI_I{name}"] == (60, 60)


def test_operators_of_the_program(runner: MpiRunner, parts: MpiParts) -> None:
    """They run beside the program only if it has asked for MPI_THREAD_MULTIPLE."""
    for ranks in (2, 3):
        counts = check(runner, parts, ranks, "progress_more_check", "operators", 20)
        assert counts.keys() == {"MPI_Ialltoall"}
        counts = check(runner, parts, ranks, "progress_more_check", "operators-multiple", 20)
        assert all(counts[f"MPI_I{name}"] == (40 * ranks, 40 * ranks) for name in ("allreduce", "reduce", "scan"))


def test_collectives_of_neighbours(runner: MpiRunner, parts: MpiParts) -> None:
    for ranks in (4, 6):
        counts = check(runner, parts, ranks, "progress_more_check", "neighbours", 10)
        for name in ("allgather", "alltoall", "alltoallv"):
            assert counts[f"MPI_Ineighbor_{name}"] == (20 * ranks, 20 * ranks)


PYTHON = r"""
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
wrong = 0
for i in range(20):
    count = 5000 * (i % 4) + i
    mine, total = np.full(count, rank + i, "i8"), np.empty(count, "i8")
    to_each, from_each = np.repeat(np.arange(size) + 10.0 * rank, count), np.empty(count * size)
    requests = [comm.Iallreduce(mine, total), comm.Ialltoall(to_each, from_each)]
    objects = [comm.isend({"from": rank, "round": i}, (rank + 1) % size), comm.irecv(source=(rank - 1) % size)]
    if i % 2:
        MPI.Request.Waitall(requests)
    else:
        while not all([request.Test() for request in requests]):
            pass
    said = MPI.Request.waitall(objects)[1]
    wrong += not np.array_equal(total, np.full(count, size * i + size * (size - 1) // 2))
    wrong += not np.array_equal(from_each, np.repeat(10.0 * np.arange(size) + rank, count))
    wrong += said != {"from": (rank - 1) % size, "round": i}
wrong = comm.allreduce(wrong)
if rank == 0:
    print("wrong", wrong)
"""


@pytest.mark.in_turns(False)  # not every MPI has it
def test_mpi4py(runner: MpiRunner, parts: MpiParts) -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    if runner.mpi.family == "mpich" and runner.mpi.source != "wheel":
        pytest.skip(
            f"mpi4py's wheel needs libmpi.so.12, which {runner.mpi.name} of this system may have as libmpich.so"
        )
    script = runner.folder / "program.py"
    script.write_text(PYTHON)
    statistics = runner.folder / "statistics.json"
    # The MPICH beside mpi4py it finds without being told.
    abi = {"MPI4PY_MPIABI": "openmpi"} if runner.mpi.family == "openmpi" else {}
    env = {"HOCKET_PROGRESS": "on", "HOCKET_STATISTICS": str(statistics), **abi}
    assert runner.run(3, sys.executable, script, env=abi).stdout == "wrong 0\n"
    assert runner.run(3, sys.executable, script, libraries=[parts.interpose], env=env).stdout == "wrong 0\n"
    calls = json.loads(statistics.read_text())["progress"]["calls"]
    counts = {call["function"] for call in calls}
    assert {"MPI_Iallreduce", "MPI_Ialltoall"} <= counts
    assert all(call["calls"] == call["in_background"] for call in calls)


JUMPS = r"""
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Rank 1 computes until the file argv[1] tells that rank 0 has sent, for argv[2] seconds at most. */
static jmp_buf back;
static void leave(MPI_Comm *comm, int *code, ...) { longjmp(back, 1); }
int main(int argc, char **argv) {
    static char little[100], other[5000], from[8000000], to[8000000];
    int rank, told[2] = {0, 0};
    MPI_Errhandler handler;
    MPI_Request request, large = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (rank == 0) MPI_Send(little, 100, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Irecv(other, 5000, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &large);  // so that requests are watched
        MPI_Irecv(little, 10, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        if (setjmp(back) == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
        else told[0] = 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Isend(from, 8000000, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &request);
    if (rank == 1) {
        MPI_Irecv(to, 8000000, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &request);
        const double end_s = MPI_Wtime() + atof(argv[2]);
        for (; !told[1] && MPI_Wtime() < end_s; usleep(1000)) told[1] = access(argv[1], F_OK) == 0;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(told, 2, MPI_INT, 0, 3, MPI_COMM_WORLD);
    if (rank == 0) {
        fclose(fopen(argv[1], "w"));
        MPI_Recv(told, 2, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d jumps, ", told[0]);
        printf(told[1] ? "sent while the receiver computed\n" : "waited for the receiver\n");
        MPI_Send(from, 5000, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    }
    MPI_Wait(&large, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


def test_an_error_handler_that_jumps_out_of_a_wait(runner: MpiRunner, parts: MpiParts) -> None:
    """Messages go on in the background after that."""
    if runner.mpi.family == "mpich":
        pytest.skip(f"{runner.mpi.name} ends such a program with MPI_THREAD_MULTIPLE, without hocket too")
    env = {"HOCKET_PROGRESS": "on"}
    program = runner.compile(JUMPS)
    result = runner.run(2, program, runner.folder / "sent", str(LIMIT_S / 2), libraries=[parts.interpose], env=env)
    assert result.stdout == "1 jumps, sent while the receiver computed\n"
