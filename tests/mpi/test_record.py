# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The recorder on real programs, record by record, on every MPI of this machine."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hocket.mpi.build import build_mpi_parts
from hocket.traces.trace import Trace
from mpis import MpiRunner, sessions_program

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

SOURCES = Path(__file__).parent / "record"
CALLS_C = SOURCES / "calls.c"
ANY, PROC_NULL = -2, -1


def record(runner: MpiRunner, ranks: int, *program: str | Path, check: bool = True) -> Trace:
    folder = runner.folder / "trace"
    folder.mkdir(exist_ok=True)
    runner.run(
        ranks, *program, libraries=[build_mpi_parts(runner.mpi).record], env={"HOCKET_TRACE": str(folder)}, check=check
    )
    trace = Trace.open(folder)
    # Whatever was recorded can be written again.
    with tempfile.TemporaryDirectory() as again:
        trace.write(again)
        assert Trace.open(again).core == trace.core
    return trace


def rows(trace: Trace, rank: int) -> list[dict[str, Any]]:
    """The calls of a rank with names for ids."""
    found = []
    for name, call in zip(trace.names(rank), trace.calls(rank), strict=True):
        row: dict[str, Any] = {field: int(call[field]) for field in call.dtype.names}
        row["function"] = str(name)
        row["members"] = trace.communicators[row["communicator"]].members if row["communicator"] >= 0 else None
        row["made"] = trace.communicators[row["new_communicator"]].members if row["new_communicator"] >= 0 else None
        row["op"] = trace.operators[row["op"]] if row["op"] >= 0 else None
        row["sent"], row["received"] = (list(map(int, blocks)) for blocks in trace.blocks(rank, call))
        start, count = row["completions"], row["num_completions"]
        row["done"] = [
            (int(c["source"]), int(c["tag"]), int(c["bytes"])) for c in trace.completions(rank)[start : start + count]
        ]
        row["in_place"] = bool(row["flags"] & 1)
        found.append(row)
    return found


