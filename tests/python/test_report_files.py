# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The result folder: what is written is read back, and everything else is refused by name."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket import InvalidInput
from hocket.report.result import (
    AnalysisFiles,
    CollectiveResult,
    CostsResult,
    LinkBytes,
    ProgramResult,
    Result,
    Served,
    TimelineFiles,
    TimeSplit,
    read_result,
    speedup_of,
    write_result,
)
from hocket.report.timeline import Bars, TimelineData, TimelineLink, read_timeline, write_timeline

ENTRY = CollectiveResult(
    "bcast", [0, 1], 8, 0, 3, "binomial", 1, [1, 0], [2.0, 3.0], [1.0], 0.9, 0.5, True, None, True,
    TimelineFiles("timelines/a.json", None), 2.5, (2.0, 3.0), 3, 1, 4, 0.25,
)  # fmt: skip
COSTS = CostsResult("fitted", "maxmin", 1e-5, 2e-5, None, 3e-5, None, 2e9, 65536, 0.97, 2, 8688.0, 250e-6, 0.04, 15)
PROGRAM = replace(ProgramResult.from_runs([4.0, 2.0], [1.0], 1.1, False), replayed_native_s=3.5)
RESULT = Result(
    "0.1.0", "2025-11-21T20:41:00Z", ["mpiexec", "./é <b>"], "Open MPI", 2, ["a", "b"], "Linux", "star", False,
    PROGRAM, [ENTRY], [LinkBytes("a", "b", 1, 2)], ["note"],
    COSTS, TimeSplit(4.0, 1.0, 0.5, 1.5, 0.25, 0.75, 0.5, 3.0), Served(10, 4, 1.5, 0.5),
    AnalysisFiles("analysis-native.json"),
)  # fmt: skip
TIMELINE = TimelineData(
    "binomial", 2, 1.5, 2, [0, 1],
    Bars([0, 1], ["send", "recv"], [1, 0], [0.0, 0.0], [1.0, 1.5], [8, 8], [1, 1]),
    [TimelineLink("a", "b", None, 8, [(0.0, 1.0, 8.0)])],
)  # fmt: skip


def test_result_survives_the_file(tmp_path: Path) -> None:
    write_result(RESULT, tmp_path)
    assert read_result(tmp_path) == RESULT
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_an_older_result_without_costs_is_read(tmp_path: Path) -> None:
    _changed(tmp_path, lambda document: document.pop("costs"))
    assert read_result(tmp_path) == replace(RESULT, costs=None)


def test_an_older_result_with_pieces_is_read(tmp_path: Path) -> None:
    def older(document: Any) -> None:
        entry = document["collectives"][0]
        entry["pieces"] = entry.pop("segments")

    _changed(tmp_path, older)
    assert read_result(tmp_path) == RESULT


def test_an_older_result_without_evidence_is_read(tmp_path: Path) -> None:
    def older(document: Any) -> None:
        for key in ("ratio", "ratio_interval", "launches"):
            del document["collectives"][0][key]

    _changed(tmp_path, older)
    (entry,) = read_result(tmp_path).collectives
    assert entry == replace(ENTRY, ratio=None, ratio_interval=None, launches=0)


def test_an_older_result_without_times_of_the_recorded_run_is_read(tmp_path: Path) -> None:
    def older(document: Any) -> None:
        del document["time"], document["served"]
        for key in ("bytes_min", "recorded_s"):
            del document["collectives"][0][key]

    _changed(tmp_path, older)
    entry = replace(ENTRY, bytes_min=None, recorded_s=None)
    assert read_result(tmp_path) == replace(RESULT, time=None, served=None, collectives=[entry])


def test_timeline_survives_the_file(tmp_path: Path) -> None:
    write_timeline(TIMELINE, tmp_path / "t" / "a.json")
    assert read_timeline(tmp_path / "t" / "a.json") == TIMELINE


