# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A running program compares its rerouted calls with native ones, and falls back where the plan is slower."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mpi_parts import compile_check, entry, write_plan

from hocket.mpi.build import MpiParts, build_mpi_parts
from mpis import LIMIT_S, MpiRunner

# When to compare and to fall back is decided above MPI, by SelfCheck; what it calls, test_interpose.py runs with all.
pytestmark = [pytest.mark.one_of_each_family, pytest.mark.in_turns]

BYTES = 16384
# Far slower than any MPI's own, also where ranks wait for a core: each byte is a message of its own.
BAD = {"algorithm": "pipelined_chain", "segments": BYTES}

# Preloaded behind the interposed library: sees which broadcasts are native, and can make them slow.
BEHIND = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int native_broadcasts;
int PMPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    static int (*next)(void *, int, MPI_Datatype, int, MPI_Comm);
    if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Bcast");
    const char *delay_us = getenv("NATIVE_DELAY_US");
    if (delay_us != NULL) usleep((useconds_t)atoi(delay_us));
    ++native_broadcasts;
    return next(buffer, count, type, root, comm);
}
"""

# Broadcasts and looks at what came. Prints for each rank the numbers of its calls that were native, as ranges.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern int native_broadcasts __attribute__((weak));
int main(int argc, char **argv) {
    int rank, size, wrong = 0;
    const int calls = atoi(argv[1]), bytes = atoi(argv[2]), late_us = atoi(argv[3]);
    char *data = malloc((size_t)bytes), text[4000] = "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srand((unsigned)rank + 1);
    const int calls_per_communicator = argc > 4 ? atoi(argv[4]) : calls;
    MPI_Comm comm = MPI_COMM_WORLD;
    for (int call = 1, begin = 0; call <= calls + 1; ++call) {
        int before = native_broadcasts, native = 0;
        if (call > calls_per_communicator && call % calls_per_communicator == 1) {
            if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        }
        if (call <= calls) {
            const int root = size / 2;
            memset(data, rank == root ? call % 100 : -1, (size_t)bytes);
            if (late_us > 0) usleep((useconds_t)(rand() % late_us));
            MPI_Bcast(data, bytes, MPI_BYTE, root, comm);
            for (int i = 0; i < bytes; ++i) wrong += data[i] != call % 100;
            native = native_broadcasts - before;
        }
        if (native && !begin) begin = call;
        if (!native && begin) {
            sprintf(text + strlen(text), " %d-%d", begin, call - 1);
            begin = 0;
        }
    }
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    char *all = malloc(sizeof text * (size_t)size);
    MPI_Gather(text, sizeof text, MPI_CHAR, all, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < size; ++r) printf("native%s\n", all + sizeof text * (size_t)r);
    if (rank == 0) printf("wrong %d\n", wrong);
    MPI_Finalize();
    return 0;
}
"""


@dataclass
class Outcome:
    native: list[tuple[int, int]]  # ranges of call numbers, the same on all ranks
    counts: dict[str, Any]
    said: list[str]


@dataclass
class SelfCheckRun:
    """Runs PROGRAM with a plan of one entry."""

    runner: MpiRunner
    parts: MpiParts
    program: Path
    behind: Path

    def __call__(
        self,
        ranks: int,
        calls: int,
        schedule: dict[str, Any],
        late_us: int = 0,
        more: Any = None,
        calls_per_communicator: int | None = None,
        **env: str,
    ) -> Outcome:
        folder = self.runner.folder
        members = list(range(ranks))
        planned = {**entry("bcast", members, "linear"), "schedule": schedule, **(more or {})}
        statistics = folder / "statistics.json"
        settings = {
            "HOCKET_PLAN": str(write_plan(folder, ranks, [planned])),
            "HOCKET_STATISTICS": str(statistics),
            "HOCKET_VERBOSE": "1",
            **env,
        }
        libraries = [self.parts.interpose, self.behind]
        arguments = [calls, BYTES, late_us, calls_per_communicator or calls]
        result = self.runner.run(ranks, self.program, *arguments, libraries=libraries, env=settings)
        lines = result.stdout.splitlines()
        assert lines[-1] == "wrong 0"
        assert len(lines) == ranks + 1
        assert len({*lines[:-1]}) == 1, lines  # all ranks fall back, and sample, at the same calls
        ranges = [tuple(map(int, text.split("-"))) for text in lines[0].split()[1:]]
        (counts,) = json.loads(statistics.read_text())["entries"]
        said = [line for line in result.stderr.splitlines() if line.startswith("hocket: ")]
        assert counts["rerouted_calls"] + sum(last - first + 1 for first, last in ranges) == calls
        return Outcome([(first, last) for first, last in ranges], counts, said)


@pytest.fixture
def run(runner: MpiRunner) -> SelfCheckRun:
    source = runner.folder / "behind.c"
    source.write_text(BEHIND)
    behind = runner.folder / "libbehind.so"
    command = [str(runner.mpi.mpicc), "-shared", "-fPIC", "-O1", str(source), "-o", str(behind), "-ldl"]
    subprocess.run(command, check=True, timeout=LIMIT_S)
    return SelfCheckRun(runner, build_mpi_parts(runner.mpi), runner.compile(PROGRAM), behind)


