# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule` on a network: published optima, found schedules, forms of output, wrong input."""

from __future__ import annotations

import functools
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hocket
from hocket.search.optimal import optimal_schedule
from mpis import LIMIT_S, LONG

HOCKET = str(Path(sys.executable).with_name("hocket"))
NETWORKS = Path(__file__).resolve().parents[2] / "networks"
F14 = ("--network", str(NETWORKS / "hourai-f14.toml"), "--bytes", "1MB", "--optimal")


@pytest.fixture
def run(hocket_cli: Callable[..., Any]) -> Callable[..., Any]:
    return functools.partial(hocket_cli, "schedule")


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


def test_one_json_object(run: Callable[..., Any]) -> None:
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


def test_formats(run: Callable[..., Any], tmp_path: Path) -> None:
    assert "184 ms, the least among all schedules in one segment" in run("bcast", *F14).stdout
    written = run("bcast", *F14, "--format", "json").stdout
    schedule = hocket.Schedule.from_json(written)
    assert (schedule.algorithm, schedule.num_ranks) == ("custom", 12)
    goal = run("bcast", *F14, "--format", "goal").stdout
    assert hocket.Program.from_goal(goal) == hocket.lower(schedule, 10**6)
    assert "rank 11" in run("bcast", *F14, "--format", "list").stdout


COLLECTIVES = ["bcast", "reduce", "allgather", "allreduce", "alltoall", "scatter", "gather"]
BOTH = ["two-clusters:3+3", "torus:2x3"]


# In `make test` one network for each collective, in turns.
@pytest.mark.parametrize(
    ("collective", "network"),
    list(itertools.product(COLLECTIVES, BOTH) if LONG else zip(COLLECTIVES, itertools.cycle(BOTH), strict=False)),
)
def test_found_schedules(run: Callable[..., Any], collective: str, network: str, tmp_path: Path) -> None:
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


def test_small_messages_go_in_one_piece_and_large_ones_in_many(run: Callable[..., Any]) -> None:
    where = ("bcast", "--network", "star:16", "--latency", "50 us", "--json")
    small, large = (json.loads(run(*where, "--bytes", size).stdout) for size in ("1kB", "10MB"))
    assert small["chunks"] <= 2
    assert large["chunks"] > 20
    assert json.loads(run(*where, "--bytes", "10MB", "--chunks", "7").stdout)["chunks"] == 7


def test_crossover(run: Callable[..., Any]) -> None:
    where = ("bcast", "--network", "star:8", "--latency", "50 us", "--crossover")
    found = json.loads(run(*where, "--json").stdout)
    assert 1024 < found["bytes"] < 4194304
    for row in found["rows"]:
        assert (row["one_piece_s"] > row["pipelined_s"]) == (row["bytes"] >= found["bytes"])
    assert "pipelined is faster from" in run(*where).stdout
    assert run("allgather", *where[1:]).returncode == 2


def test_exports(run: Callable[..., Any]) -> None:
    where = ("allgather", "--network", "two-clusters:2+2", "--bytes", "1kB")
    assert run(*where, "--format", "ranks").stdout.split() == ["0", "1", "2", "3"]
    assert run(*where, "--format", "openmpi-rankfile").stdout.startswith("rank 0=a0 slot=0\n")
    assert run(*where, "--format", "hydra-hosts").stdout == "a0:1\na1:1\nb0:1\nb1:1\n"
    assert "send 0 -> 1" in run(*where, "--format", "sends").stdout
    assert run(*where, "--format", "msccl").stdout.startswith("<algo ")


