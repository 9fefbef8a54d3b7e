# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Non-blocking collectives of unmodified programs that go by a plan in the background."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mpi_parts import compile_check, entry, write_plan

from hocket import algorithms
from hocket.mpi.build import MpiParts, build_mpi_parts
from mpis import MpiRunner


@pytest.fixture
def parts(runner: MpiRunner) -> MpiParts:
    return build_mpi_parts(runner.mpi)


def entries_for(ranks: int, seed: int) -> list[dict[str, Any]]:
    """One for each collective, each time by another algorithm."""
    by_collective: dict[str, list[str]] = {}
    for algorithm in algorithms():
        by_collective.setdefault(algorithm.collective, []).append(algorithm.name)
    world = list(range(ranks))
    return [entry(collective, world, names[seed % len(names)], 3) for collective, names in by_collective.items()]


def check(
    runner: MpiRunner, parts: MpiParts, ranks: int, scenario: str, seed: int, rounds: int, **env: str
) -> dict[str, Any]:
    """Runs a scenario of progress_check; what the library has counted."""
    program = compile_check(runner, parts, "progress_check")
    statistics = runner.folder / "statistics.json"
    plan = write_plan(runner.folder, ranks, entries_for(ranks, seed))
    settings = {"HOCKET_PLAN": str(plan), "HOCKET_PROGRESS": "on", "HOCKET_STATISTICS": str(statistics), **env}
    result = runner.run(ranks, program, scenario, seed, rounds, libraries=[parts.interpose], env=settings, timeout=200)
    assert f"{scenario} seed {seed}: wrong 0" in result.stdout, f"{ranks} ranks: {result.stdout}{result.stderr}"
    assert "hocket:" not in result.stderr
    counts: dict[str, Any] = json.loads(statistics.read_text())
    return counts


@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", ["on", "auto"])
def test_mixed_requests(runner: MpiRunner, parts: MpiParts, mode: str) -> None:
    for ranks, rounds in ((1, 50), (2, 100), (3, 60), (5, 15), (8, 6)):
        check(runner, parts, ranks, "mixed", 70 + ranks, rounds, HOCKET_PROGRESS=mode)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("scenario", ["freed-communicators", "freed-types", "threads", "cancel"])
def test_what_programs_do(runner: MpiRunner, parts: MpiParts, scenario: str) -> None:
    for ranks in (2, 3, 5) if scenario != "threads" else (2, 3):
        check(runner, parts, ranks, scenario, ranks, 12)


def test_freed_requests(runner: MpiRunner, parts: MpiParts) -> None:
    for ranks in (2, 3):
        check(runner, parts, ranks, "freed-requests", 7, 20)


def test_a_late_rank(runner: MpiRunner, parts: MpiParts) -> None:
    check(runner, parts, 3, "late", 3, 1)


# `calls` broadcasts of `bytes`, so many in flight. Rank 0 starts all of a group before it sends a message that rank 1
# receives before it starts its own: to start a call must wait for nobody.
STARTS = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    int rank, wrong = 0, token = 0;
    const int calls = atoi(argv[1]), bytes = atoi(argv[2]), in_flight = atoi(argv[3]), fails = argc > 4;
    MPI_Request requests[64];
    char *data = malloc((size_t)bytes * in_flight);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int call = 0; call < calls; call += in_flight) {
        memset(data, rank == 0 ? call % 100 + 1 : -1, (size_t)bytes * in_flight);
        if (rank == 1) MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < in_flight; ++i) {
            MPI_Request none;
            if (fails && MPI_Ibcast(data, -1, MPI_CHAR, 0, MPI_COMM_WORLD, &none) == MPI_SUCCESS) ++wrong;
            MPI_Ibcast(data + (size_t)i * bytes, bytes, MPI_CHAR, 0, MPI_COMM_WORLD, &requests[i]);
        }
        if (rank == 0) MPI_Send(&token, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        MPI_Waitall(in_flight, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < bytes * in_flight; ++i) wrong += data[i] != call % 100 + 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d\n", wrong);
    MPI_Finalize();
    return 0;
}
"""


def count_broadcasts(
    runner: MpiRunner,
    parts: MpiParts,
    schedule: tuple[str, int],
    calls: int,
    *arguments: object,
    **env: str,
) -> dict[str, Any]:
    """What the plan's entry for broadcasts on two ranks has counted."""
    algorithm, pieces = schedule
    program = runner.compile(STARTS, name="starts")
    statistics = runner.folder / "statistics.json"
    plan = write_plan(runner.folder, 2, [entry("bcast", [0, 1], algorithm, pieces)])
    settings = {"HOCKET_PLAN": str(plan), "HOCKET_PROGRESS": "on", "HOCKET_STATISTICS": str(statistics), **env}
    result = runner.run(2, program, calls, *arguments, libraries=[parts.interpose], env=settings, timeout=200)
    assert "wrong 0" in result.stdout, result.stdout + result.stderr
    read = json.loads(statistics.read_text())
    assert [call["calls"] for call in read["progress"]["calls"]] == [2 * calls]
    counts: dict[str, Any] = read["entries"][0]
    return counts


@pytest.mark.parametrize("in_flight", [1, 3, 16])
def test_ranks_agree_while_starts_wait_for_nobody(runner: MpiRunner, parts: MpiParts, in_flight: int) -> None:
    counts = count_broadcasts(runner, parts, ("binomial", 1), 480, 100, in_flight)
    compared, fallen_back = counts["self_check_calls"], counts["fallen_back_calls"]
    assert compared > 0
    assert counts["rerouted_calls"] + compared + fallen_back == 480


def test_without_comparisons_every_call_goes_by_the_plan(runner: MpiRunner, parts: MpiParts) -> None:
    counts = count_broadcasts(runner, parts, ("binomial", 1), 300, 100, 1, HOCKET_SELF_CHECK="off")
    assert (counts["rerouted_calls"], counts["self_check_calls"]) == (300, 0)


def test_calls_that_fail_in_between(runner: MpiRunner, parts: MpiParts) -> None:
    counts = count_broadcasts(runner, parts, ("binomial", 1), 300, 100, 3, "fails")
    assert counts["rerouted_calls"] > 0


def test_a_schedule_that_is_slower_gives_way(runner: MpiRunner, parts: MpiParts) -> None:
    """Each byte is a message of its own: far slower than any MPI's function, also where ranks wait for a core."""
    size = 4096
    counts = count_broadcasts(runner, parts, ("pipelined_chain", size), 400, size, 1, HOCKET_VERBOSE="1")
    assert counts["fell_back_at_call"] is not None
    assert counts["fallen_back_calls"] > 0