def expected_calls(rank: int) -> list[tuple[str, dict[str, Any]]]:
    """What calls.c does on 4 ranks: function and details, worked out by hand from the program."""
    world = (0, 1, 2, 3)
    half = (2, 0) if rank % 2 == 0 else (3, 1)
    following, before = (rank + 1) % 4, (rank + 3) % 4
    grown = [4 * (i + 1) for i in range(4)]  # v-variants: i+1 ints of rank i
    pair = [rank + i + 1 for i in range(4)]
    add, largest = ("MPI_SUM", True), ("MPI_MAX", True)

    def on(members: tuple[int, ...], size: int, **more: Any) -> dict[str, Any]:
        return {"members": members, "bytes": size, **more}

    calls = [
        ("Init", {"members": None}),
        ("Comm_rank", {"members": world}),
        ("Comm_size", {"members": world}),
        ("Bcast", on(world, 800, root=1, in_place=False)),
        ("Reduce", on(world, 40, root=2, op=largest)),
        ("Allreduce", on(world, 56, op=add, in_place=True)),
        ("Op_create", {}),
        ("Allreduce", on(world, 12, op=("user", False), in_place=False)),
        ("Op_free", {}),
        ("Scan", on(world, 16, op=add)),
        ("Exscan", on(world, 20, op=add)),
        ("Gather", on(world, 12, root=0, in_place=False)),
        ("Gather", on(world, 8, root=3, in_place=rank == 3)),
        ("Scatter", on(world, 40, root=1, in_place=rank == 1)),
        ("Allgather", on(world, 16, in_place=False)),
        ("Allgather", on(world, 24, in_place=True)),
        ("Alltoall", on(world, 6)),
        ("Reduce_scatter_block", on(world, 16, op=add)),
        ("Barrier", on(world, -1)),
        ("Gatherv", on(world, 4 * (rank + 1), root=0, received=grown if rank == 0 else [])),
        ("Scatterv", on(world, 4 * (rank + 1), root=1, sent=grown if rank == 1 else [])),
        ("Allgatherv", on(world, 4 * (rank + 1), received=grown)),
        ("Alltoallv", on(world, 4 * sum(pair), sent=[4 * n for n in pair], received=[4 * n for n in pair])),
        ("Alltoallw", on(world, 2 * sum(pair), sent=[2 * n for n in pair], received=[2 * n for n in pair])),
        ("Reduce_scatter", on(world, 4 * (rank + 1), received=grown, op=add)),
        ("Type_vector", {}),
        ("Type_commit", {}),
        ("Bcast", on(world, 48, root=0)),  # 2 vectors of 3 blocks of 2 ints
        ("Type_free", {}),
        ("Comm_split", {"members": world, "made": half}),
        ("Allreduce", on(half, 32, op=add)),
        ("Comm_dup", {"members": half, "made": half}),
        ("Bcast", on(half, 36, root=1)),
        ("Comm_split", {"members": world, "made": None if rank == 3 else (0, 1, 2)}),
        *([] if rank == 3 else [("Comm_free", {"members": (0, 1, 2)})]),
        ("Comm_free", {"members": half}),
        ("Iallreduce", on(world, 44, op=add, request=1)),
        ("Wait", {"request": 1, "done": [(-1, -1, -1)]}),
        ("Ibcast", on(world, 48, root=3, request=2)),
        ("Waitany", {"request": 2, "done": [(-1, -1, -1)]}),
        ("Isend", on(world, 40, peer=following, tag=7, request=3)),
        ("Irecv", on(world, 800, peer=ANY, tag=-1, request=4)),
        ("Waitall", {"request": 3, "done": [(-1, -1, -1), (before, 7, 40)]}),
        ("Send_init", on(world, 48, peer=following, tag=8, request=5)),
        ("Recv_init", on(world, 80, peer=before, tag=8, request=6)),
        *[
            ("Startall", {"request": 5, "done": [(-1, -1, -1)] * 2}),
            ("Waitall", {"request": 5, "done": [(-1, -1, -1), (before, 8, 48)]}),
        ]
        * 2,
        ("Request_free", {"request": 5}),
        ("Request_free", {"request": 6}),
        ("Sendrecv", on(world, 24, peer=following, tag=1, receive_peer=before, receive_tag=1, receive_bytes=24)),
    ]
    if rank == 0:
        calls += [("Send", on(world, 32, peer=1, tag=2)), ("Ssend", on(world, 8, peer=PROC_NULL, tag=2))]
    if rank == 1:
        calls += [("Probe", on(world, 32, peer=0, tag=2)), ("Recv", on(world, 32, peer=0, tag=2))]
    root = {2: -3, 0: PROC_NULL}.get(rank, 0)
    calls += [
        ("Intercomm_create", {"members": half, "made": (2, 0)}),  # the group with the lower first rank stands first
        ("Bcast", {"members": (2, 0), "root": root, "bytes": -1 if rank == 0 else 52}),
        ("Intercomm_merge", {"members": (2, 0), "made": (2, 0, 3, 1)}),
        ("Barrier", {"members": (2, 0, 3, 1)}),
        ("Cart_create", {"members": world, "made": world}),
        ("Cart_sub", {"members": world, "made": (0, 1) if rank < 2 else (2, 3)}),
        ("Allgather", on((0, 1) if rank < 2 else (2, 3), 4)),
        ("Pcontrol", {}),
        ("Finalize", {}),
    ]
    return [("MPI_" + name, details) for name, details in calls]


def test_every_call_of_a_c_program(runner: MpiRunner) -> None:
    trace = record(runner, 4, runner.compile(CALLS_C))
    assert trace.meta["ranks"] == trace.ranks == 4
    for rank in range(4):
        assert trace.complete(rank)
        found, expected = rows(trace, rank), expected_calls(rank)
        assert [row["function"] for row in found] == [name for name, _ in expected]
        for row, (name, details) in zip(found, expected, strict=True):
            assert {key: row[key] for key in details} == details, f"rank {rank}, {name}"
            assert row["error"] == 0
            assert row["thread"] == 0
        calls = trace.calls(rank)
        # One thread: calls follow each other on both clocks.
        for clock in ("", "_cpu"):
            enter, exit_ = calls[f"enter{clock}_ns"], calls[f"exit{clock}_ns"]
            assert (exit_ >= enter).all()
            assert (enter[1:] >= exit_[:-1]).all()


