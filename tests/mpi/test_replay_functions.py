# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Every MPI function that moves data is in the replay, with the bytes that the program gave it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket import Network, Trace, simulate
from hocket.mpi.build import build_mpi_parts
from hocket.traces.replay import replay
from mpis import MpiRunner

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

SOURCE = Path(__file__).parent / "replay" / "functions.c"
RANKS = 4
SET_UP = "making communicators, windows and processes is not modelled"
GROUPS = (  # 2 ranks each; what collectives carry goes to rank 0 of a group, between these, and on
    2 * 1000  # bcast: to the other group's rank 0, and from there to its rank 1
    + 2 * 2000  # reduce: back
    + 2 * 3 * 4000  # allreduce: reduce, exchange, bcast, in both groups
    + 2 * 2 * (10 + 20)  # allgather: each of a group to each of the other
    + RANKS * 2 * 50
    + 70 + 2 * 70  # gather
    + 80 + 2 * 80
    + 300 + 300  # gatherv, scatterv
    + 2 * 2 * 300  # allgatherv, both ways to two ranks
)  # fmt: skip
VECTORS = (
    2 * (RANKS - 1) * 1000  # scan, exscan: passed on
    + (RANKS - 1) * 100  # reduce_scatter: all blocks but one's own
    + 100 - 20  # gatherv to rank 1
    + 100 - 30
    + 2 * sum(100 * (1 + (a + b) % 3) for a in range(RANKS) for b in range(RANKS) if a != b)
)  # fmt: skip
#: Part of the program -> bytes of all messages between two ranks.
EXPECTED = {
    # A 2 x 2 grid, periodic in one dimension: three neighbours and one that is none. Then rings.
    "neighbours": RANKS * 3 * (1000 + 2000) + RANKS * (4000 + 8000) + 100 + 100 + 2 * 100 + RANKS * 2 * 16,
    "windows": RANKS * (1000 + 2000 + 4000 + 2 * 8000 + 16000 + 100 + 200 + 300 + 3 * 2 * 4),
    "groups": GROUPS,
    "vectors": VECTORS,
    "messages": RANKS * (1000 + 2000 + 4000 + 2 * 8000),
    "new_calls": RANKS * (1000 + 2000 + 2 * 4000) + (RANKS - 1) * 500,
}


def has_mpi_4(runner: MpiRunner) -> bool:
    return runner.mpi.family == "mpich" or runner.mpi.major >= 5


@pytest.mark.timeout(300)
@pytest.mark.parametrize("part", EXPECTED)
def test_all_that_moves_data_is_replayed(runner: MpiRunner, part: str) -> None:
    if part == "new_calls" and not has_mpi_4(runner):
        pytest.skip("this MPI has no calls of MPI 4")
    folder = runner.folder / "trace"
    folder.mkdir()
    record = build_mpi_parts(runner.mpi).record
    runner.run(RANKS, runner.compile(SOURCE), part, libraries=[record], env={"HOCKET_TRACE": str(folder)})
    trace = Trace.open(folder)
    trace.write(runner.folder / "again")
    assert Trace.open(runner.folder / "again").core == trace.core
    replayed = replay(trace)
    assert [one for one in replayed.left_out if one.reason != SET_UP] == []
    network = Network.generate(f"star:{RANKS}", bandwidth="100 GB/s", latency="0")
    timeline = simulate(replayed.program, network)
    # Each message crosses two links of the star.
    assert sum(timeline.link_bytes) / 2 == EXPECTED[part]


@pytest.mark.timeout(300)
def test_locks_are_granted_in_the_order_of_the_run(runner: MpiRunner) -> None:
    """The program takes tickets under the locks, so that it knows the order."""
    folder = runner.folder / "trace"
    folder.mkdir()
    record = build_mpi_parts(runner.mpi).record
    source = SOURCE.with_name("locks.c")
    printed = runner.run(RANKS, runner.compile(source), libraries=[record], env={"HOCKET_TRACE": str(folder)}).stdout
    tickets = sorted(tuple(map(int, line.split()[1:])) for line in printed.splitlines() if line.startswith("ticket"))
    assert [ticket for ticket, _ in tickets] == list(range(5 * (RANKS - 1)))
    program = replay(Trace.open(folder)).program
    # Of the empty messages of rank 0 the grants are those with the tag of its first: a put is acknowledged by others.
    empty = [op for op in program.ops(0) if op.kind == "send" and op.bytes == 0]
    grants = {op.tag: [one.peer for one in empty if one.tag == op.tag] for op in empty}
    assert [rank for _, rank in tickets] in [[peer for peer in peers if peer > 0] for peers in grants.values()]
    network = Network.generate(f"star:{RANKS}", bandwidth="100 GB/s", latency="10 us")
    assert simulate(program, network).makespan_s > len(tickets) * 2 * 20e-6  # each waits for the one before
