# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule` on a network: published optima, found schedules, forms of output, wrong input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import hocket
from hocket.search.optimal import optimal_schedule

HOCKET = str(Path(sys.executable).with_name("hocket"))
NETWORKS = Path(__file__).resolve().parents[2] / "networks"
F14 = ("--network", str(NETWORKS / "hourai-f14.toml"), "--bytes", "1MB", "--optimal")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HOCKET, "schedule", *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(("name", "optimum_s"), [("f12", 22.4e-3), ("f13", 32.5e-3), ("f14", 184.3e-3)])
@pytest.mark.parametrize("collective", ["bcast", "reduce"])
def test_the_published_optima(name: str, optimum_s: float, collective: str) -> None:
    # The links of these networks are symmetric: a reduction takes as long.
    network = hocket.Network.from_file(str(NETWORKS / f"hourai-{name}.toml"))
    found = optimal_schedule(network, collective, 10**6)
    assert found.status == "optimal"
    assert found.makespan_s == pytest.approx(optimum_s, rel=1e-4)
    assert found.gap == 0
    assert hocket.validate(found.schedule).ok
    for program in (found.timed_program, hocket.lower(found.schedule, 10**6)):
        assert hocket.simulate(program, network, sharing="reserve").makespan_s == pytest.approx(optimum_s, rel=1e-4)


def test_one_json_object() -> None:
    done = run("bcast", *F14, "--json")
    result = json.loads(done.stdout)
    assert result["status"] == "optimal"
    assert result["makespan_s"] == result["lower_bound_s"] == pytest.approx(0.1843, rel=1e-4)
    assert {"gap", "nodes_explored", "search_s", "claim"} <= result.keys()
    assert len(result["transfers"]) == 11
    first = result["transfers"][0]
    assert (first["source"], first["start_s"], first["chunk"]) == (0, 0, 0)
    assert first["target"] >= 6  # over to the fast cluster
    assert first["end_s"] == pytest.approx(0.086, rel=1e-4)


def test_formats(tmp_path: Path) -> None:
    assert "184 ms, the least among all schedules of one piece" in run("bcast", *F14).stdout
    written = run("bcast", *F14, "--format", "json").stdout
    schedule = hocket.Schedule.from_json(written)
    assert (schedule.algorithm, schedule.num_ranks) == ("custom", 12)
    goal = run("bcast", *F14, "--format", "goal").stdout
    assert hocket.Program.from_goal(goal) == hocket.lower(schedule, 10**6)
    assert "rank 11" in run("bcast", *F14, "--format", "list").stdout


@pytest.mark.parametrize("collective", ["bcast", "reduce", "allgather", "allreduce", "alltoall", "scatter", "gather"])
@pytest.mark.parametrize("network", ["two-clusters:3+3", "torus:2x3"])
def test_found_schedules(collective: str, network: str, tmp_path: Path) -> None:
    where = (collective, "--network", network, "--bytes", "64KiB")
    result = json.loads(run(*where, "--json").stdout)
    assert result["makespan_s"] >= result["lower_bound_s"] * (1 - 1e-9)
    assert result["gap"] == pytest.approx(result["makespan_s"] / result["lower_bound_s"] - 1, abs=1e-9)
    assert result["status"] in ("optimal", "feasible")
    assert max(t["end_s"] for t in result["transfers"]) <= result["makespan_s"] * (1 + 1e-9)
    schedule = hocket.Schedule.from_json(run(*where, "--format", "json").stdout)
    assert hocket.validate(schedule).ok
    assert schedule.collective == collective
    assert collective in run(*where).stdout


def test_small_messages_go_in_one_piece_and_large_ones_in_many() -> None:
    where = ("bcast", "--network", "star:16", "--latency", "50 us", "--json")
    small, large = (json.loads(run(*where, "--bytes", size).stdout) for size in ("1kB", "10MB"))
    assert small["chunks"] <= 2
    assert large["chunks"] > 20
    assert json.loads(run(*where, "--bytes", "10MB", "--chunks", "7").stdout)["chunks"] == 7