def test_collectives_are_matched_over_ranks(runner: MpiRunner) -> None:
    trace = record(runner, 4, runner.compile(CALLS_C))
    found = [(row.collective, row.members, row.bytes, row.root, row.uniform, row.form) for row in trace.collectives()]
    world = (0, 1, 2, 3)
    for row in [
        ("bcast", world, 800, 1, True, "blocking"),
        ("gather", world, 8, 3, True, "blocking"),
        ("scatter", world, 40, 1, True, "blocking"),
        ("barrier", world, 0, -1, True, "blocking"),
        ("alltoall", world, 6, -1, True, "blocking"),
        ("alltoallv", world, 4 * (4 + 5 + 6 + 7), -1, False, "blocking"),
        ("allreduce", (2, 0), 32, -1, True, "blocking"),
        ("bcast", (3, 1), 36, 1, True, "blocking"),
        ("allreduce", world, 44, -1, True, "nonblocking"),
        ("allgather", (2, 3), 4, -1, True, "blocking"),
    ]:
        assert found.count(row) == 1, row
    # 20 blocking and 2 non-blocking on world, the vector's broadcast, 2 on each half, 1 on each row, 1 on the merged
    assert len(found) == 20 + 2 + 1 + 2 * 2 + 2 + 1
    [user] = [row for row in trace.collectives() if row.op == "user"]
    assert not user.commutative
    for row in trace.collectives():
        assert row.first_enter_ns <= row.last_enter_ns
        assert row.last_exit_ns >= row.first_enter_ns
        assert len(row.enter_ns) == len(row.exit_ns) == len(row.members)
        if row.collective in ("barrier", "allreduce"):  # nobody leaves before all are in
            assert row.exit_ns.min() >= row.last_enter_ns


# Calls of mpif.h with buffers of several types: gfortran 10 and later want to be told.
FORTRAN = {"mpif_h": ["-DMPIF_H", "-fallow-argument-mismatch"], "use_mpi": ["-DUSE_MPI"], "mpi_f08": ["-DUSE_MPI_F08"]}


@pytest.mark.parametrize("binding", FORTRAN)
def test_fortran_programs(runner: MpiRunner, binding: str) -> None:
    program = runner.compile(SOURCES / "calls.f90", "-cpp", *FORTRAN[binding], language="fortran")
    trace = record(runner, 4, program)
    world = (0, 1, 2, 3)
    for rank in range(4):
        half = (2, 0) if rank % 2 == 0 else (3, 1)
        expected: list[tuple[str, dict[str, Any]]] = [
            ("Init", {}),
            ("Comm_rank", {"members": world}),
            ("Comm_size", {"members": world}),
            ("Bcast", {"members": world, "bytes": 800, "root": 1}),
            ("Reduce", {"bytes": 40, "root": 2, "op": ("MPI_SUM", True)}),
            ("Allreduce", {"bytes": 56, "in_place": True}),
            ("Alltoall", {"bytes": 48}),
            ("Comm_split", {"members": world, "made": half}),
            ("Allreduce", {"members": half, "bytes": 32, "op": ("MPI_MAX", True)}),
            ("Isend", {"bytes": 40, "peer": (rank + 1) % 4, "tag": 7, "request": 1}),
            ("Irecv", {"bytes": 800, "peer": ANY, "tag": -1, "request": 2}),
            ("Waitall", {"done": [(-1, -1, -1), ((rank + 3) % 4, 7, 40)]}),
            ("Ibcast", {"bytes": 48, "root": 3, "request": 3}),
            ("Wait", {"request": 3}),
            *([("Send", {"bytes": 32, "peer": 1, "tag": 2})] if rank == 0 else []),
            *([("Recv", {"bytes": 32, "peer": 0, "tag": 2})] if rank == 1 else []),
            ("Barrier", {"members": world}),
            ("Finalize", {}),
        ]
        found = rows(trace, rank)
        assert [row["function"] for row in found] == ["MPI_" + name for name, _ in expected]
        for row, (name, details) in zip(found, expected, strict=True):
            assert {key: row[key] for key in details} == details, f"rank {rank}, {name}"


