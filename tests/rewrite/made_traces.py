# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traces of programs that nobody ran, with the times that a test wants."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.rewrite.outcomes import Outcome
from hocket.traces.trace import Trace
from hocket.traces.traced_rank import OwnCommunicator, TracedRank, new_calls


def traced(folder: Path, calls: list[tuple[str, float]], gaps: list[float], repeats: int = 5) -> Trace:
    """Of two ranks; the calls take these seconds, and computation `gaps` stands behind each."""
    functions = ["MPI_Init", "MPI_Finalize", *dict.fromkeys(name for name, _ in calls)]
    both = [("MPI_Init", 0.001), *calls * repeats, ("MPI_Finalize", 0.001)]
    behind = [0.0, *gaps * repeats, 0.0]
    rows = new_calls(len(both))
    at = 0.0
    for row, ((name, seconds), gap) in enumerate(zip(both, behind, strict=True)):
        rows["function"][row] = functions.index(name)
        rows["enter_ns"][row], rows["exit_ns"][row] = round(1e9 * at), round(1e9 * (at + seconds))
        rows["bytes"][row] = 1_000_000
        at += seconds + gap
    rows["communicator"] = 0
    Trace.create(folder, [TracedRank(rows, functions, [OwnCommunicator(range(2))])] * 2)
    return Trace.open(folder)


def assert_predicted(one: Outcome, call_s: float, computation_s: float, rel: float) -> None:
    """Of a call of `call_s` and about `computation_s` beside it, which is less."""
    assert one.prediction is not None
    assert one.prediction.communication_s == pytest.approx(call_s)
    assert one.prediction.computation_s == pytest.approx(computation_s, rel=rel)
    assert one.prediction.rewritten_s == pytest.approx(call_s, rel=0.01)
