# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Collectives whose blocks differ from rank to rank, by schedules of even ones; those that no schedule serves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mpi_parts import compile_check, entry, write_plan

from hocket import algorithms
from hocket.mpi.build import build_mpi_parts
from mpis import MpiRunner, rounds

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

SERVED_BY = {"allgatherv": "allgather", "reduce_scatter": "reduce_scatter_block"}


def planned(folder: Path, ranks: int) -> Path:
    """For world, reversed, even and odd ranks, each with another algorithm and number of segments."""
    world = list(range(ranks))
    groups: list[list[int]] = []
    for members in (world, world[::-1], world[::2], world[1::2]):
        if members and members not in groups:
            groups.append(members)
    entries = []
    for collective in SERVED_BY.values():
        names = [algorithm.name for algorithm in algorithms() if algorithm.collective == collective]
        entries += [
            entry(collective, members, names[(2 * ranks + i) % len(names)], segments=1 + (ranks + i) % 4)
            for i, members in enumerate(groups)
        ]
    return write_plan(folder, ranks, entries)


def outcomes(statistics: dict[str, Any], collective: str) -> dict[str, int]:
    return {row["outcome"]: row["calls"] for row in statistics["calls"] if row["collective"] == collective}


# Without the self-check no call is native that has datatypes of its own on each rank.
@pytest.mark.parametrize(("ranks", "check"), [(1, "on"), (2, "on"), (3, "off"), (4, "off"), (5, "on"), (8, "off")])
def test_random_blocks(runner: MpiRunner, tmp_path: Path, ranks: int, check: str) -> None:
    parts = build_mpi_parts(runner.mpi)
    program = compile_check(runner, parts, "uneven_check")
    file = tmp_path / "statistics.json"
    plan = planned(tmp_path, ranks)
    env = {"HOCKET_PLAN": str(plan), "HOCKET_STATISTICS": str(file), "HOCKET_SELF_CHECK": check}
    result = runner.run(ranks, program, 300 + ranks, rounds(60), libraries=[parts.interpose], env=env, timeout=120)
    assert result.stdout.endswith(": 0 wrong\n"), result.stdout + result.stderr
    statistics = json.loads(file.read_text())
    for collective, server in SERVED_BY.items():
        found = outcomes(statistics, collective)
        assert found["derived"] > 0
        assert ("comparison" in found) == (check == "on")  # nothing is known of such calls
        if ranks > 4:
            assert found["uneven"] > 0
        rows = [row for row in statistics["entries"] if row["collective"] == collective]
        assert rows
        assert all(row["description"].startswith(f"{collective} by {server} of ") for row in rows)
    # Those of even blocks are no calls of theirs.
    assert not any(row["rerouted_calls"] for row in statistics["entries"] if row["collective"] in SERVED_BY.values())


@pytest.mark.parametrize("ranks", [2, 4, 5])
def test_random_blocks_in_the_background(runner: MpiRunner, tmp_path: Path, ranks: int) -> None:
    parts = build_mpi_parts(runner.mpi)
    program = compile_check(runner, parts, "uneven_check")
    file = tmp_path / "statistics.json"
    plan = planned(tmp_path, ranks)
    env = {"HOCKET_PLAN": str(plan), "HOCKET_STATISTICS": str(file), "HOCKET_PROGRESS": "on"}
    env["HOCKET_SELF_CHECK"] = "off" if ranks == 4 else "on"
    libraries = [parts.interpose]
    result = runner.run(ranks, program, 400 + ranks, rounds(30), "later", libraries=libraries, env=env, timeout=120)
    assert result.stdout.endswith(": 0 wrong\n"), result.stdout + result.stderr
    rows = json.loads(file.read_text())["entries"]
    for collective in SERVED_BY:
        assert sum(row["rerouted_calls"] for row in rows if row["collective"] == collective) > 0


OTHERS = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int ones[8], places[8], mine[8], all[8];
    MPI_Datatype types[8];
    for (int i = 0; i < size; ++i) ones[i] = 1, places[i] = i, mine[i] = 10 * rank + i, types[i] = MPI_INT;
    MPI_Gatherv(mine, 1, MPI_INT, all, ones, places, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; ++i) wrong += all[i] != 10 * i;
    MPI_Scatterv(mine, ones, places, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD);
    wrong += all[0] != 10 + rank;
    MPI_Alltoallv(mine, ones, places, MPI_INT, all, ones, places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) wrong += all[i] != 10 * i + rank;
    for (int i = 0; i < size; ++i) places[i] *= sizeof(int);
    MPI_Alltoallw(mine, ones, places, types, all, ones, places, types, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) wrong += all[i] != 10 * i + rank;
    int sum = 0, before = 0;
    for (int i = 0; i < 2; ++i) MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != rank * (rank + 1) / 2;
    MPI_Exscan(&rank, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += rank > 0 && before != rank * (rank - 1) / 2;
    MPI_Comm ring;
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, ring);
    wrong += all[0] != (rank + size - 1) % size || all[1] != (rank + 1) % size;
    MPI_Comm_free(&ring);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d wrong\n", wrong);
    MPI_Finalize();
    return 0;
}
"""


def test_what_no_schedule_serves_is_named(runner: MpiRunner, tmp_path: Path) -> None:
    parts = build_mpi_parts(runner.mpi)
    file = tmp_path / "statistics.json"
    plan = write_plan(tmp_path, 4, [entry("allreduce", [0, 1, 2, 3], "ring")])
    env = {"HOCKET_PLAN": str(plan), "HOCKET_STATISTICS": str(file), "HOCKET_SUMMARY": "1"}
    result = runner.run(4, runner.compile(OTHERS), libraries=[parts.interpose], env=env)
    assert result.stdout == "0 wrong\n", result.stdout + result.stderr
    statistics = json.loads(file.read_text())
    names = ("gatherv", "scatterv", "alltoallv", "alltoallw", "scan", "exscan", "neighbor_allgather")
    for name in names:
        assert outcomes(statistics, name) == {"no_schedule": 8 if name == "scan" else 4}
    line = next(line for line in result.stderr.splitlines() if "hocket has no schedule" in line)
    assert line.endswith("(" + ", ".join(names) + ")")