@pytest.mark.parametrize(("ranks", "late_us"), [(2, 0), (3, 0), (5, 20_000)])
def test_all_ranks_leave_a_bad_entry_at_the_same_call(run: SelfCheckRun, ranks: int, late_us: int) -> None:
    calls = 400  # call 28 is the soonest; on a busy machine a native call can be the one that waits for a core
    found = run(ranks, calls, BAD, late_us)
    first = found.counts["fell_back_at_call"]
    assert first is not None
    begin, end = found.native[-1]
    assert end == calls
    assert begin in (first - 1, first)  # the last call that was timed may be a native one
    assert found.counts["self_check_calls"] >= 6  # the first does not count
    assert found.counts["fallen_back_calls"] == calls - first + 1
    num_native = sum(last - first + 1 for first, last in found.native)
    assert num_native == found.counts["self_check_calls"] + found.counts["fallen_back_calls"]
    told = [line for line in found.said if f"native from its call {first} on" in line]
    assert len(told) == 1, found.said
    assert "slower than the MPI's own in 5 comparisons in a row" in told[0]


def test_what_one_communicator_has_found_holds_for_the_next(run: SelfCheckRun) -> None:
    calls, each = 400, 20
    found = run(3, calls, BAD, calls_per_communicator=each)
    assert found.counts["fell_back_at_call"] is not None
    assert found.native[-1][1] == calls
    assert len([line for line in found.said if "native from its call" in line]) == 1


@pytest.mark.parametrize(("ranks", "late_us"), [(3, 0), (4, 20_000)])
def test_a_good_entry_stays(run: SelfCheckRun, ranks: int, late_us: int) -> None:
    # The native function is slow, since a library behind ours makes it so. What a comparison loses is waited for.
    found = run(ranks, 150, {"algorithm": "binomial"}, late_us, NATIVE_DELAY_US="30000")
    assert found.counts["fell_back_at_call"] is None
    assert found.counts["fallen_back_calls"] == 0
    assert found.counts["self_check_calls"] >= 1
    assert not any("native from" in line for line in found.said)


@pytest.mark.parametrize(
    ("calls", "more", "env"),
    [
        (11, {}, {}),  # too few calls for a comparison
        (20, {}, {"HOCKET_SELF_CHECK": "off"}),
        (20, {"reproducible": True}, {}),
    ],
    ids=["few calls", "off", "reproducible"],
)
def test_nothing_is_compared(run: SelfCheckRun, calls: int, more: dict[str, Any], env: dict[str, str]) -> None:
    found = run(3, calls, BAD, more=more, **env)
    assert found.native == []
    assert found.counts["rerouted_calls"] == calls
    assert found.counts["fell_back_at_call"] is None
    assert any("calls rerouted, none compared with a native one" in line for line in found.said)


def test_an_entry_with_evidence_is_compared_when_it_is_paid_for(run: SelfCheckRun) -> None:
    evidence = {"mpi": "any", "launches": 3, "repetitions": 5, "ratio": 1.5, "ratio_interval": [1.4, 1.6]}
    found = run(3, 60, BAD, more={"evidence": evidence})
    assert found.native[0][0] > 50  # a native call loses half the time of a rerouted one, 1 % of 50 calls
    found = run(3, 60, BAD, more={"evidence": evidence}, HOCKET_EVIDENCE="off")
    assert found.native[0][0] in (12, 13)  # as without


def test_a_switch_that_does_not_exist_is_told(run: SelfCheckRun) -> None:
    found = run(2, 20, BAD, HOCKET_SELF_CHECK="no")
    assert found.counts["self_check_calls"] > 0
    told = [line for line in found.said if "HOCKET_SELF_CHECK" in line]
    assert told == ['hocket: HOCKET_SELF_CHECK is "no"; accepted: on, off; it stays on']


def test_many_communicators(runner: MpiRunner, tmp_path: Path) -> None:
    parts = build_mpi_parts(runner.mpi)
    program = compile_check(runner, parts, "fall_back_check")
    world = [0, 1, 2]
    # More segments only take longer: the entry is left at the same call.
    bad = {"algorithm": "pipelined_chain", "segments": 5000}
    entries = [
        {**entry("bcast", world, "linear", bytes_min=20000), "schedule": bad},
        entry("bcast", world, "binomial", bytes_max=19999),
        entry("allreduce", world, "ring", segments=500),
        entry("bcast", [1, 0], "linear"),
    ]
    statistics = tmp_path / "statistics.json"
    env = {"HOCKET_PLAN": str(write_plan(tmp_path, 3, entries)), "HOCKET_STATISTICS": str(statistics)}
    result = runner.run(3, program, libraries=[parts.interpose], env=env)
    assert result.stdout.split() == ["wrong", "0"]
    slow, _, ring, pair = json.loads(statistics.read_text())["entries"]
    assert slow["fell_back_at_call"] is not None
    assert slow["rerouted_calls"] + slow["self_check_calls"] + slow["fallen_back_calls"] == 4 * 250 + 40 * 3
    assert ring["rerouted_calls"] + ring["self_check_calls"] + ring["fallen_back_calls"] == 4 * 250
    assert pair["rerouted_calls"] == 7