def _changed(folder: Path, change: Any) -> None:
    path = write_result(RESULT, folder)
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def _set(*keys: Any, value: Any) -> Any:
    def change(document: Any) -> None:
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("format", value="hocket.result/2"), '"format" is "hocket.result/2", expected "hocket.result/1"'),
        (lambda d: d.pop("format"), '"format" is null'),
        (_set("speed", value=1), 'unknown key "speed"'),
        (_set("program", "mean_s", value=1), 'unknown key "program.mean_s"'),
        (_set("collectives", 0, "size", value=1), 'unknown key "collectives[0].size"'),
        (lambda d: d["program"].pop("speedup"), 'the key "program.speedup" is missing'),
        (_set("ranks", value="2"), 'ranks: found "2", expected a whole number'),
        (_set("ranks", value=True), "ranks: found true, expected a whole number"),
        (_set("ranks", value=2.0), "ranks: found 2.0, expected a whole number"),
        (_set("program", value=[]), "program: found a list, expected an object"),
        (_set("program", "native_s", 1, value=None), "program.native_s[1]: found null, expected a number"),
        (_set("program", "native_s", value=[]), "program.native_s: found no time"),
        (_set("program", "tuned_s", 0, value=-1), "program.tuned_s: found -1.0, expected times above 0 s"),
        (_set("program", "speedup_quartiles", value=[1.0]), "program.speedup_quartiles: found 1 values, expected 2"),
        (_set("date_utc", value="yesterday"), 'date_utc: found "yesterday"'),
        (_set("hosts", value=["a"]), "hosts: found 1 hosts for 2 ranks"),
        (_set("collectives", 0, "members", value=[0, 2]), "collectives[0].members: expected world ranks 0 .. 1"),
        (_set("collectives", 0, "members", value=[0, 0]), "collectives[0].members: a rank occurs twice"),
        (_set("collectives", 0, "order", value=[0]), "collectives[0].order: expected each of 0 .. 1 once"),
        (_set("collectives", 0, "root", value=2), "collectives[0].root: expected 0 .. 1"),
        (
            _set("collectives", 0, "kept", value=False),
            "collectives[0].reason: an entry that is not kept needs a reason",
        ),
        (
            _set("collectives", 0, "bytes_min", value=9),
            "collectives[0].bytes_min: found 9, expected 0 to 8, the largest",
        ),
        (_set("collectives", 0, "recorded_s", value=-1.0), "collectives[0].recorded_s: found -1.0"),
        (_set("time", "waiting_s", value=-1.0), "time.waiting_s: found -1.0, expected at least 0"),
        (_set("served", "served_calls", value=11), "served.served_calls: found 11, expected 0 to 10, the calls"),
        (_set("served", "served_s", value=2.0), "served.served_s: found 2.0, expected 0 to 1.5"),
        (_set("collectives", 0, "timelines", "tuned", value="../x"), 'found "../x", expected a path inside'),
        (_set("collectives", 0, "timelines", "tuned", value="/etc/x"), 'found "/etc/x", expected a path inside'),
        (
            _set("collectives", 0, "ratio", value=None),
            "collectives[0].ratio_interval: found one of ratio and its interval",
        ),
        (_set("collectives", 0, "ratio", value=3.5), "collectives[0].ratio_interval: found 2.0 to 3.0, expected"),
        (_set("collectives", 0, "launches", value=-1), "collectives[0].launches: found -1, expected at least 0"),
        (_set("link_bytes", 0, "tuned_bytes", value=-1), "link_bytes[0].tuned_bytes: found -1, expected at least 0"),
        (_set("collectives", 0, "bytes", value=10**400), "bytes: found a whole number of more than 64 bits"),
        (_set("costs", "source", value="guessed"), 'costs.source: found "guessed", expected one of fitted, given'),
        (_set("costs", "source", value="usual"), "costs.training_error_median: expected with fitted costs"),
        (_set("costs", "wake_s", value=-1), "costs.wake_s: found -1.0, expected at least 0"),
        (_set("costs", "slow", value=1), 'unknown key "costs.slow"'),
    ],
)
def test_wrong_results_are_refused_by_name(tmp_path: Path, change: Any, message: str) -> None:
    _changed(tmp_path, change)
    with pytest.raises(InvalidInput) as caught:
        read_result(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'result.json'}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1:1: not valid JSON"),
        ("[]", "found a list, expected a JSON object"),
        ('{"format": "hocket.result/1", "format": "x"}', 'the key "format" occurs twice'),
        ('{"format": NaN}', "NaN is not a number"),
        ("[" * 100_000, "nested too deeply"),
        ('{"format": 1' + "0" * 5000 + "}", "not valid JSON"),
    ],
)
def test_texts_that_are_no_result(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_result(tmp_path)
    assert message in str(caught.value)


def test_truncated_at_every_place(tmp_path: Path) -> None:
    path = write_result(replace(RESULT, notes=["é"]), tmp_path)
    whole = path.read_bytes()
    for length in range(0, len(whole.rstrip()), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(InvalidInput):
            read_result(tmp_path)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_in_words(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "result.json").write_bytes(content)
    with pytest.raises(InvalidInput):
        read_result(folder)


def test_missing_folder_and_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such folder"):
        read_result(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match=r"result\.json is missing") as caught:
        read_result(tmp_path)
    assert "hocket tune" in caught.value.hint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("bars", "rank", value=[0]), "the columns differ in length"),
        (_set("bars", "kind", 0, value="sleep"), 'found "sleep", expected one of send, recv, compute, reduce'),
        (_set("bars", "rank", 0, value=2), "expected ranks 0 .. 1"),
        (_set("bars", "end_s", 0, value=-1), "ends before it starts"),
        (_set("links", 0, "use", 0, value=[1, 2]), "links[0].use[0]: found 2 values, expected 3"),
    ],
)
def test_wrong_timelines_are_refused(tmp_path: Path, change: Any, message: str) -> None:
    path = tmp_path / "a.json"
    write_timeline(TIMELINE, path)
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))
    with pytest.raises(InvalidInput) as caught:
        read_timeline(path)
    assert message in str(caught.value)


