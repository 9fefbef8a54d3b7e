# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Unmodified programs whose non-blocking communication progresses in the background."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mpi_parts import compile_check

from hocket.mpi.build import MpiParts, build_mpi_parts
from mpis import MpiRunner, rounds

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

MODES = ("on", "auto")


@pytest.fixture
def parts(runner: MpiRunner) -> MpiParts:
    return build_mpi_parts(runner.mpi)


def check(
    runner: MpiRunner, parts: MpiParts, ranks: int, mode: str, scenario: str, seed: int, count: int, **env: str
) -> dict[str, Any]:
    """Runs a scenario of progress_check; what the library has counted."""
    program = compile_check(runner, parts, "progress_check")
    statistics = runner.folder / "statistics.json"
    settings = {"HOCKET_PROGRESS": mode, "HOCKET_STATISTICS": str(statistics), **env}
    result = runner.run(ranks, program, scenario, seed, count, libraries=[parts.interpose], env=settings)
    assert f"{scenario} seed {seed}: wrong 0" in result.stdout, f"{ranks} ranks: {result.stdout}{result.stderr}"
    assert "hocket:" not in result.stderr
    progress: dict[str, Any] = json.loads(statistics.read_text())["progress"]
    assert progress["mode"] == mode
    return progress


@pytest.mark.parametrize("mode", MODES)
def test_mixed_requests(runner: MpiRunner, parts: MpiParts, mode: str) -> None:
    """Collectives and messages in flight together, completed by every function that completes requests."""
    for ranks, calls in ((1, 100), (2, 200), (3, 120), (5, 30), (8, 12)):
        progress = check(runner, parts, ranks, mode, "mixed", 40 + ranks, rounds(calls))
        counts = {call["function"]: call for call in progress["calls"]}
        assert {"MPI_Ialltoall", "MPI_Ibarrier", "MPI_Iscatterv", "MPI_Irecv"} <= counts.keys()
        if mode == "on":
            assert all(call["in_background"] == call["calls"] for call in progress["calls"])


@pytest.mark.parametrize("mode", MODES)
def test_persistent_collectives(runner: MpiRunner, parts: MpiParts, mode: str) -> None:
    for ranks, starts in ((1, 100), (2, 300), (3, 150), (5, 25)):
        progress = check(runner, parts, ranks, mode, "persistent", 60 + ranks, rounds(starts))
        if progress["calls"]:  # not with Open MPI 4, which has none
            assert sum(call["calls"] for call in progress["calls"]) > rounds(starts) * ranks * 5


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("handles", ["communicators", "types"])
def test_handles_freed_while_pending(runner: MpiRunner, parts: MpiParts, mode: str, handles: str) -> None:
    if runner.mpi.family == "openmpi" and handles == "communicators":
        pytest.skip(f"{runner.mpi.name} crashes with such a program, without hocket too")
    for ranks in (2, 3, 5):
        check(runner, parts, ranks, mode, f"freed-{handles}", ranks, 30)


def test_freed_requests(runner: MpiRunner, parts: MpiParts) -> None:
    """Also that MPI_Finalize ends what nobody waits for."""
    for ranks in (2, 3):
        check(runner, parts, ranks, "on", "freed-requests", 7, 20)


def test_a_late_rank(runner: MpiRunner, parts: MpiParts) -> None:
    check(runner, parts, 3, "on", "late", 3, 1)


@pytest.mark.parametrize("mode", MODES)
def test_threads(runner: MpiRunner, parts: MpiParts, mode: str) -> None:
    check(runner, parts, 2, mode, "threads", 11, 30)
    check(runner, parts, 3, mode, "threads", 12, 15)


def test_a_cancelled_receive(runner: MpiRunner, parts: MpiParts) -> None:
    check(runner, parts, 2, "on", "cancel", 5, 50)


@pytest.mark.parametrize("scenario", ["mixed", "funneled"])
def test_the_program_sees_its_own_thread_level(runner: MpiRunner, parts: MpiParts, scenario: str) -> None:
    check(runner, parts, 2, "on", scenario, 1, 2, HOCKET_PROGRESS_CORE="idle")