def test_threads(runner: MpiRunner) -> None:
    trace = record(runner, 2, runner.compile(SOURCES / "threads.c", "-pthread"))
    if trace.meta["thread_level"] != "multiple":
        pytest.skip(f"{runner.mpi.name} has no MPI_THREAD_MULTIPLE here")
    for rank in range(2):
        calls, names = trace.calls(rank), trace.names(rank)
        assert trace.complete(rank)
        assert sorted(set(calls["thread"])) == [0, 1, 2, 3, 4]
        for thread in range(1, 5):
            own = calls["thread"] == thread
            assert [int((names[own] == name).sum()) for name in ("MPI_Irecv", "MPI_Isend", "MPI_Waitall")] == [500] * 3
            assert (calls[own]["enter_ns"][1:] >= calls[own]["exit_ns"][:-1]).all()
        made = names == "MPI_Irecv"
        assert len(set(calls[made]["request"])) == 2000
        done = trace.completions(rank)
        received = done[done["source"] >= 0]
        assert sorted(received["request"]) == sorted(calls[made]["request"])
        assert (received["bytes"] == 4).all()
    assert sum(row.collective == "allreduce" for row in trace.collectives()) == 4


@pytest.mark.parametrize("how", ["kill", "crash", "abort", "exit"])
def test_programs_that_end_early_leave_what_they_did(runner: MpiRunner, how: str) -> None:
    trace = record(runner, 2, runner.compile(SOURCES / "endings.c"), how, check=False)
    for rank in range(2):
        assert not trace.complete(rank)
        names = list(trace.names(rank))
        assert names[:2] == ["MPI_Init", "MPI_Comm_rank"]
        assert names.count("MPI_Bcast") == 100
    ended = trace.core.end(1)
    assert ended == {"kill": "cut off", "crash": "cut off", "abort": "abort", "exit": "exit"}[how]
    assert sum(row.collective == "bcast" for row in trace.collectives()) == 100
    if how in ("kill", "crash"):
        assert trace.summary(0).stopped_in in ("MPI_Barrier", "")  # it may have been ended before it got there


def test_a_truncated_rank_file_gives_its_prefix(runner: MpiRunner) -> None:
    trace = record(runner, 2, runner.compile(SOURCES / "endings.c"))
    whole = len(trace.calls(1))
    path = trace.folder / "rank-000001.bin"
    path.write_bytes(path.read_bytes()[:-101])
    again = Trace.open(trace.folder)
    assert again.complete(0)
    assert not again.complete(1)
    assert 50 < len(again.calls(1)) < whole


def test_without_a_folder_to_write_the_program_runs_unrecorded(runner: MpiRunner) -> None:
    library = build_mpi_parts(runner.mpi).record
    done = runner.run(
        2, runner.compile(SOURCES / "endings.c"), libraries=[library], env={"HOCKET_TRACE": "/dev/null/trace"}
    )
    assert sorted(done.stdout.split("\n"))[-2:] == ["rank 0 done", "rank 1 done"]
    lines = [line for line in done.stderr.splitlines() if "hocket:" in line]
    assert len(lines) == 1
    assert "/dev/null/trace (2 of 2 ranks: Not a directory): the program runs on unrecorded" in lines[0]


def test_programs_that_never_call_mpi_are_left_alone(runner: MpiRunner) -> None:
    folder = runner.folder / "empty"
    folder.mkdir()
    library = build_mpi_parts(runner.mpi).record
    done = runner.run(2, "sh", "-c", "echo hello", libraries=[library], env={"HOCKET_TRACE": str(folder)})
    assert done.stdout.split() == ["hello", "hello"]
    assert not list(folder.iterdir())


