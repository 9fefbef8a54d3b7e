# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Entries for ranges of sizes: segments in bytes, several communicators, roots, and the counts of what was served."""

from __future__ import annotations

import json
import socket
from pathlib import Path

from hocket import Schedule
from hocket.mpi.build import build_mpi_parts
from hocket.plan import Evidence, Plan, PlanEntry, write_plan
from mpis import MpiRunner

# Every call has another size, and every rank is a root: 60 broadcasts on the world, 20 on each half, then 5 reductions.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int wrong = 0;
static void broadcast(MPI_Comm comm, int call, int size) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    unsigned char* data = malloc(size);
    const int root = call % ranks;
    for (int i = 0; i < size; ++i) data[i] = rank == root ? (unsigned char)(i * 7 + call) : 0;
    MPI_Bcast(data, size, MPI_BYTE, root, comm);
    for (int i = 0; i < size; ++i) wrong += data[i] != (unsigned char)(i * 7 + call);
    free(data);
}
int main(int argc, char** argv) {
    MPI_Comm half;
    int rank, ranks, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int i = 0; i < 60; ++i) broadcast(MPI_COMM_WORLD, i, 1 + 997 * i);
    for (int i = 0; i < 20; ++i) broadcast(half, i, 1 + 2003 * i);
    for (int i = 0; i < 5; ++i) MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong %d\n", wrong);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
"""
WORLD, EVEN, ODD = (0, 1, 2, 3), (0, 2), (1, 3)
EVIDENCE = Evidence("an MPI", 1, 1, 1.5, (1.4, 1.6))


def outcomes(path: Path) -> dict[tuple[str, str], int]:
    rows = json.loads(path.read_text())["calls"]
    assert all(row["time_s"] >= 0 for row in rows)
    return {(row["collective"], row["outcome"]): row["calls"] for row in rows}


def test_sizes_roots_and_communicators(runner: MpiRunner, tmp_path: Path) -> None:
    whole = Schedule.build("bcast", "binomial", 4, root=1)
    entries = (
        # For any root, but what the next two say of root 1 goes before.
        PlanEntry("bcast", WORLD, 5000, 1 << 20, "pipelined_chain", segment_bytes=4000, order=(2, 0, 1, 3)),
        PlanEntry("bcast", WORLD, 10000, 20000, "custom", root=1, custom=whole, evidence=EVIDENCE),
        PlanEntry("bcast", WORLD, 20001, 30000, "custom", root=1, custom=whole),
        PlanEntry("bcast", EVEN, 0, 1 << 20, "pipelined_chain", segment_bytes=1000, other_members=(ODD,)),
    )
    plan = tmp_path / "plan.json"
    write_plan(Plan(4, "test", entries, hosts=(socket.gethostname(),) * 3 + ("elsewhere",)), plan)
    assert json.loads(plan.read_text())["entries"][2]["schedule"] == {"entry": 1}
    assert Plan.from_file(plan).entries[2].schedule() == entries[1].schedule()

    statistics = tmp_path / "statistics.json"
    env = {"HOCKET_PLAN": str(plan), "HOCKET_STATISTICS": str(statistics), "HOCKET_SUMMARY": "1"}
    env["HOCKET_SELF_CHECK"] = "off"
    interpose = build_mpi_parts(runner.mpi).interpose
    done = runner.run(4, runner.compile(PROGRAM), libraries=[interpose], env=env)
    assert done.stdout == "wrong 0\n", done.stderr

    # By size 1 + 997 i: 0 to 5 are below 5000 bytes; of the others 1, 5, 9, ... have root 1.
    of_root_1 = [1 + 997 * i for i in range(60) if i % 4 == 1]
    measured = sum(10000 <= size <= 20000 for size in of_root_1)
    by_next = sum(20001 <= size <= 30000 for size in of_root_1)
    document = json.loads(statistics.read_text())
    assert [entry["rerouted_calls"] for entry in document["entries"]] == [
        54 - measured - by_next,
        measured,
        by_next,
        20,
    ]
    assert outcomes(statistics) == {
        ("bcast", "measured"): 4 * measured,
        ("bcast", "derived"): 4 * (54 - measured + 20),
        ("bcast", "size"): 4 * 6,
        ("allreduce", "collective"): 4 * 5,
    }
    assert "hocket: 1 of 4 ranks are on other hosts than when the plan was made" in done.stderr
    assert "hocket: the plan served 87 % of the blocking collective calls and " in done.stderr
    assert "left native: 7 % of the calls, " in done.stderr
    assert "sizes or roots that the plan has no entry for (bcast)" in done.stderr
    assert "collectives that the plan has no entry for (allreduce)" in done.stderr


def test_other_communicators_are_counted_apart(runner: MpiRunner, tmp_path: Path) -> None:
    plan, statistics = tmp_path / "plan.json", tmp_path / "statistics.json"
    entry = PlanEntry("bcast", WORLD, 0, 1 << 20, "binomial")
    write_plan(Plan(4, "test", (entry,), hosts=(socket.gethostname(),) * 4), plan)
    env = {"HOCKET_PLAN": str(plan), "HOCKET_STATISTICS": str(statistics)}
    interpose = build_mpi_parts(runner.mpi).interpose
    done = runner.run(4, runner.compile(PROGRAM), libraries=[interpose], env=env)
    assert (done.stdout, "other hosts" in done.stderr) == ("wrong 0\n", False)
    counted = outcomes(statistics)
    assert counted["bcast", "communicator"] == 4 * 20
    compared = counted.get(("bcast", "comparison"), 0) + counted.get(("bcast", "slower"), 0)
    assert counted["bcast", "derived"] + compared == 4 * 60
