# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traces written for other tools: what is read back replays as the trace did."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hocket import Network, Program, Trace, simulate
from hocket.errors import InvalidInput
from hocket.interop.traces.counts import count_calls, count_communicators, count_ops
from hocket.interop.traces.exporting import ExportRequest, run
from hocket.interop.traces.importing import ImportRequest
from hocket.interop.traces.importing import run as import_trace
from hocket.traces.replay import replay
from hocket.traces.traced_rank import OwnCommunicator, TracedRank, new_calls

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "traces"
NETWORK = Network.generate("star:4", bandwidth="1 Gbit/s", latency="5 us")


def simulated_s(trace: Trace) -> float:
    return simulate(replay(trace).program, NETWORK).makespan_s


@pytest.fixture(params=["dumpi", "liballprof", "ti"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    import_trace(ImportRequest(SAMPLES / request.param, tmp_path / "app.trace"))
    return tmp_path / "app.trace"


@pytest.mark.parametrize("form", ["otf2", "ti"])
def test_what_is_exported_and_imported_replays_in_the_same_time(folder: Path, form: str, tmp_path: Path) -> None:
    run(ExportRequest(folder, form, tmp_path / "out"))
    again = import_trace(ImportRequest(tmp_path / "out")).trace
    assert again is not None
    assert simulated_s(again) == pytest.approx(simulated_s(Trace.open(folder)), rel=1e-12)


def test_ti_holds_collectives_as_messages_where_asked(folder: Path, tmp_path: Path) -> None:
    done = run(ExportRequest(folder, "ti", tmp_path / "out", messages=True))
    actions = {line.split()[1] for path in (tmp_path / "out").glob("ti_*") for line in path.read_text().splitlines()}
    assert actions <= {"init", "compute", "send", "recv", "isend", "irecv", "wait", "finalize"}
    assert any("written as messages" in note for note in done.notes) == bool(Trace.open(folder).collectives())
    again = import_trace(ImportRequest(tmp_path / "out")).trace
    assert again is not None
    assert simulated_s(again) == pytest.approx(simulated_s(Trace.open(folder)), rel=1e-12)


def test_otf2_keeps_calls_and_communicators(folder: Path, tmp_path: Path) -> None:
    run(ExportRequest(folder, "otf2", tmp_path / "out"))
    found = import_trace(ImportRequest(tmp_path / "out"))
    trace = Trace.open(folder)
    assert [(one.name, one.calls) for one in found.calls] == [(one.name, one.calls) for one in count_calls(trace)]
    used = {one.members: one.calls for one in count_communicators(trace) if one.calls > 0}
    again = {one.members: one.calls for one in found.communicators if one.calls > 0}
    for members in used:
        assert members in again


@pytest.mark.parametrize("form", ["goal", "goal-binary", "chakra"])
def test_programs_come_back_with_the_same_time(folder: Path, form: str, tmp_path: Path) -> None:
    run(ExportRequest(folder, form, tmp_path / "out"))
    program = import_trace(ImportRequest(tmp_path / "out")).program
    assert program is not None
    expected = replay(Trace.open(folder)).program
    messages = [one for one in count_ops(expected) if one.name in ("send", "recv")]
    assert [one for one in count_ops(program) if one.name in ("send", "recv")] == messages
    assert simulate(program, NETWORK).makespan_s == pytest.approx(simulate(expected, NETWORK).makespan_s, abs=1e-7)


def test_program_is_converted(tmp_path: Path) -> None:
    run(ExportRequest(SAMPLES / "goal" / "app.goal", "chakra", tmp_path / "et"))
    run(ExportRequest(tmp_path / "et", "goal", tmp_path / "again.goal"))
    assert Program.from_goal((tmp_path / "again.goal").read_text()) == Program.from_goal(
        (SAMPLES / "goal" / "app.goal").read_text()
    )


def test_perfetto_has_each_call_as_a_slice(folder: Path, tmp_path: Path) -> None:
    run(ExportRequest(folder, "perfetto", tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    trace = Trace.open(folder)
    slices = [one for one in events if one["ph"] == "X"]
    assert len(slices) == sum(len(trace.calls(rank)) for rank in range(trace.ranks))
    calls = trace.calls(0)
    own = [one for one in slices if one["pid"] == 0]
    assert [one["name"] for one in own] == list(trace.names(0))
    assert [one["dur"] * 1000 for one in own] == pytest.approx(list(calls["exit_ns"] - calls["enter_ns"]), abs=0.6)


def test_parquet_has_the_rows_of_the_trace(folder: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    run(ExportRequest(folder, "parquet", tmp_path / "calls.parquet"))
    table = parquet.read_table(tmp_path / "calls.parquet")
    trace = Trace.open(folder)
    for name in ("enter_ns", "bytes", "peer", "communicator"):
        rows = np.concatenate([trace.calls(rank)[name] for rank in range(trace.ranks)])
        assert table[name].to_pylist() == rows.tolist()
    assert table["name"].to_pylist() == [name for rank in range(trace.ranks) for name in trace.names(rank)]


@pytest.mark.parametrize("form", ["perfetto", "parquet", "goal"])
def test_a_link_stays_one_and_a_full_device_is_no_file_afterwards(folder: Path, form: str, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    with pytest.raises(OSError, match="'/dev/full'"):
        run(ExportRequest(folder, form, full))
    assert full.is_symlink()
    assert full.is_char_device()


def test_nonblocking_and_persistent_collectives_come_back_from_otf2(tmp_path: Path) -> None:
    functions = ["MPI_Init", "MPI_Iallreduce", "MPI_Wait", "MPI_Finalize"]
    ranks = []
    for _ in range(2):
        calls = new_calls(4)
        calls["function"] = range(4)
        calls["enter_ns"] = [0, 1000, 5000, 9000]
        calls["exit_ns"] = [500, 1100, 6000, 9100]
        calls["communicator"][1], calls["bytes"][1], calls["request"][1] = 0, 800, 1
        calls["request"][2], calls["completions"][2], calls["num_completions"][2] = 1, 0, 1
        completions = np.array([(1, -1, -1, -1)], ranks[0].completions.dtype if ranks else _completion())
        ranks.append(TracedRank(calls, functions, [OwnCommunicator([0, 1])], completions=completions))
    trace = Trace.create(tmp_path / "app.trace", ranks)
    run(ExportRequest(tmp_path / "app.trace", "otf2", tmp_path / "out"))
    again = import_trace(ImportRequest(tmp_path / "out"))
    assert again.notes == []
    assert again.trace is not None
    assert [(one.collective, one.form, one.bytes) for one in again.trace.collectives()] == [
        ("allreduce", "nonblocking", 800)
    ]
    assert simulated_s(again.trace) == pytest.approx(simulated_s(trace), rel=1e-12)


def _completion() -> np.dtype[np.void]:
    from hocket.traces.traced_rank import COMPLETION

    return COMPLETION


def test_refusals(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for request, expected in (
        (ExportRequest(folder, "ti", tmp_path / "full"), "is there already"),
        (ExportRequest(folder, "goal", tmp_path / "out", messages=True), "--messages is for --format ti"),
        (ExportRequest(folder, "goal", tmp_path / "no" / "file"), "does not exist"),
        (ExportRequest(folder, "otf2", tmp_path / "x", flops_per_s=1e9), "--flops is for"),
        (ExportRequest(SAMPLES / "goal" / "app.goal", "otf2", tmp_path / "x"), "is no trace folder"),
        (ExportRequest(SAMPLES / "dumpi", "goal", tmp_path / "x"), "is a trace of another tool"),
    ):
        with pytest.raises(InvalidInput, match=expected) as caught:
            run(request)
        assert caught.value.hint
    assert list((tmp_path / "full").iterdir()) == [tmp_path / "full" / "file"]
