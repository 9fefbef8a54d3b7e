# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket report`: the file it writes, and one clear message for whatever is wrong with the folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hocket import Network, Schedule, lower, simulate
from hocket.report.convert import timeline_of
from hocket.report.result import (
    NO_TIME,
    CollectiveResult,
    LinkBytes,
    ProgramResult,
    Result,
    TimelineFiles,
    write_result,
)
from hocket.report.timeline import write_timeline

RESULT = Result(
    "0.1.0", "2025-11-21T20:41:00Z", ["mpiexec", "-n", "2", "./app"], "MPICH 5.0.2", 2, ["h0", "h1"], "Linux", "star:2",
    False, ProgramResult.from_runs([2.0, 2.1], [1.0, 1.1]), [],
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The smallest result: a program without collectives, whose time was not predicted."""
    folder = tmp_path / "result"
    folder.mkdir()
    write_result(RESULT, folder)
    (folder / "network.toml").write_text(Network.generate("star:2").to_toml())
    return folder


def test_writes_into_the_folder_or_elsewhere(hocket_cli: Callable, folder: Path, tmp_path: Path) -> None:
    done = hocket_cli("report", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{folder / 'report.html'}\n", "")
    page = (folder / "report.html").read_text()
    assert "1.95\N{MULTIPLICATION SIGN} faster on star:2" in page
    done = hocket_cli("report", folder, "-o", tmp_path / "x.html")
    assert done.returncode == 0
    assert (tmp_path / "x.html").read_text() == page
    assert sorted(path.name for path in folder.iterdir()) == ["network.toml", "report.html", "result.json"]


def _error(done: object, message: str, hint: str = "") -> None:
    assert done.returncode == 2  # type: ignore[attr-defined]
    assert done.stdout == ""  # type: ignore[attr-defined]
    lines = done.stderr.splitlines()  # type: ignore[attr-defined]
    assert lines[0].startswith("error: ")
    assert message in lines[0]
    assert len(lines) <= 2
    assert not hint or hint in lines[1]


def test_shows_how_sure_a_speed_up_is(hocket_cli: Callable, folder: Path) -> None:
    entry = CollectiveResult(
        "bcast", [0, 1], 8, 0, 3, "binomial", 1, None, [2.0, 2.2], [1.0, 1.2], None, None, False,
        reason="not shown to be faster: 1.91 times (0.97 to 2.34)", ratio=1.91, ratio_interval=(0.97, 2.34), launches=3,
    )  # fmt: skip
    write_result(replace(RESULT, collectives=[entry]), folder)
    assert hocket_cli("report", folder).returncode == 0
    page = (folder / "report.html").read_text()
    assert "0.97\N{MULTIPLICATION SIGN} to 2.34\N{MULTIPLICATION SIGN}, 3 launches" in page
    assert "not shown to be faster: 1.91 times (0.97 to 2.34)" in page


def test_many_collectives_stay_below_a_megabyte(hocket_cli: Callable, folder: Path) -> None:
    """As a result of an older version with timelines of each collective; the page has those of most time."""
    network = Network.generate("tree:4x4x4", bandwidth="1 Gbit/s", latency="10 us")
    (folder / "network.toml").write_text(network.to_toml())
    program = lower(Schedule.build("bcast", "pipelined_chain", 64, segments=36), 1 << 20)
    timeline = timeline_of(program, simulate(program, network, record_links=True), network, "pipelined_chain")
    assert len(timeline.bars) > 4000
    write_timeline(timeline, folder / "one.json")
    both = TimelineFiles("one.json", "one.json")
    times = [1e-3 + i * 1e-5 for i in range(100)]
    collectives = [
        CollectiveResult(
            name, list(range(64)), 1000 + size, None, size, "ring", 1, list(range(64))[::-1], times, times, None, None,
            size % 2 == 0, f"not shown to be faster: 1.0 times (0.{size} to 1.1)", timelines=both,
        )
        for name in ("allreduce", "alltoall", "allgather") for size in range(40)
    ]  # fmt: skip
    hosts = [f"h{i}" for i in range(64)]
    links = [LinkBytes(network.nodes[one.source].name, network.nodes[one.target].name, 9, 9) for one in network.links]
    write_result(replace(RESULT, ranks=64, hosts=hosts, collectives=collectives, link_bytes=links), folder)
    assert hocket_cli("report", folder).returncode == 0
    page = (folder / "report.html").read_bytes()
    assert len(page) < 1_000_000
    details = page.count(b'<details class="collective"')
    assert 1 <= details < len(collectives)
    assert b"allreduce of 1.04 kB, world: before and after" in page
    assert page.count(b'<tr><th scope="row">') == 50 * (1 + details)  # tables of links have those of most bytes


def test_no_folder(hocket_cli: Callable) -> None:
    _error(hocket_cli("report", "nowhere"), "nowhere: no such folder", "hocket tune")


def test_not_a_result(hocket_cli: Callable, tmp_path: Path) -> None:
    _error(hocket_cli("report", tmp_path), "result.json is missing", "hocket tune")


def test_truncated(hocket_cli: Callable, folder: Path) -> None:
    path = folder / "result.json"
    path.write_text(path.read_text()[:-20])
    _error(hocket_cli("report", folder), "result.json:", "cut off")
    assert not (folder / "report.html").exists()


def test_another_version(hocket_cli: Callable, folder: Path) -> None:
    path = folder / "result.json"
    path.write_text(path.read_text().replace("hocket.result/1", "hocket.result/9"))
    _error(hocket_cli("report", folder), '"format" is "hocket.result/9", expected "hocket.result/1"', "made by a newer")


def test_no_network(hocket_cli: Callable, folder: Path) -> None:
    (folder / "network.toml").unlink()
    _error(hocket_cli("report", folder), "network.toml is missing")


def test_broken_network(hocket_cli: Callable, folder: Path) -> None:
    (folder / "network.toml").write_text("format = 1")
    _error(hocket_cli("report", folder), "network.toml")


def test_missing_timeline(hocket_cli: Callable, folder: Path) -> None:
    entry = CollectiveResult(
        "bcast",
        [0, 1],
        8,
        0,
        1,
        "binomial",
        1,
        None,
        [1.0],
        [0.5],
        0.5,
        0.4,
        True,
        timelines=TimelineFiles(None, "t/a.json"),
    )
    write_result(Result(**{**vars(RESULT), "collectives": [entry]}), folder)
    _error(hocket_cli("report", folder), f"{folder / 't/a.json'}: no such file")


def test_cannot_write(hocket_cli: Callable, folder: Path, tmp_path: Path) -> None:
    _error(hocket_cli("report", folder, "-o", tmp_path / "no" / "x.html"), "x.html: cannot be written", "--output")
    assert list(tmp_path.glob(".*")) == []


def test_nothing_was_changed(hocket_cli: Callable, folder: Path) -> None:
    write_result(replace(RESULT, program=ProgramResult.from_runs([2.0], [])), folder)
    assert hocket_cli("report", folder).returncode == 0
    page = (folder / "report.html").read_text()
    assert "Nothing was changed on star:2" in page
    assert "faster" not in page.partition("</header>")[0].partition("<h1>")[2]


def test_there_was_no_time_to_measure(hocket_cli: Callable, folder: Path) -> None:
    slower, unmeasured = (
        CollectiveResult(
            "bcast", [0, 1], size, 0, 3, "binomial", 1, None, [], [], None, None, kept=False, reason=reason
        )
        for size, reason in ((8, "not faster"), (9, f"{NO_TIME}: 20 s are over"))
    )  # fmt: skip
    program = ProgramResult.from_runs([2.0], [])
    write_result(replace(RESULT, program=program, collectives=[slower, unmeasured]), folder)
    assert hocket_cli("report", folder).returncode == 0
    page = (folder / "report.html").read_text()
    assert "No time to measure schedules on star:2" in page
    assert "for 1 of 2 collectives there was no time to measure a schedule" in page
    assert "Nothing was changed" not in page
    assert "worth using" not in page


def _truncated(folder: Path) -> None:
    path = folder / "result.json"
    path.write_text(path.read_text()[:300])


def _replaced(old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "result.json"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return change


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "network.toml").unlink(), "network.toml is missing"),
        (lambda folder: (folder / "network.toml").write_text("format = 3"), "network.toml"),
        (lambda folder: (folder / "network.toml").write_bytes(b"\xff\xfe"), "network.toml"),
        (lambda folder: (folder / "result.json").write_text(""), "not valid JSON"),
        (_truncated, "not valid JSON"),
        (_replaced('"ranks": 2', '"ranks": "two"'), 'ranks: found "two", expected a whole number'),
        (_replaced('"ranks": 2', '"ranks": 2, "ranks": 3'), 'the key "ranks" occurs twice'),
        (_replaced("hocket.result/1", "hocket.result/9"), 'expected "hocket.result/1"'),
        (_replaced('"ranks": 2,', ""), 'the key "ranks" is missing'),
        (_replaced('"hosts": [', '"hosts": ["h", '), "one for each rank"),
        (_replaced('"collectives": []', '"collectives": [3]'), "collectives[0]: found 3, expected an object"),
    ],
)
def test_a_damaged_folder(hocket_cli: Callable, folder: Path, damage: Callable, message: str) -> None:
    damage(folder)
    _error(hocket_cli("report", folder), message)
    assert not (folder / "report.html").exists()
