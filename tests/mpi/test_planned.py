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
from mpis import MpiRunner, rounds

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own


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
    runner: MpiRunner, parts: MpiParts, ranks: int, scenario: str, seed: int, count: int, **env: str
) -> dict[str, Any]:
    """Runs a scenario of progress_check; what the library has counted."""
    program = compile_check(runner, parts, "progress_check")
    statistics = runner.folder / "statistics.json"
    plan = write_plan(runner.folder, ranks, entries_for(ranks, seed))
    settings = {"HOCKET_PLAN": str(plan), "HOCKET_PROGRESS": "on", "HOCKET_STATISTICS": str(statistics), **env}
    result = runner.run(ranks, program, scenario, seed, count, libraries=[parts.interpose], env=settings)
    assert f"{scenario} seed {seed}: wrong 0" in result.stdout, f"{ranks} ranks: {result.stdout}{result.stderr}"
    assert "hocket:" not in result.stderr
    counts: dict[str, Any] = json.loads(statistics.read_text())
    return counts


@pytest.mark.parametrize("mode", ["on", "auto"])
def test_mixed_requests(runner: MpiRunner, parts: MpiParts, mode: str) -> None:
    for ranks, calls in ((1, 50), (2, 100), (3, 60), (5, 15), (8, 6)):
        check(runner, parts, ranks, "mixed", 70 + ranks, rounds(calls), HOCKET_PROGRESS=mode)


@pytest.mark.parametrize("scenario", ["freed-communicators", "freed-types", "threads", "cancel"])
def test_what_programs_do(runner: MpiRunner, parts: MpiParts, scenario: str) -> None:
    for ranks in (2, 3, 5) if scenario != "threads" else (2, 3):
        check(runner, parts, ranks, scenario, ranks, rounds(12))


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
    MPI_Request *requests = malloc((size_t)in_flight * sizeof *requests);
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
    algorithm, segments = schedule
    program = runner.compile(STARTS, name="starts")
    statistics = runner.folder / "statistics.json"
    plan = write_plan(runner.folder, 2, [entry("bcast", [0, 1], algorithm, segments)])
    settings = {"HOCKET_PLAN": str(plan), "HOCKET_PROGRESS": "on", "HOCKET_STATISTICS": str(statistics), **env}
    result = runner.run(2, program, calls, *arguments, libraries=[parts.interpose], env=settings)
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


def test_very_many_in_flight(runner: MpiRunner, parts: MpiParts) -> None:
    count_broadcasts(runner, parts, ("binomial", 1), 66000, 1, 66000)


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


@pytest.mark.parametrize("mode", ["on", "auto"])
def test_persistent_collectives(runner: MpiRunner, parts: MpiParts, mode: str) -> None:
    needs_persistent(runner)
    for ranks, starts in ((1, 50), (2, 150), (3, 80), (5, 15)):
        counts = check(runner, parts, ranks, "persistent", 80 + ranks, rounds(starts), HOCKET_PROGRESS=mode)
        assert sum(entry["rerouted_calls"] for entry in counts["entries"]) > 0


# Broadcasts from any root, each started again and again: together, in an order of each rank's own, on a communicator
# and with a datatype that the program has freed. Some are freed while they are active, and made anew.
PERSISTENT = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { num = 6, length = 40, rounds = 200 };
static int data[num][length], rank, size;
static void make(MPI_Comm comm, MPI_Datatype type, int i, MPI_Request *request) {
    MPI_Bcast_init(data[i], length / 2, type, i % size, comm, MPI_INFO_NULL, request);
}
int main(int argc, char **argv) {
    int wrong = 0;
    MPI_Comm comm;
    MPI_Datatype pair;
    MPI_Request requests[num], freed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < num; ++i) make(comm, pair, i, &requests[i]);
    for (int k = 0; k < 300; ++k) {  /* more than there are communicators for, at a time */
        make(comm, pair, 0, &freed);
        MPI_Request_free(&freed);
    }
    MPI_Type_free(&pair);
#ifdef MPICH_NUMVERSION  /* Open MPI crashes, without hocket too */
    MPI_Comm_free(&comm);