OVERLAPS = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, size, bytes = 200000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *from = calloc(size, bytes), *to = calloc(size, bytes);
    for (int i = 0; i < 40; ++i) {
        MPI_Request request;
        MPI_Ialltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD, &request);
        if (argc > 1) usleep(5000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
"""


def test_auto_leaves_what_is_waited_for_at_once(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    statistics = tmp_path / "statistics.json"
    env = {"HOCKET_PROGRESS": "auto", "HOCKET_STATISTICS": str(statistics)}
    runner.run(2, runner.compile(OVERLAPS), libraries=[parts.interpose], env=env)
    (calls,) = json.loads(statistics.read_text())["progress"]["calls"]
    assert (calls["function"], calls["calls"], calls["in_background"]) == ("MPI_Ialltoall", 80, 0)


EXITS = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    static int data[1000000];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Ibcast(data, 1000000, MPI_INT, 0, MPI_COMM_WORLD, &request);
    exit(7);
}
"""


def test_an_exit_while_a_collective_is_pending(runner: MpiRunner, parts: MpiParts) -> None:
    program = runner.compile(EXITS)
    env = {"HOCKET_PROGRESS": "on"}
    for _ in range(3):
        done = runner.run(2, program, libraries=[parts.interpose], env=env, check=False)
        # Of 80 native runs with MPICH 4.0 one ended so: its launcher hangs up on the other rank.
        is_hung_up = runner.mpi.family == "mpich" and "Hangup (signal 1)" in done.stdout
        assert done.returncode == 7 or is_hung_up, done.stdout + done.stderr


FAILS = r"""
#include <mpi.h>
#include <stdio.h>
static int calls;
static void count(MPI_Comm *comm, int *code, ...) { ++calls; }
int main(int argc, char **argv) {
    static int data[100];
    int rank, code;
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(count, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Ibcast(data, rank ? 10 : 100, MPI_INT, 0, comm, &request);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) printf("failed %d, handler called %d\n", code != MPI_SUCCESS, calls);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.in_turns(False)  # only MPICH 4 does that
def test_an_error_comes_up_in_the_programs_wait(runner: MpiRunner, parts: MpiParts) -> None:
    if runner.mpi.label.startswith("mpich-5"):
        pytest.skip(f"{runner.mpi.name} tells it in whatever call moves the collective on, of any request")
    if runner.mpi.label.startswith("openmpi-4"):
        pytest.skip(
            f"{runner.mpi.name} ends a program whose collective fails, crashes, or, in 2 of 25 runs, goes on waiting"
        )
    program = runner.compile(FAILS)
    native = runner.run(2, program, check=False)
    if native.returncode != 0:
        pytest.skip(f"{runner.mpi.name} ends a program whose collective fails")
    assert native.stdout == "failed 1, handler called 1\n"
    assert runner.run(2, program, libraries=[parts.interpose], env={"HOCKET_PROGRESS": "on"}).stdout == native.stdout


def test_settings_that_are_wrong(runner: MpiRunner, parts: MpiParts) -> None:
    program = runner.compile(OVERLAPS)
    env = {"HOCKET_PROGRESS": "fast", "HOCKET_PROGRESS_CORE": "warm", "HOCKET_VERBOSE": "-1", "HOCKET_EVIDENCE": "42"}
    result = runner.run(2, program, libraries=[parts.interpose], env=env)
    said = [line for line in result.stderr.splitlines() if line.startswith("hocket: ")]
    assert said == [
        'hocket: HOCKET_VERBOSE is "-1"; accepted: 0, 1; it stays 0',
        'hocket: HOCKET_EVIDENCE is "42"; accepted: on, off; it stays on',
        'hocket: HOCKET_PROGRESS is "fast"; accepted: off, on, auto; it stays off',
        'hocket: HOCKET_PROGRESS_CORE is "warm"; accepted: any, idle, the number of a core; it stays any',
    ]


WRONG_REQUESTS = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    static char from[200000], to[200000];
    int flag, failed = 0;
    MPI_Request request, *volatile none = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Ialltoall(from, 100000, MPI_CHAR, to, 100000, MPI_CHAR, MPI_COMM_WORLD, &request);
    failed += MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
    failed += MPI_Waitall(1, none, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
    failed += MPI_Wait(none, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    failed += MPI_Test(none, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("failed %d\n", failed);
    MPI_Finalize();
    return 0;
}
"""


def test_the_mpi_tells_of_requests_that_are_wrong(runner: MpiRunner, parts: MpiParts) -> None:
    program = runner.compile(WRONG_REQUESTS)
    said = [
        runner.run(2, program, libraries=[parts.interpose], env={"HOCKET_PROGRESS": mode}).stdout
        for mode in ("off", "on")
    ]
    assert said[0] == said[1]


LEAVES_IT_TO_EXIT = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static MPI_Request request;
static int late, rank;
static const char *folder;
static void finish(void) {
    if (late) usleep(300000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    char name[1000];  // launchers may lose what is printed so late, and MPICH 5.0's ends ranks after MPI_Finalize
    snprintf(name, sizeof name, "%s/%d", folder, rank);
    fclose(fopen(name, "w"));
    MPI_Finalize();
}
int main(int argc, char **argv) {
    int size, bytes = 1000000;
    folder = argv[argc - 1];
    atexit(finish);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *from = calloc(size, bytes), *to = calloc(size, bytes);
    if (rank == 1) usleep(300000);
    MPI_Ialltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD, &request);
    late = rank == 0;
    return 0;
}
"""


@pytest.mark.parametrize("mode", MODES)
def test_what_the_program_leaves_to_exit(runner: MpiRunner, parts: MpiParts, mode: str, tmp_path: Path) -> None:
    """A function that it has given to atexit before MPI_Init runs after ours."""
    env = {"HOCKET_PROGRESS": mode}
    program = runner.compile(LEAVES_IT_TO_EXIT, name="leaves")
    (tmp_path / "ended").mkdir()
    runner.run(2, program, tmp_path / "ended", libraries=[parts.interpose], env=env)
    assert {path.name for path in (tmp_path / "ended").iterdir()} == {"0", "1"}


FORTRAN = r"""
program check
  {use}
  implicit none
  {include}
  integer :: rank, num_ranks, code, i, round, wrong, level
  integer, asynchronous :: from(20000), to(80000), total(1)
  {request} :: requests(3)
  logical :: flag
  integer :: index
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, num_ranks, code)
  call MPI_Query_thread(level, code)
  wrong = 0
  if (level /= MPI_THREAD_SINGLE) wrong = 1
  do round = 1, 20
    from = rank + round
    to = -1
    total = rank
    call MPI_Ialltoall(from, 1000, MPI_INTEGER, to, 1000, MPI_INTEGER, MPI_COMM_WORLD, requests(1), code)
    call MPI_Iallreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(2), code)
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(3), code)
    select case (mod(round, 4))
    case (0)
      call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, code)
    case (1)
      do i = 1, 3
        call MPI_Wait(requests(i), MPI_STATUS_IGNORE, code)
      end do
    case (2)
      do i = 1, 3
        call MPI_Waitany(3, requests, index, MPI_STATUS_IGNORE, code)
      end do
    case default
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(3, requests, flag, MPI_STATUSES_IGNORE, code)
      end do
    end select
    if (any(requests /= MPI_REQUEST_NULL)) wrong = wrong + 1
    do i = 1, num_ranks
      if (any(to(1000 * i - 999:1000 * i) /= i - 1 + round)) wrong = wrong + 1
    end do
    if (total(1) /= num_ranks * (num_ranks - 1) / 2) wrong = wrong + 1
  end do
  total = wrong
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0) print '(a,i0)', 'wrong ', total
  call MPI_Finalize(code)
