# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Polls in a row that find nothing become one record, and count as the calls that they were."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from hocket import Network, simulate
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.launch import start_process, stop_process_group, with_preload
from hocket.traces.profile import ProfileRequest
from hocket.traces.profile import run as profile
from hocket.traces.rank_summary import in_mpi_ns
from hocket.traces.replay import replay
from hocket.traces.trace import Trace
from mpis import LIMIT_S, MpiRunner

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

POLLS_C = Path(__file__).parent / "record/polls.c"
ALONE_S = 48e-3  # computed between the polls of one fold
CALLS = {
    "MPI_Test": 10_000 + 3_000 + 50,
    "MPI_Iprobe": 3_000 + 3,
    "MPI_Testall": 200,
    "MPI_Testany": 300,
    "MPI_Testsome": 400,
    "MPI_Improbe": 500,
    "MPI_Request_get_status": 600,
}


@pytest.fixture
def trace(runner: MpiRunner) -> Trace:
    folder = runner.folder / "trace"
    folder.mkdir()
    done = runner.run(
        2,
        runner.compile(POLLS_C),
        libraries=[build_mpi_parts(runner.mpi).record],
        env={"HOCKET_TRACE": str(folder)},
    )
    assert done.stdout == "5 6\n"
    return Trace.open(folder)


def test_all_polls_are_counted_in_few_records(trace: Trace) -> None:
    calls, names = trace.calls(0), trace.names(0)
    for name, number in CALLS.items():
        assert int(calls[names == name]["calls"].sum()) == number, name
    # The first poll behind another call and the fold of those that follow; where a fold is open, a fold alone.
    rows = [name for name in names if name in CALLS]
    assert len(rows) == 2 + 4 + (2 + 4) + 2 + 3
    assert rows[:6] == ["MPI_Test", "MPI_Test", "MPI_Test", "MPI_Iprobe", "MPI_Test", "MPI_Iprobe"]
    assert list(calls[np.isin(names, list(CALLS))]["calls"][:6]) == [1, 9_999, 1, 1, 2_999, 2_999]
    assert (trace.folder / "rank-000000.bin").stat().st_size < 8192
    assert trace.summary(0).calls == sum(CALLS.values()) + len(names) - len(rows)
    assert trace.num_calls() == trace.summary(0).calls + trace.summary(1).calls


def test_time_in_polls_and_between_them(trace: Trace) -> None:
    calls = trace.calls(0)
    for before, after in pairwise(calls):
        assert before["exit_ns"] <= after["enter_ns"]
        assert before["exit_cpu_ns"] <= after["enter_cpu_ns"]
    assert (in_mpi_ns(calls) >= 0).all()
    assert (in_mpi_ns(calls, "_cpu") >= 0).all()
    assert (calls["outside_ns"][calls["calls"] == 1] == 0).all()
    (working,) = calls[calls["calls"] == 49]
    assert 48e6 <= working["outside_ns"] < working["exit_ns"] - working["enter_ns"]
    # Spinning is CPU time, as far as this rank had a core.
    assert 0 < working["outside_cpu_ns"] <= working["outside_ns"] + 1e6
    summary = trace.summary(0)
    assert summary.mpi_s <= summary.elapsed_s - ALONE_S
    assert summary.compute_cpu_s >= working["outside_cpu_ns"] * 1e-9


def test_profile_and_replay(trace: Trace) -> None:
    rows = {row.function: row for row in profile(ProfileRequest(trace.folder)).rows}
    for name, number in CALLS.items():
        assert rows[name].calls == number
        assert 0 < rows[name].median_s <= rows[name].total_s
    replayed = replay(trace)
    assert replayed.left_out == []
    network = Network.generate("star:2", bandwidth="100 GB/s", latency="0")
    makespan_s = simulate(replayed.program, network).makespan_s
    assert ALONE_S <= makespan_s <= replayed.recorded_span_s + 0.01
    # What is between polls is computation as what is between other calls.
    calls = trace.calls(0)
    start_ns = min(trace.calls(rank)["exit_ns"][0] for rank in range(2))
    # As far as MPI_Finalize, which comes last.
    between_ns = calls["exit_ns"][0] - start_ns + (calls["enter_ns"][1:] - calls["exit_ns"][:-1]).sum()
    between_s = (between_ns + calls["outside_ns"].sum()) * 1e-9
    computed_s = sum(op.seconds for op in replayed.program.ops(0) if op.kind == "compute")
    assert computed_s == pytest.approx(between_s, abs=1e-6)


def test_a_killed_program_leaves_what_it_had_polled(runner: MpiRunner) -> None:
    folder = runner.folder / "trace"
    folder.mkdir()
    command, needed = with_preload(
        runner.command(2, runner.compile(POLLS_C), "forever"),
        runner.mpi,
        [build_mpi_parts(runner.mpi).record],
        {"HOCKET_TRACE": str(folder)},
    )
    process = start_process(command, env={**os.environ, **needed}, stderr=subprocess.DEVNULL)
    try:
        end_s = time.monotonic() + LIMIT_S
        while _polls(folder) <= 1000:
            assert process.poll() is None
            assert time.monotonic() < end_s
        os.killpg(process.pid, signal.SIGKILL)
    finally:
        stop_process_group(process)
    assert _polls(folder) > 1000
    assert Trace.open(folder).core.end(0) == "cut off"


def _polls(folder: Path) -> int:
    if len(list(folder.glob("rank-*.bin"))) < 2 or not (folder / "meta.json").exists():
        return 0
    trace = Trace.open(folder)
    return int(trace.calls(0)[trace.names(0) == "MPI_Test"]["calls"].sum())