@pytest.mark.parametrize(("suffix", "head"), [("html", b"<!doctype html>"), ("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_drawings(run: Callable[..., Any], tmp_path: Path, suffix: str, head: bytes) -> None:
    path = tmp_path / f"schedule.{suffix}"
    done = run("bcast", *F14, "--draw", str(path))
    assert done.returncode == 0, done.stderr
    assert path.read_bytes().lstrip().startswith(head)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", ["html", "png"])
def test_what_was_found_is_not_lost_with_the_drawing(run: Callable[..., Any], tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"full.{suffix}"
    path.symlink_to("/dev/full")
    done = run("bcast", *F14, "--draw", str(path), "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == "optimal"
    assert "No space left on device" in done.stderr


def test_a_picture_that_cannot_be_written_leaves_the_old(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "schedule.png"
    path.write_text("old")
    limited = f"ulimit -f 8; exec {HOCKET} schedule bcast --network star:4 --bytes 1kB --draw {path}"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 1
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def named(folder: Path, network: str, host: str) -> str:
    path = folder / "named.toml"
    nodes = "".join(f'[[node]]\nname = {json.dumps(name)}\nkind = "host"\n' for name in (host, "b"))
    link = f'[[link]]\nbetween = [{json.dumps(host)}, "b"]\nbandwidth = "1 bit/s"\n'
    path.write_text(f'format = "hocket.network/1"\nname = {json.dumps(network)}\n{nodes}{link}')
    return str(path)


@pytest.mark.parametrize("suffix", ["html", "png", "svg"])
def test_names_are_drawn_as_they_are(run: Callable[..., Any], tmp_path: Path, suffix: str) -> None:
    # matplotlib would read $...$ as a formula; a long title would make a picture without end.
    network = named(tmp_path, "$\\frac$" + "x" * 100_000, "$_{$<script>alert(1)</script>")
    path = tmp_path / f"drawn.{suffix}"
    done = run("bcast", "--network", network, "--bytes", "1kB", "--draw", str(path))
    assert done.returncode == 0, done.stderr
    assert b"<script>alert" not in path.read_bytes()


@pytest.mark.parametrize("host", ["a b", "a\nb", "a=c slot=0", "a:7", "-n", "#a", "<a>"])
@pytest.mark.parametrize("form", ["openmpi-rankfile", "hydra-hosts"])
def test_names_that_launchers_would_read_otherwise(
    run: Callable[..., Any], tmp_path: Path, host: str, form: str
) -> None:
    done = run("allgather", "--network", named(tmp_path, "x", host), "--bytes", "1kB", "--format", form)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"{host!r} is not a name of a host" in done.stderr


def test_no_bound_is_no_proof(run: Callable[..., Any]) -> None:
    barrier = json.loads(run("barrier", "--network", "star:5", "--json").stdout)
    assert (barrier["lower_bound_s"], barrier["gap"], barrier["status"]) == (0, None, "feasible")
    assert barrier["makespan_s"] > 0
    assert len(barrier["transfers"]) == 15  # 3 rounds
    network = hocket.Network.generate("star:24", bandwidth="1 Gbit/s", latency="20 us")
    stopped = optimal_schedule(network, "bcast", 10**6, method="paper", time_limit_s=0.05)
    assert (stopped.status, stopped.lower_bound_s, stopped.gap) == ("feasible", 0, float("inf"))


def test_links_that_the_search_of_one_piece_cannot_count(run: Callable[..., Any], tmp_path: Path) -> None:
    where = ("bcast", "--network", named(tmp_path, "slow", "a"), "--bytes", "1kB")
    assert json.loads(run(*where, "--json").stdout)["makespan_s"] == pytest.approx(8000)
    assert "below 1 byte/s" in run(*where, "--optimal").stderr


def test_bytes_of_transfers(run: Callable[..., Any]) -> None:
    where = ("bcast", "--network", "star:4", "--bytes", "1001B")
    whole = json.loads(run(*where, "--optimal", "--json").stdout)["transfers"]
    assert [t["bytes"] for t in whole] == [1001] * 3
    cut = json.loads(run(*where, "--chunks", "4", "--json").stdout)["transfers"]
    assert sum(t["bytes"] for t in cut) == 3 * 1001


def test_ctrl_c_ends_a_search_by_simulation_at_once() -> None:
    """This one would take longer than the limit."""
    search = subprocess.Popen(
        [HOCKET, "schedule", "alltoall", "--network", "star:1000", "--bytes", "64KiB"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for_thread(search.pid)
    search.send_signal(signal.SIGINT)
    out, err = search.communicate(timeout=LIMIT_S)
    assert (search.returncode, out, err) == (130, "", "error: interrupted\n")


def wait_for_thread(pid: int) -> None:
    """Until it listens for signals."""
    for _ in range(600):
        if len(os.listdir(f"/proc/{pid}/task")) > 1:
            return
        time.sleep(0.05)
    raise AssertionError("it does not begin")


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
        (("bcast", "--network", "star:4", "--optimal", "-b", "1MB", "--chunks", "4"), "schedules of one segment"),
        (("bcast", "--network", "star:4", "-b", "1MB", "--chunks", "x"), "is not a number of chunks"),
        (("scatter", "--network", "star:4", "-b", "1MB", "--chunks", "4"), "no schedule of scatter"),
        (("barrier", "--network", "star:4", "-b", "1MB"), "its messages are empty"),
        (("bcast", "--network", "star:4", "-b", "1MB", "--optimal", "--format", "ranks"), "has no order of ranks"),
        (("bcast", "-n", "3", "-a", "linear", "--format", "goal"), "needs a size"),
        (("bcast", "-n", "3", "--format", "goal"), "--ranks does not apply to a list of algorithms"),
        (
            ("bcast", "--network", "star:4", "-b", "1MB", "--time-limit", "3"),
            "--time-limit does not apply to --network",
        ),
        (("bcast", "--network", "star:4", "-b", "1MB", "--optimal", "--cuts", "none"), "--cuts does not apply"),
        (("bcast", "--network", "star:4", "--crossover", "--optimal"), "--optimal does not apply to --crossover"),
        (("bcast", "--network", "star:4", "--crossover", "-b", "1MB"), "--bytes does not apply to --crossover"),
        (("bcast", "--network", "star:4", "-b", "1MB", "--json", "--format", "goal"), "two forms of output"),
        (
            ("bcast", "--network", "star:4", "-b", "1MB", "--optimal", "--gap", "nan"),
            "'--gap': 'nan' is not a finite number",
        ),
        (
            ("bcast", "--network", "star:4", "-b", "1MB", "--optimal", "--time-limit", "nan"),
            "'--time-limit': 'nan'; accepted: a time",
        ),
        (("bcast", "--network", "star:5000", "--optimal", "-b", "1MB"), "5000 ranks: the search serves up to 4096"),
        (("bcast", "--network", "star:4", "--optimal", "-b", "8PB", "--bandwidth", "8 bit/s"), "cannot count"),
    ],
)
def test_bad_input(run: Callable[..., Any], arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    first, second = done.stderr.splitlines()
    assert first.startswith("error: ")
    assert said in first
    assert second.startswith("hint: ")


def test_fewer_threads_than_asked_for_are_enough(run: Callable[..., Any], tmp_path: Path) -> None:
    """400 stacks of 8 MiB do not fit into the memory allowed: the search goes on with the threads that it got."""
    limit = 2 << 30
    text = 'format = "hocket.network/1"\n'
    text += "".join(f'[[node]]\nname = "s{i}"\nkind = "switch"\n' for i in range(5))
    text += "".join(f'[[node]]\nname = "h{i}"\nkind = "host"\n' for i in range(24))
    cables = [(f"s{i}", f"s{i // 2}", 7 * i) for i in range(1, 5)] + [(f"h{i}", f"s{i % 5}", 7 * i) for i in range(24)]
    for lower, upper, number in cables:
        text += f'[[link]]\nbetween = ["{lower}", "{upper}"]\nbandwidth = "{10 + 10 * (number % 10)} MB/s"\n'
    (tmp_path / "uneven.toml").write_text(text)
    result = subprocess.run(
        [HOCKET, "schedule", "bcast", "--network", "uneven.toml", "--bytes", "1 MB", "--optimal", "--threads", "400",
         "--time-limit", "3", "--json"],
        capture_output=True, text=True, check=False, timeout=LIMIT_S, cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["transfers"]