TIMES = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=9)


@given(TIMES, TIMES)
def test_quartiles_enclose_the_speedup(native_s: list[float], tuned_s: list[float]) -> None:
    speedup, (low, high) = speedup_of(native_s, tuned_s)
    assert low <= speedup <= high
    assert speedup == statistics.median(native_s) / statistics.median(tuned_s)
    ratios = [native / tuned for native in native_s for tuned in tuned_s]
    assert min(ratios) <= low
    assert high <= max(ratios)


def test_speedup_by_hand() -> None:
    # 8/2, 8/4, 12/2, 12/4 = 4, 2, 6, 3; medians 10 and 3; quarters of the sorted 2 3 4 6: no whole pair can be cut off
    assert speedup_of([8.0, 12.0], [2.0, 4.0]) == (10 / 3, (2.0, 6.0))
    # 3 x 3 = 9 pairs 1 1 1 2 2 2 4 4 4, of which two are cut off at each end
    assert speedup_of([4.0, 8.0, 16.0], [4.0, 4.0, 4.0]) == (2.0, (1.0, 4.0))


def test_a_result_where_nothing_was_changed(tmp_path: Path) -> None:
    program = ProgramResult.from_runs([4.0], [])
    assert (program.speedup, program.speedup_quartiles, program.predicted_s) == (None, None, None)
    result = replace(RESULT, program=program, collectives=[replace(ENTRY, kept=False, reason="dropped")])
    write_result(result, tmp_path)
    assert read_result(tmp_path) == result
    assert json.loads((tmp_path / "result.json").read_text())["program"]["tuned_s"] == []
    with pytest.raises(InvalidInput, match="without a tuned run"):
        ProgramResult([4.0], [], None, 1.0, None, None)
    with pytest.raises(InvalidInput, match="speedup: found null"):
        ProgramResult([4.0], [2.0], None, None, None, None)
