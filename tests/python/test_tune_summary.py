# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What tune tells at the end: the table, the sentences below it, and the object of --json."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hocket.report.result import CollectiveResult, ProgramResult, Result, Served, TimeSplit
from hocket.report.time_sentences import possible_gain
from hocket.tune.summary import COLUMNS, rows, sentences, summary

TIME = TimeSplit(
    wall_s=10.0, computation_s=5.0, point_to_point_s=1.0, collectives_s=3.0, other_mpi_s=0.001, start_up_s=0.999,
    waiting_s=0.5, at_wire_limit_s=8.0,
)  # fmt: skip


def entry(size, members=(0, 1, 2, 3), **more):
    given = {
        "native_s": [0.02], "tuned_s": [0.01], "ratio": 2.0, "ratio_interval": (1.5, 2.5), "kept": True, **more
    }  # fmt: skip
    return CollectiveResult(
        collective="bcast", members=list(members), bytes=size, root=0, calls=30, algorithm="pipelined_chain",
        segments=8, order=None, predicted_s=0.009, wire_limit_s=0.008, recorded_s=0.02, **given,
    )  # fmt: skip


LEFT = {"native_s": [], "tuned_s": [], "ratio": None, "ratio_interval": None, "kept": False}
RESULT = Result(
    "0.1.0", "2025-11-21T20:41:00Z", ["app"], "MPICH", 4, ["h"] * 4, "Linux", "star", False,
    ProgramResult.from_runs([10.0], [5.0], 5.1, True),
    [
        entry(1 << 20),
        entry(1 << 19),
        entry(1 << 10, (0, 1), **LEFT, reason="latency decides: no schedule gains 0.1 ms"),
        entry(1 << 10, (2, 3), **LEFT, reason="latency decides: no schedule gains 0.1 ms"),
        entry(1 << 12, **LEFT, reason="latency decides: no schedule gains 0.1 ms"),
    ],
    notes=["a warning", "a warning", "another"],
    time=TIME,
    served=Served(100, 60, 3.0, 2.4),
)  # fmt: skip


def test_the_table():
    served, small, pairs = (dict(zip(COLUMNS, row, strict=True)) for row in rows(RESULT))
    assert served == {
        "collective": "bcast, root 0", "ranks": "world", "bytes": "512 KiB to 1 MiB", "calls": "60",
        "of the run": "12 %", "schedule": "pipelined_chain in 8 segments", "native": "20 ms", "tuned": "10 ms",
        "speed-up": "2.00", "predicted": "9 ms", "wire limit": "8 ms",
    }  # fmt: skip
    assert (small["ranks"], small["bytes"], small["schedule"], small["native"]) == ("world", "4 KiB", "native", "")
    assert (pairs["ranks"], pairs["calls"], pairs["of the run"]) == ("pairs (x2)", "30 each", "6.0 %")


def test_one_size_shows_its_interval():
    (row,) = rows(replace(RESULT, collectives=RESULT.collectives[:1]))
    assert row[COLUMNS.index("speed-up")] == "2.00 (1.50 to 2.50)"


def test_the_sentences_and_warnings_below_the_result():
    lines = sentences(RESULT, Path("out"))
    assert lines == [
        "program: native 10.00 s, with the plan 5.00 s: 2.00 times as fast "
        "(native / tuned, quartiles 2.00 to 2.00, 1 runs each)",
        "predicted: 5.10 s (+2% against measured)",
        "output: the same in all runs",
        "time of the recorded run, 10 s: computation 50 %, point-to-point 10 %, collectives 25 %, "
        "waiting for late ranks in collectives 5.0 %, start-up and end 10.0 % (means over the ranks)",
        "possible at best, by the recorded run: 1.25 times as fast with every collective at its wire limit "
        "(measured: 2.00; the limit has ranks come late to collectives as in the recorded run), "
        "1.43 times as fast with collectives that take no time",
        "served by the plan: 60 of 100 collective calls, 80 % of their time",
        "bcast of 4 KiB, root 0, world left native: latency decides: no schedule gains 0.1 ms",
        "1 more left native: latency decides",
        "note: a warning",
        "note: another",
        f"plan: {Path('out/plan.json')}",
        f"report: {Path('out/report.html')}",
    ]


def test_what_is_possible_is_over_native_runs():
    slower = replace(RESULT, time=replace(TIME, wall_s=13.0, start_up_s=3.999, at_wire_limit_s=11.0))  # to start
    assert [line for line in sentences(slower, Path("out")) if "best" in line] == [
        line for line in sentences(RESULT, Path("out")) if "best" in line
    ]


def test_what_is_possible_where_the_program_starts_collectives():
    started = replace(RESULT, collectives=[replace(RESULT.collectives[0], nonblocking_calls=1)])
    (line,) = (line for line in sentences(started, Path("out")) if "possible at best" in line)
    assert line == (
        "possible at best, by the recorded run: 1.43 times as fast with collectives that take no time, "
        "those that the program starts included"
    )


def test_what_is_possible_where_the_recorded_run_was_slow():
    slow = TimeSplit(3.6, 0.1, 0.0, 3.2, 0.0, 0.3, 0.5, at_wire_limit_s=3.4)
    assert possible_gain(slow, 0.42).endswith(  # of 3.3 s after its start-up, 0.2 s and 3.2 s less
        "1.06 times as fast with every collective at its wire limit, "
        "33.00 times as fast with collectives that take no time"
    )


@pytest.mark.parametrize("missing", ["time", "served"])
def test_what_an_older_result_does_not_have_is_left_out(missing):
    older = replace(RESULT, **{missing: None})
    assert len(rows(older)) == len(rows(RESULT))
    told = {"time": "possible at best", "served": "served by the plan"}[missing]
    assert not any(told in line for line in sentences(older, Path("out")))


def test_a_program_without_collectives():
    none = replace(
        RESULT, collectives=[], time=replace(TIME, collectives_s=0.0, waiting_s=0.0), served=Served(0, 0, 0, 0)
    )
    assert rows(none) == []
    assert "1.00 times as fast with collectives that take no time" in "\n".join(sentences(none, Path("out")))
    assert "served" not in "\n".join(sentences(none, Path("out")))


def test_the_object():
    found = json.loads(json.dumps(summary(RESULT, Path("out"))))
    assert found["time"]["collectives_s"] == 3.0
    assert found["time"]["without_collectives_s"] == 7.0
    assert found["served"] == {"calls": 100, "served_calls": 60, "time_s": 3.0, "served_s": 2.4}
    row = next(one for one in found["rows"] if one["communicators"] == 2)
    assert row == {
        "collective": "bcast", "communicator": "pairs (x2)", "communicators": 2, "ranks": 2, "bytes_min": 1024,
        "bytes_max": 1024, "root": 0, "calls": 30, "time_s": 0.6, "schedule": "", "in_plan": 0, "entries": 2,
        "reason": "latency decides: no schedule gains 0.1 ms",
    }  # fmt: skip
    assert len(found["collectives"]) == 2
    assert len(found["left_native"]) == 3
