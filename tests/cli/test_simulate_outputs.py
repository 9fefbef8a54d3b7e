# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket simulate` writes: folders and traces, of patterns, schedules and programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hocket import Schedule

FILES = {"result.json", "result.npz", "report.html", "trace.json"}
RING = ("random-ring", "--network", "fat-tree:4x4x8", "--messages", "4", "--bytes-spread", "0.5")
PROGRAM = "num_ranks 2\nrank 0 {\nl1: send 1000b to 1 tag 0\n}\nrank 1 {\nl1: recv 1000b from 0 tag 0\n}\n"


def checked(folder: Path) -> dict[str, Any]:
    """The arrays and numbers of a folder agree with each other."""
    assert {path.name for path in folder.iterdir()} == FILES
    values: dict[str, Any] = json.loads((folder / "result.json").read_text())
    assert values["format"] == "hocket.simulation/1"
    one = values["results"][0] if "results" in values else values
    arrays = np.load(folder / "result.npz")
    assert np.nanmax(arrays["finish_s"]) == one["makespan_s"]
    by_row = np.bincount(arrays["link_row"], weights=arrays["link_bytes"], minlength=len(arrays["row_group"]))
    np.testing.assert_allclose(arrays["row_bin_bytes"].sum(axis=1), by_row, rtol=1e-5)
    assert arrays["row_group"].max() < len(arrays["group_names"])
    assert arrays["link_bandwidth_bytes_per_s"].shape == arrays["link_bytes"].shape == arrays["link_row"].shape
    assert json.loads((folder / "trace.json").read_text())["otherData"]["makespan_s"] == one["makespan_s"]
    assert one.get("pattern", one.get("name")) in (folder / "report.html").read_text()
    return values


def test_a_folder_of_a_pattern(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    done = hocket_cli("simulate", *RING, "-o", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.rstrip().endswith("out/report.html")
    values = checked(tmp_path / "out")
    printed = json.loads(hocket_cli("simulate", *RING, "--json", "--links").stdout)
    measured = {"format", "setup_s", "solve_s", "cpu_s", "peak_rss_bytes", "rates"}
    assert {k: v for k, v in values.items() if k not in measured} == {
        k: v for k, v in printed.items() if k not in measured
    }
    # a second time into the same folder
    assert hocket_cli("simulate", *RING, "-o", "out", "--seed", "2").returncode == 0
    assert checked(tmp_path / "out")["makespan_s"] != values["makespan_s"]


@pytest.mark.parametrize("what", ["bcast:binomial", "allreduce:ring", "program.goal", "schedule.json"])
def test_a_folder_of_a_program(hocket_cli: Callable[..., Any], tmp_path: Path, what: str) -> None:
    (tmp_path / "program.goal").write_text(PROGRAM)
    (tmp_path / "schedule.json").write_text(Schedule.build("bcast", "chain", 4).to_json())
    size = () if what == "program.goal" else ("--bytes", "1MB")
    done = hocket_cli("simulate", what, "--network", "star:4", *size, "-o", "out", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    values = checked(tmp_path / "out")
    printed = json.loads(done.stdout)
    assert printed["results"] == values["results"]
    assert printed.keys() >= {"network", "sharing", "completed", "setup_s", "solve_s", "peak_rss_bytes"}
    assert values["results"][0].keys() >= {"makespan_s", "mean_finish_s", "finish_quantiles_s", "events", "links"}


def test_a_folder_holds_one_algorithm(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    done = hocket_cli("simulate", "bcast", "--network", "star:4", "--bytes", "1MB", "-o", "out")
    assert done.returncode == 2
    assert "holds one simulation" in done.stderr
    assert "hint: name one: bcast:" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_trace_alone(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    done = hocket_cli("simulate", *RING, "--trace-json", "trace.json", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert sum(event["ph"] == "X" for event in events) == 4 * 64


def test_reference_of_a_program(hocket_cli: Callable[..., Any]) -> None:
    arguments = ("simulate", "alltoall:linear", "--network", "fat-tree:2x2x4", "--bytes", "1MB", "--json")
    fast, slow = (json.loads(hocket_cli(*arguments, *more).stdout) for more in ((), ("--reference",)))
    assert slow["reference"] is True
    assert slow["results"][0]["makespan_s"] == pytest.approx(fast["results"][0]["makespan_s"], rel=1e-9)


def test_routing_of_a_program(hocket_cli: Callable[..., Any]) -> None:
    arguments = ("simulate", "alltoall:linear", "--network", "fat-tree:2x2x4", "--bytes", "1MB", "--json")
    assert hocket_cli(*arguments, "--routing", "ecmp", "--seed", "3").returncode == 0
    done = hocket_cli(*arguments, "--seed", "3")
    assert done.returncode == 2
    assert "seed" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("random-ring", "--network", "star:1"),
        ("random-ring", "--network", "star:4", "--bytes", "0 B"),
        ("shift", "--network", "star:4", "--distance", "4"),
        ("all-to-all", "--network", "star:1"),
        ("incast", "--network", "star:3", "--latency", "5 us", "--bytes", "0 B"),
    ],
)
def test_traffic_that_takes_no_bandwidth(
    hocket_cli: Callable[..., Any], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = hocket_cli("simulate", *arguments, "-o", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


def test_a_folder_that_cannot_be_written(hocket_cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = hocket_cli("simulate", *RING, "-o", "file")
    assert done.returncode == 2
    assert "file: is not a folder" in done.stderr
    (tmp_path / "out" / "trace.json").mkdir(parents=True)
    done = hocket_cli("simulate", *RING, "-o", "out")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
