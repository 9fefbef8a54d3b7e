# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Recorded calls whose blocks differ from rank to rank: which entries serve them, and what stays native."""

from __future__ import annotations

from pathlib import Path

from traced_calls import Row, traced_calls

from hocket.advise import group_calls, unserved_calls
from hocket.plan import Plan, PlanEntry
from hocket.traces.trace import Trace
from hocket.tune.time_split import served_by

RANKS = 4
# Bytes of each rank.
CALLS = [
    ("MPI_Allgather", (1000, 1000, 1000, 1000)),
    ("MPI_Allgatherv", (600, 1999, 600, 800)),  # mean 999.75
    ("MPI_Allgatherv", (400, 401, 399, 2400)),  # largest 2.7 times the mean
    ("MPI_Reduce_scatter", (8, 16, 0, 8)),
    ("MPI_Iallgatherv", (1000, 1000, 1000, 1001)),
    ("MPI_Gatherv", (100, 100, 100, 100)),
    ("MPI_Gatherv", (100, 100, 100, 100)),
]


def recorded(folder: Path) -> Trace:
    ranks: list[list[Row]] = [[] for _ in range(RANKS)]
    for number, (function, sizes) in enumerate(CALLS):
        for rank, (rows, size) in enumerate(zip(ranks, sizes, strict=True)):
            begin, values = 1000 * number, {"bytes": size, "root": 0 if "Gather" in function else -1}
            if function == "MPI_Iallgatherv":
                rows.append((function, begin, begin + 1, {**values, "request": 7}))
                rows.append(("MPI_Wait", begin + 1, begin + 100, {"request": 7, "waits": [7]}))
            else:
                rows.append((function, begin, begin + 100 + rank, values))
    return traced_calls(folder, [[*rows, ("MPI_Finalize", 9000, 9001, {})] for rows in ranks])


def test_they_count_as_calls_with_mean_blocks(tmp_path: Path) -> None:
    trace = recorded(tmp_path / "trace")
    means = [call.mean_bytes for call in trace.collectives()]
    assert means == [1000, 1000, 900, 8, 1001, 100, 100]
    for in_background, calls in ((False, (2, 1)), (True, (3, 2))):
        groups = {group.collective: group for group in group_calls(trace, in_background)}
        assert set(groups) == {"allgather", "reduce_scatter_block"}
        gathers, scatters = groups["allgather"], groups["reduce_scatter_block"]
        assert (gathers.calls, gathers.uneven_calls) == calls
        assert (gathers.bytes_min, gathers.bytes_max) == (1000, 1001 if in_background else 1000)
        assert (scatters.calls, scatters.uneven_calls, scatters.bytes_max) == (1, 1, 8)


def test_the_rest_is_named_with_its_time(tmp_path: Path) -> None:
    # Each call of rank r takes 100 + r us: the two of Gatherv 203 us on average.
    assert unserved_calls(recorded(tmp_path / "trace"))[:3] == [
        "2 call(s) of gatherv, 0.000203 s of a rank on average, stay native: hocket has no schedules for it",
        "1 call(s) of allgatherv, 0.000102 s of a rank on average, stay native: "
        "a block is larger than 2 times the mean",
        "1 call(s) of allgatherv, 0.0001 s of a rank on average, stay native: "
        "plans serve non-blocking calls only where `hocket tune` and `hocket run` have --progress",
    ]


def test_a_plan_serves_them(tmp_path: Path) -> None:
    calls = recorded(tmp_path / "trace").collectives()
    plan = Plan(RANKS, "test", (PlanEntry("allgather", tuple(range(RANKS)), 1000, 1000, "ring"),))
    served = served_by(plan, calls, RANKS, in_background=False)
    assert (served.calls, served.served_calls) == (7, 2)