def test_a_shell_wrapper_around_the_program(runner: MpiRunner) -> None:
    program = runner.compile(SOURCES / "endings.c")
    trace = record(runner, 2, "sh", "-c", f"true; {program}; true")
    assert all(trace.complete(rank) for rank in range(2))


@pytest.mark.parametrize(
    ("how", "collectives"),
    [
        ("once", ["first", "halves"]),
        ("twice", ["first", "halves", "second"]),
        ("within", ["first", "second", "halves"]),
        ("init", ["first", "world"]),
    ],
)
def test_programs_that_start_by_sessions(runner: MpiRunner, how: str, collectives: list[str]) -> None:
    program, _ = sessions_program(runner, 4, how)
    trace = record(runner, 4, program, how)
    for rank in range(4):
        assert trace.complete(rank)
        made = [row["members"] for row in rows(trace, rank) if row["function"] == "MPI_Allreduce"]
        of = {"halves": (2, 0) if rank % 2 == 0 else (3, 1)}
        assert made == [of.get(name, (0, 1, 2, 3)) for name in collectives]
        assert trace.names(rank)[0] == "MPI_Session_init"


@pytest.mark.parametrize(
    ("how", "ranks", "allreduces"), [("mixed", 3, 1), ("threads", 1, 1500), ("null", 2, 1), ("after", 2, 1)]
)
def test_sessions_that_begin_and_end_in_unusual_ways(
    runner: MpiRunner, how: str, ranks: int, allreduces: int, tmp_path: Path
) -> None:
    program, native = sessions_program(runner, ranks, how, "session_ends.c")
    folder = tmp_path / "recorded"
    folder.mkdir()
    library = build_mpi_parts(runner.mpi).record
    done = runner.run(ranks, program, how, libraries=[library], env={"HOCKET_TRACE": str(folder)})
    assert sorted(done.stdout) == sorted(native)  # ranks write into each other's lines
    trace = Trace.open(folder)
    for rank in range(ranks):
        assert trace.complete(rank)
        assert list(trace.names(rank)).count("MPI_Allreduce") == allreduces
    told = "what the program does in sessions after MPI_Finalize is not recorded" in done.stderr
    assert told == (how == "after")


def test_every_function_of_the_library_is_wrapped(runner: MpiRunner) -> None:
    def symbols(library: Path) -> set[str]:
        text = subprocess.run(
            ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
        ).stdout
        return set(re.findall(r"\bP?MPIX?_[A-Z]\w*$", text, re.MULTILINE))

    exported, wrapped = symbols(runner.mpi.library), symbols(build_mpi_parts(runner.mpi).record)
    functions = {name for name in exported if name.startswith("MPI_") and "P" + name in exported}
    missing = functions - wrapped
    print(f"{runner.mpi.name}: {len(functions & wrapped)} of {len(functions)} wrapped, not: {sorted(missing)}")
    conversion = re.compile(
        r"MPI_(T_\w+|\w+_([cf]2f|f2c|[cf]2f08|f082[cf]|toint|fromint)|Wtime|Wtick|Aint_add|Aint_diff)$"
    )
    assert not {name for name in missing if not conversion.match(name)} - REMOVED
    assert {"P" + name for name in wrapped if name.startswith("MPI_")} <= wrapped


# Functions of MPI-1 that MPI-3.0 removed: libraries keep some for old binaries, mpi.h does not declare them.
REMOVED = {
    "MPI_Address", "MPI_Errhandler_create", "MPI_Errhandler_get", "MPI_Errhandler_set", "MPI_Type_extent",
    "MPI_Type_hindexed", "MPI_Type_hvector", "MPI_Type_lb", "MPI_Type_struct", "MPI_Type_ub",
}  # fmt: skip


def test_cost_of_a_call_is_stated(runner: MpiRunner) -> None:
    trace = record(runner, 2, runner.compile(SOURCES / "endings.c"))
    assert 10 < trace.meta["cost_per_call_ns"] < 100_000
    calls = np.concatenate([trace.calls(rank) for rank in range(2)])
    size = sum(path.stat().st_size for path in trace.folder.glob("rank-*.bin"))
    assert size / len(calls) < 20  # definitions of functions, communicators and types included