#endif
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < num; ++i) {
            for (int k = 0; k < length; ++k) data[i][k] = rank == i % size ? 100 * i + round + k : -1;
        }
        if (round % 3 == rank % 3) {
            MPI_Startall(num, requests);
        } else {
            for (int i = 0; i < num; ++i) MPI_Start(&requests[(i + round * rank) % num]);
        }
        if (round % 2 == 0) {
            MPI_Waitall(num, requests, MPI_STATUSES_IGNORE);
        } else {
            for (int i = 0; i < num; ++i) MPI_Wait(&requests[(i + rank) % num], MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < num; ++i) {
            for (int k = 0; k < length; ++k) wrong += data[i][k] != 100 * i + round + k;
        }
    }
    for (int i = 0; i < num; ++i) MPI_Request_free(&requests[i]);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d\n", wrong);
    MPI_Finalize();
    return 0;
}
"""


def needs_persistent(runner: MpiRunner) -> None:
    if runner.mpi.version.startswith("4.") and runner.mpi.family == "openmpi":
        pytest.skip(f"{runner.mpi.name} has no persistent collectives")


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_persistent_ones_in_any_order(runner: MpiRunner, parts: MpiParts, ranks: int) -> None:
    needs_persistent(runner)
    program = runner.compile(PERSISTENT, name="persistent")
    statistics = runner.folder / "statistics.json"
    plan = write_plan(runner.folder, ranks, [entry("bcast", list(range(ranks)), "binomial", 3)])
    settings = {"HOCKET_PLAN": str(plan), "HOCKET_PROGRESS": "on", "HOCKET_STATISTICS": str(statistics)}
    result = runner.run(ranks, program, libraries=[parts.interpose], env=settings)
    assert "wrong 0" in result.stdout, result.stdout + result.stderr
    counts = json.loads(statistics.read_text())["entries"][0]
    assert counts["rerouted_calls"] > 0
    assert counts["rerouted_calls"] + counts["self_check_calls"] + counts["fallen_back_calls"] == 6 * 200


def printed(
    runner: MpiRunner, parts: MpiParts, ranks: int, source: str, planned: list[dict[str, Any]], progress: str = "on"
) -> str:
    """What a program says, with a plan of these entries or, where there are none, without."""
    settings = {"HOCKET_PROGRESS": progress}
    if planned:
        settings["HOCKET_PLAN"] = str(write_plan(runner.folder, ranks, planned))
    result = runner.run(ranks, runner.compile(source), libraries=[parts.interpose], env=settings)
    return result.stdout + result.stderr


# Rank 1 waits for a long broadcast that goes through rank 0, which meanwhile waits in MPI_Recv for rank 1. A reduction
# with an operator of the program's own is pending there, which keeps the thread out of the MPI.
OPERATOR = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    for (int i = 0; i < *count; ++i) ((int *)inout)[i] += ((int *)in)[i];
}
int main(int argc, char **argv) {
    enum { bytes = 4000000 };
    int rank, wrong = 0, token = 0;
    char *data = malloc(bytes);
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(add, 1, &op);
    for (int round = 1; round <= 3; ++round) {
        int one = 1, sum = 0;
        MPI_Request requests[2];
        memset(data, rank == 2 ? round : 0, bytes);
        MPI_Ibcast(data, bytes, MPI_CHAR, 2, MPI_COMM_WORLD, &requests[0]);
        if (rank != 0) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &requests[1]);
        if (rank == 0) MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        wrong += sum != 3;
        for (int i = 0; i < bytes; ++i) wrong += data[i] != round;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d\n", wrong);
    MPI_Finalize();
    return 0;
}
"""


def test_an_operator_of_the_program_beside_a_call_by_the_plan(runner: MpiRunner, parts: MpiParts) -> None:
    said = printed(runner, parts, 3, OPERATOR, [entry("bcast", [0, 1, 2], "chain", 3)])
    assert "wrong 0" in said, said


# Of two broadcasts on a communicator that is freed at once the plan is for the short one.
FREED = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    enum { length = 1000000 };
    int rank, level, wrong = 0, shorter;
    int *longer = malloc(length * sizeof *longer);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < 10; ++round) {
        MPI_Comm comm;
        MPI_Request requests[2];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        shorter = longer[length - 1] = rank == 0 ? round : -1;
        MPI_Bcast(&shorter, 1, MPI_INT, 0, comm);
        wrong += shorter != round;
        shorter = rank == 0 ? round : -1;
        MPI_Ibcast(longer, length, MPI_INT, 0, comm, &requests[0]);
        MPI_Ibcast(&shorter, 1, MPI_INT, 0, comm, &requests[1]);
        MPI_Comm_free(&comm);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        wrong += shorter != round || longer[length - 1] != round;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d\n", wrong);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("progress", ["off", "on"])
def test_a_communicator_freed_before_a_native_call_has_ended(runner: MpiRunner, parts: MpiParts, progress: str) -> None:
    if runner.mpi.family == "openmpi":
        pytest.skip("Open MPI crashes, without hocket too")
    said = printed(runner, parts, 3, FREED, [entry("bcast", [0, 1, 2], "binomial", bytes_max=100)], progress)
    assert "wrong 0" in said, said


# A wrong root, and an error handler of the program's that returns.
HANDLED = r"""
#include <mpi.h>
#include <stdio.h>
static int num_errors;
static void handle(MPI_Comm *comm, int *code, ...) { ++num_errors; }
int main(int argc, char **argv) {
    int rank, size, value, wrong = 0;
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int round = 0; round < 10; ++round) {
        MPI_Ibcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD, &request);
        wrong += num_errors != round + 1;
        value = rank == 0 ? round : -1;
        MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += value != round;
    }
    printf("rank %d wrong %d\n", rank, wrong);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("has_plan", [True, False])
def test_an_error_handler_that_returns(runner: MpiRunner, parts: MpiParts, has_plan: bool) -> None:
    said = printed(runner, parts, 2, HANDLED, [entry("bcast", [0, 1], "binomial")] if has_plan else [])
    assert said.count("wrong 0") == 2, said


MANY = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    static MPI_Comm comms[1100];
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 1100; ++i) {
        int value = rank == 0 ? i : -1;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        MPI_Ibcast(&value, 1, MPI_INT, 0, comms[i], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += value != i;
        value = rank == 0 ? i + 1 : -1;
        MPI_Bcast(&value, 1, MPI_INT, 0, comms[i]);
        wrong += value != i + 1;
    }
    for (int i = 0; i < 1100; ++i) MPI_Comm_free(&comms[i]);
    printf("rank %d wrong %d\n", rank, wrong);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("progress", ["off", "on"])
def test_a_program_has_room_for_its_communicators(runner: MpiRunner, parts: MpiParts, progress: str) -> None:
    """MPICH has 2048."""
    said = printed(runner, parts, 2, MANY, [entry("bcast", [0, 1], "binomial")], progress)
    assert said.count("wrong 0") == 2, said
