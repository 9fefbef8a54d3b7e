# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Unmodified programs whose collectives are rerouted by a plan."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mpi_parts import RANKS, compile_check, entry, write_plan

from hocket import algorithms
from hocket.errors import Error
from hocket.mpi.build import MpiParts, build_mpi_parts
from mpis import MpiRunner

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

CALLS = 6
REDUCTIONS = ("reduce", "allreduce", "reduce_scatter_block")


def varied_entries(ranks: int) -> list[dict[str, Any]]:
    """For world, reversed, even and odd ranks and each collective an algorithm, another one each time."""
    world = list(range(ranks))
    groups: list[list[int]] = []
    for members in (world, world[::-1], world[::2], world[1::2]):
        if members and members not in groups:
            groups.append(members)
    by_collective: dict[str, list[str]] = {}
    for algorithm in algorithms():
        by_collective.setdefault(algorithm.collective, []).append(algorithm.name)
    return [
        entry(collective, members, names[(ranks + i) % len(names)], segments=1 + (ranks + i) % 5)
        for collective, names in by_collective.items()
        for i, members in enumerate(groups)
    ]


@pytest.fixture
def parts(runner: MpiRunner) -> MpiParts:
    return build_mpi_parts(runner.mpi)


@pytest.mark.parametrize("ranks", RANKS)
def test_every_collective(runner: MpiRunner, parts: MpiParts, tmp_path: Path, ranks: int) -> None:
    program = compile_check(runner, parts, "interpose_check")
    statistics = tmp_path / "statistics.json"
    entries = varied_entries(ranks)
    env = {"HOCKET_PLAN": str(write_plan(tmp_path, ranks, entries)), "HOCKET_STATISTICS": str(statistics)}
    result = runner.run(ranks, program, 200 + ranks, CALLS, libraries=[parts.interpose], env=env, timeout=300)
    found = re.search(r"seed \d+: (\d+) wrong, (\d+) more bcasts on world", result.stdout)
    assert found, result.stdout + result.stderr
    assert found[1] == "0", result.stdout
    for planned, count in zip(entries, json.loads(statistics.read_text())["entries"], strict=True):
        native = count["native_calls"]
        if len(planned["members"]) == 1 < ranks:
            assert count["rerouted_calls"] == 0  # one rank among others has no schedule
            continue
        assert native == 0 or planned["collective"] in REDUCTIONS  # left native for their operator
        assert count["rerouted_calls"] > 0
        if ranks < 3:  # some of the communicators have the same members
            continue
        on_world = planned["members"] == list(range(ranks))  # world and its duplicate
        more = int(found[2]) if on_world and planned["collective"] == "bcast" else 0
        assert count["rerouted_calls"] + native == CALLS * (1 + on_world) + more, planned