def test_crossover() -> None:
    where = ("bcast", "--network", "star:8", "--latency", "50 us", "--crossover")
    found = json.loads(run(*where, "--json").stdout)
    assert 1024 < found["bytes"] < 4194304
    for row in found["rows"]:
        assert (row["one_piece_s"] > row["pipelined_s"]) == (row["bytes"] >= found["bytes"])
    assert "pipelined is faster from" in run(*where).stdout
    assert run("allgather", *where[1:]).returncode == 2


def test_exports() -> None:
    where = ("allgather", "--network", "two-clusters:2+2", "--bytes", "1kB")
    assert run(*where, "--format", "ranks").stdout.split() == ["0", "1", "2", "3"]
    assert run(*where, "--format", "openmpi-rankfile").stdout.startswith("rank 0=a0 slot=0\n")
    assert run(*where, "--format", "hydra-hosts").stdout == "a0:1\na1:1\nb0:1\nb1:1\n"
    assert "send 0 -> 1" in run(*where, "--format", "sends").stdout
    assert run(*where, "--format", "msccl").stdout.startswith("<algo ")


@pytest.mark.parametrize(("suffix", "head"), [("html", b"<!doctype html>"), ("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_drawings(tmp_path: Path, suffix: str, head: bytes) -> None:
    path = tmp_path / f"schedule.{suffix}"
    done = run("bcast", *F14, "--draw", str(path))
    assert done.returncode == 0, done.stderr
    assert path.read_bytes().lstrip().startswith(head)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bcast", "--network", "star:4", "--optimal"), "the size of the message is missing"),
        (("bcast", "--network", "torus:3x3", "--optimal", "-b", "1MB"), "its cables form cycles"),
        (("allgather", "--network", "star:4", "--optimal", "-b", "1MB"), "not for allgather"),
        (("bcast", "--network", "star:4", "--optimal", "-b", "1MB", "--root", "4"), "root is 4: expected 0 to 3"),
        (("bcast", "--network", "star:4", "--optimal", "-b", "0B"), "bytes is 0: expected at least 1"),
        (("bcast", "--network", "star:4", "--optimal", "-b", "1MB", "-n", "3"), "--ranks does not apply"),
        (("bcast", "-n", "3", "-a", "linear", "--optimal"), "--optimal does not apply"),
        (("bcast", "--network", "star:4", "--optimal", "-b", "1MB", "--draw", "a.txt"), "a drawing is an .html"),
        (("bcast", "--network", "star:4", "--optimal", "-b", "1MB", "--draw", "no/a.png"), "no such folder"),
        (("bcast", "--network", "star:4", "--optimal", "-b", "1MB", "--chunks", "4"), "schedules of one piece"),
        (("bcast", "--network", "star:4", "-b", "1MB", "--chunks", "x"), "is no number of chunks"),
        (("bcast", "--network", "star:4", "-b", "1MB", "--optimal", "--format", "ranks"), "has no order of ranks"),
        (("bcast", "-n", "3", "-a", "linear", "--format", "goal"), "needs a size"),
        (("bcast", "-n", "3", "--format", "goal"), "--ranks does not apply to a list of algorithms"),
        (("bcast", "--network", "star:4", "-b", "1MB", "--time-limit", "3"), "--time-limit does not apply to --network"),
        (("bcast", "--network", "star:4", "-b", "1MB", "--optimal", "--cuts", "none"), "--cuts does not apply"),
        (("bcast", "--network", "star:4", "--crossover", "--optimal"), "--optimal does not apply to --crossover"),
        (("bcast", "--network", "star:4", "--crossover", "-b", "1MB"), "--bytes does not apply to --crossover"),
        (("bcast", "--network", "star:4", "-b", "1MB", "--json", "--format", "goal"), "two forms of output"),
        (("bcast", "--network", "star:4", "-b", "1MB", "--optimal", "--gap", "nan"), "the gap is nan"),
        (("bcast", "--network", "star:4", "-b", "1MB", "--optimal", "--time-limit", "nan"), "the time limit is nan"),
        (("bcast", "--network", "star:5000", "--optimal", "-b", "1MB"), "5000 ranks: the search serves up to 4096"),
        (("bcast", "--network", "star:4", "--optimal", "-b", "8PB", "--bandwidth", "8 bit/s"), "cannot count"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    first, second = done.stderr.splitlines()
    assert first.startswith("error: ")
    assert said in first
    assert second.startswith("hint: ")