end program
"""


@pytest.mark.in_turns(False)  # the wheels have no Fortran modules
@pytest.mark.parametrize(
    ("use", "include"),
    [("", "include 'mpif.h'"), ("use mpi", ""), ("use mpi_f08", "")],
    ids=["mpif.h", "mpi", "mpi_f08"],
)
def test_fortran(runner: MpiRunner, parts: MpiParts, tmp_path: Path, use: str, include: str) -> None:
    if runner.mpi.mpifort is None or runner.mpi.source == "wheel":
        pytest.skip(f"{runner.mpi.name} has no Fortran modules here")
    source = FORTRAN.format(use=use, include=include, request="type(MPI_Request)" if "f08" in use else "integer")
    if "f08" in use:
        source = source.replace("any(requests /= MPI_REQUEST_NULL)", "requests(1) /= MPI_REQUEST_NULL")
    flags = ["-fallow-argument-mismatch"] if include else []
    program = runner.compile(source, *flags, language="fortran")
    statistics = tmp_path / "statistics.json"
    env = {"HOCKET_PROGRESS": "on", "HOCKET_STATISTICS": str(statistics)}
    result = runner.run(3, program, libraries=[parts.interpose], env=env)
    assert result.stdout.strip() == "wrong 0"
    calls = json.loads(statistics.read_text())["progress"]["calls"]
    assert {call["function"]: call["in_background"] for call in calls} == {
        "MPI_Ialltoall": 60,
        "MPI_Iallreduce": 60,
        "MPI_Ibarrier": 60,
    }


def test_verbose_tells_what_was_in_the_background(runner: MpiRunner, parts: MpiParts) -> None:
    env = {"HOCKET_PROGRESS": "on", "HOCKET_VERBOSE": "1"}
    result = runner.run(2, runner.compile(OVERLAPS), "x", libraries=[parts.interpose], env=env)
    said = [line for line in result.stderr.splitlines() if line.startswith("hocket: ")]
    assert said[0] == "hocket: MPI_Ialltoall from 131072 B: 80 of 80 calls in the background"
    assert re.fullmatch(
        r"hocket: 80 of 80 non-blocking calls of all ranks in the background, "
        r"by threads that used \S+ s of CPU time at most",
        said[1],
    )