HELLO = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0) printf("sum %d\n", sum);
    return 0;
}
"""


@pytest.mark.one_of_each_family  # no MPI has a part in it
@pytest.mark.parametrize("text", ["", "{", '{"format": "hocket.plan/1"}', "ranks", "key", "algorithm", None])
def test_a_plan_that_does_not_fit_leaves_all_native(
    runner: MpiRunner, parts: MpiParts, tmp_path: Path, text: str | None
) -> None:
    good = entry("allreduce", [0, 1, 2], "ring")
    plan = write_plan(tmp_path, 4 if text == "ranks" else 3, [good])
    if text == "key":
        plan = write_plan(tmp_path, 3, [{**good, "speed": 1}])
    elif text == "algorithm":
        plan = write_plan(tmp_path, 3, [entry("allreduce", [0, 1, 2], "telepathy")])
    elif text is None:
        plan.unlink()
    elif text != "ranks":
        plan.write_text(text)
    program = runner.compile(HELLO)
    result = runner.run(3, program, libraries=[parts.interpose], env={"HOCKET_PLAN": str(plan)})
    assert result.stdout.strip() == "sum 3"
    said = [line for line in result.stderr.splitlines() if line.startswith("hocket: ")]
    assert len(said) == 1, result.stderr
    assert str(plan) in said[0]
    assert said[0].endswith("every call stays native")


def test_verbose_tells_what_was_used(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    world = [0, 1, 2]
    plan = write_plan(tmp_path, 3, [entry("allreduce", world, "ring"), entry("barrier", world, "dissemination")])
    env = {"HOCKET_PLAN": str(plan), "HOCKET_VERBOSE": "1"}
    result = runner.run(3, runner.compile(HELLO), libraries=[parts.interpose], env=env)
    said = [line for line in result.stderr.splitlines() if line.startswith("hocket: ")]
    assert [line.rsplit(": ", 1)[1] for line in said] == [
        "1 calls rerouted, none compared with a native one",
        "0 calls rerouted",
    ]


FORTRAN = r"""
program check
  {use}
  implicit none
  {include}
  integer :: rank, num_ranks, code, i, wrong(1), total(1)
  integer :: data(1000), sums(1000)
  real(8) :: parts(8), all(64)
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, num_ranks, code)
  wrong = 0
  data = -1
  if (rank == 1) data = [(3 * i, i = 1, 1000)]
  call MPI_Bcast(data, 1000, MPI_INTEGER, 1, MPI_COMM_WORLD, code)
  if (any(data /= [(3 * i, i = 1, 1000)])) wrong = wrong + 1
  data = rank + 1
  call MPI_Allreduce(data, sums, 1000, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (any(sums /= num_ranks * (num_ranks + 1) / 2)) wrong = wrong + 1
  call MPI_Allreduce(MPI_IN_PLACE, data, 1000, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (any(data /= num_ranks * (num_ranks + 1) / 2)) wrong = wrong + 1
  parts = rank
  call MPI_Allgather(parts, 8, MPI_DOUBLE_PRECISION, all, 8, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, code)
  do i = 1, num_ranks
    if (any(all(8 * i - 7:8 * i) /= i - 1)) wrong = wrong + 1
  end do
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
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
    if runner.mpi.mpifort is None or (runner.mpi.source == "wheel"):
        pytest.skip(f"{runner.mpi.name} has no Fortran modules here")
    # With mpif.h a compiler sees one procedure called with several types, which gfortran refuses from version 10 on.
    flags = ["-fallow-argument-mismatch"] if include else []
    program = runner.compile(FORTRAN.format(use=use, include=include), *flags, language="fortran")
    world = [0, 1, 2]
    algorithms_used = {"bcast": "binomial", "allreduce": "ring", "allgather": "ring", "barrier": "dissemination"}
    entries = [entry(collective, world, name) for collective, name in algorithms_used.items()]
    statistics = tmp_path / "statistics.json"
    env = {"HOCKET_PLAN": str(write_plan(tmp_path, 3, entries)), "HOCKET_STATISTICS": str(statistics)}
    result = runner.run(3, program, libraries=[parts.interpose], env=env)
    assert result.stdout.strip() == "wrong 0"
    assert [e["rerouted_calls"] for e in json.loads(statistics.read_text())["entries"]] == [1, 3, 1, 1]


KILLED = r"""
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank;
    char *data = calloc(1000000, 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0;; ++i) {
        if (rank == 1 && i == 5) raise(SIGKILL);
        MPI_Bcast(data, 1000000, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
}
"""


def test_a_rank_that_dies_ends_the_program(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, 4, [entry("bcast", [0, 1, 2, 3], "pipelined_chain", segments=50)])
    program = runner.compile(KILLED)
    env = {"HOCKET_PLAN": str(plan)}
    try:
        result = runner.run(4, program, libraries=[parts.interpose], env=env, check=False)
    except Error as error:
        pytest.fail(f"the other ranks hang: {error}")
    assert result.returncode != 0


def test_threads(runner: MpiRunner, parts: MpiParts, tmp_path: Path) -> None:
    world = [0, 1, 2]
    entries = [entry("bcast", world, "pipelined_chain", segments=7), entry("allreduce", world, "ring")]
    plan = write_plan(tmp_path, 3, entries)
    env = {"HOCKET_PLAN": str(plan), "HOCKET_STATISTICS": str(tmp_path / "statistics.json")}
    result = runner.run(3, compile_check(runner, parts, "threads_check"), libraries=[parts.interpose], env=env)
    if "no MPI_THREAD_MULTIPLE" in result.stdout:
        pytest.skip("this MPI has no MPI_THREAD_MULTIPLE")
    assert result.stdout.strip() == "wrong 0"
    counted = json.loads((tmp_path / "statistics.json").read_text())["entries"]
    assert [e["rerouted_calls"] + e["self_check_calls"] + e["fallen_back_calls"] for e in counted] == [400, 400]
    assert all(e["self_check_calls"] > 0 for e in counted)
