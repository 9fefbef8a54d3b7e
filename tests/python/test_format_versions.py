# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Files of earlier versions are read, those of later versions are refused in one way, and all formats are listed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket import InvalidInput, Network, Schedule
from hocket.bench.mpi.results import read_results
from hocket.formats import is_newer
from hocket.plan import Plan
from hocket.report.result import read_result
from hocket.report.timeline import read_timeline
from hocket.site.site import read_site
from hocket.sweep.campaign import read_campaign
from hocket.traces.trace import Trace
from mpis import ROOT

SAMPLES = ROOT / "tests/samples/formats"


def test_the_list_has_every_format() -> None:
    found: dict[str, int] = {}
    for folder in ("src", "python/hocket", "mpi"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".cpp", ".hpp", ".c", ".h") and path.is_file():
                for name, version in re.findall(r'"hocket\.([a-z-]+)/(\d+)', path.read_text(encoding="utf-8")):
                    found[name] = max(found.get(name, 0), int(version))
    text = (ROOT / "docs/reference/formats.md").read_text(encoding="utf-8")
    lists, _, versions = text.partition("## Versions")
    assert {(name, int(version)) for name, version in re.findall(r"`hocket\.([a-z-]+)/(\d+)`", lists)} == set(
        found.items()
    )
    rows = set(re.findall(r"^\| ([a-z-]+)/(\d+) \|", versions, re.MULTILINE))
    assert rows >= {(name, str(one + 1)) for name, last in found.items() if last > 1 for one in range(last)}


def test_plan_1() -> None:
    """Its schedules have pieces, and no entry has a schedule of another one."""
    plan = Plan.from_file(SAMPLES / "plan-1.json")
    assert [(one.collective, one.algorithm, one.segments, one.calls) for one in plan.entries] == [
        ("bcast", "pipelined_chain", 4, 12),
        ("allreduce", "ring", 1, 3),
    ]
    assert plan.hosts is None or not plan.hosts


def test_plan_2() -> None:
    """A ring that spares slow links is carried whole, and a later entry has the same."""
    plan = Plan.from_file(SAMPLES / "plan-2.json")
    assert [(one.collective, one.algorithm, one.bytes_min) for one in plan.entries] == [
        ("bcast", "pipelined_chain", 1000000),
        ("allreduce", "custom", 5793),
        ("allreduce", "custom", 23171),
    ]
    assert plan.hosts is not None
    assert len(plan.hosts) == 8


def test_schedule_1_with_pieces() -> None:
    text = (SAMPLES / "schedule-1-pieces.json").read_text()
    assert '"pieces"' in text
    assert Schedule.from_json(text).to_json() == Schedule.build("bcast", "pipelined_chain", 3, segments=2).to_json()


@pytest.mark.parametrize("version", [1, 2])
def test_traces_of_earlier_recorders(version: int) -> None:
    """Of MPICH 4.0.2: a broadcast, a message from rank 0 to 1 with tag 7, an allreduce."""
    folder = SAMPLES / f"trace-{version}"
    assert json.loads((folder / "meta.json").read_text())["format"] == f"hocket.trace/{version}"
    trace = Trace.open(folder)
    for rank, own in enumerate(("MPI_Send", "MPI_Recv")):
        assert trace.complete(rank)
        calls = trace.calls(rank)
        names = [trace.functions[function] for function in calls["function"]]
        assert names == ["MPI_Init", "MPI_Comm_rank", "MPI_Bcast", own, "MPI_Allreduce", "MPI_Finalize"]
    sent = trace.calls(0)[3]
    assert (sent["bytes"], sent["peer"], sent["tag"]) == (4, 1, 7)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


NEWER: dict[str, Callable[[Path], Any]] = {
    "plan": lambda folder: Plan.from_text('{"format": "hocket.plan/4"}'),
    "schedule": lambda folder: Schedule.from_json('{"format": "hocket.schedule/2"}'),
    "network": lambda folder: Network.from_text('format = "hocket.network/2"\n'),
    "campaign": lambda folder: read_campaign(written(folder, "c.toml", 'format = "hocket.campaign/2"\n')),
    "timeline": lambda folder: read_timeline(written(folder, "t.json", '{"format": "hocket.timeline/2"}')),
    "result": lambda folder: read_result(written(folder, "result.json", '{"format": "hocket.result/10"}').parent),
    "site": lambda folder: read_site(written(folder, "site.json", '{"format": "hocket.site/2"}').parent),
    "trace": lambda folder: Trace.open(written(folder, "meta.json", '{"format": "hocket.trace/4"}').parent),
    "bench": lambda folder: read_results(written(folder, "results.jsonl", BENCH_2)),
}
BENCH_2 = '{"type": "suite", "format": "hocket.bench/2"}\n'


@pytest.mark.parametrize("name", NEWER)
def test_a_later_version_says_what_to_do(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        NEWER[name](tmp_path)
    assert "made by a newer hocket; update this one" in f"{caught.value}; {caught.value.hint}"


@pytest.mark.parametrize("text", ['{"format": "hocket.plan/x"}', '{"format": "plan/3"}', '{"format": 3}', "{}"])
def test_what_is_no_later_version_is_not_called_one(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Plan.from_text(text)
    assert "newer hocket" not in f"{caught.value}; {caught.value.hint}"
    assert not is_newer(json.loads(text).get("format"), "hocket.plan/2")
