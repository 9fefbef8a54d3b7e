# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket trace show` sums up, a part of the trace at a time, beside sums over all calls at once."""

from __future__ import annotations

import random
import statistics

import pytest
from traced_calls import Row, traced_calls

from hocket.traces import profile
from hocket.traces.trace import Trace, TraceFiles

NAMES = ("MPI_Send", "MPI_Allreduce", "MPI_Barrier", "MPI_Iprobe")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    chance = random.Random(1)
    ranks = []
    for rank in range(3):
        now, rows = 0.0, []
        for _ in range(15_000 if rank == 0 else 200):  # more than one part of a file
            name, begin = chance.choice(NAMES), now + chance.randint(1, 5000) / 1000
            now = begin + chance.randint(1, 9000) / 1000
            values = {"bytes": chance.choice([8, 100]), "communicator": 0} if name != "MPI_Barrier" else {}
            rows.append((name, begin, now, values | ({"calls": 3} if name == "MPI_Iprobe" else {})))
        typed: list[Row] = [*rows, ("MPI_Finalize", now, now, {})]
        ranks.append(typed)
    return traced_calls(tmp_path_factory.mktemp("profile") / "trace", ranks)


def medians(trace: Trace) -> dict[tuple[str, int | None], tuple[int, float, float]]:
    """Calls, total and median in s, by function and bytes."""
    times: dict[tuple[str, int | None], list[float]] = {}
    totals: dict[tuple[str, int | None], float] = {}
    for rank in range(trace.ranks):
        calls = trace.calls(rank)
        columns = (calls[name].tolist() for name in ("enter_ns", "exit_ns", "calls", "bytes"))
        for name, enter, leave, number, size in zip(trace.names(rank).tolist(), *columns, strict=True):
            key = (name, size if size >= 0 else None)
            total = (leave - enter) * 1e-9
            times.setdefault(key, []).extend([total / number] * number)
            totals[key] = totals.get(key, 0) + total
    return {key: (len(found), totals[key], statistics.median(found)) for key, found in times.items()}


@pytest.mark.parametrize(("most", "error"), [(1 << 16, 1e-9), (100, 2**-11)])
def test_rows_are_those_of_all_calls_at_once(
    trace: Trace, most: int, error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile._Times, "MOST", most)
    found = profile.run(profile.ProfileRequest(trace.folder))
    expected = medians(trace)
    assert {(row.function, row.bytes) for row in found.rows} == set(expected)
    for row in found.rows:
        calls, total_s, median_s = expected[row.function, row.bytes]
        assert (row.calls, row.total_s) == (calls, pytest.approx(total_s, rel=1e-9))
        assert row.median_s == pytest.approx(median_s, rel=error)
    assert [row.total_s for row in found.rows] == sorted((row.total_s for row in found.rows), reverse=True)


def test_ranks_are_those_of_the_whole_trace(trace: Trace) -> None:
    files = TraceFiles(trace.folder)
    parts = 0

    def count(calls: object) -> None:
        nonlocal parts
        parts += 1

    assert [files.read(rank, count) for rank in range(3)] == [trace.summary(rank) for rank in range(3)]
    assert parts > 3
    assert files.communicators == trace.communicators
    assert files.functions == trace.functions
