# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The benchmark beside other simulators (perf/peers): that they are given the same network and traffic."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mpis import LIMIT_S

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "perf/peers"
DRIVERS = ROOT / "build/peers/drivers"
CORE = ROOT / "build/libhocket_core.a"

sys.path.insert(0, str(PEERS))
from measure import Case, DifferentTraffic, Way, measure  # noqa: E402


def compiled(folder: Path, name: str) -> Path:
    if not CORE.exists():
        pytest.skip(f"{CORE.relative_to(ROOT)} is not built: `make build` builds it")
    compiler = os.environ.get("CXX", "g++")
    sources = [str(PEERS / f"{name}.cpp"), f"-I{ROOT / 'src'}", str(CORE)]
    subprocess.run([compiler, "-std=c++20", "-O1", *sources, "-fopenmp", "-o", str(folder / name)], check=True)
    return folder / name


@pytest.fixture(scope="module")
def routes_check(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("peers"), "routes_check")


@pytest.fixture(scope="module")
def hocket_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("peers"), "hocket_driver")


@pytest.mark.parametrize(
    ("network", "hosts"), [("1x1x2", 2), ("2x3x4", 24), ("4x3x2", 24), ("3x5x1", 15), ("4x4x8", 128)]
)
def test_the_fat_tree_of_the_peers_is_hockets(routes_check: Path, network: str, hosts: int) -> None:
    done = subprocess.run([routes_check, f"network={network}"], capture_output=True, text=True, check=True)
    assert int(done.stdout) == hosts**2


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("network=8x8", "expected three numbers"),
        ("network=0x1x1", "expected three numbers"),
        ("pattern=ring", "known: random-ring"),
        ("spread=2", "spread"),
        ("colour=blue", "unknown option colour"),
        ("blue", "NAME=VALUE"),
        ("messages=many", "messages=many"),
    ],
)
def test_a_driver_says_what_is_wrong_on_one_line(routes_check: Path, argument: str, words: str) -> None:
    done = subprocess.run([routes_check, argument], capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2)
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def script(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_comparison_of_different_traffic_is_refused(tmp_path: Path) -> None:
    ways = [Way(name, script(tmp_path, name, f"echo '{json.dumps({'traffic': name})}'")) for name in ("a", "b")]
    with pytest.raises(DifferentTraffic, match="network=2x2x4"):
        measure(Case("2x2x4", "random-ring", 0), ways, rounds=1, timeout_s=10)


def test_a_simulator_that_fails_or_hangs_says_why(tmp_path: Path) -> None:
    bad = Way("bad", script(tmp_path, "bad", "echo 'error: no memory' >&2; exit 1"))
    slow = Way("slow", script(tmp_path, "slow", "exec sleep 60"))
    case = Case("2x2x4", "random-ring", 0)
    (failed,) = measure(case, [bad], rounds=2, timeout_s=LIMIT_S)
    (late,) = measure(case, [slow], rounds=2, timeout_s=0.5)
    assert (failed.runs, failed.reason) == ([], "error: no memory")
    assert late.reason.startswith("not done after")


def test_finish_times_are_those_that_simgrid_found(hocket_driver: Path) -> None:
    """Where SimGrid is not installed: with what it printed."""
    for case in json.loads((ROOT / "tests/golden/simgrid.json").read_text(encoding="utf-8"))["cases"]:
        arguments = [f"{key}={case[key]}" for key in ("network", "pattern", "spread", "messages")]
        done = subprocess.run([hocket_driver, *arguments], capture_output=True, text=True, check=True)
        result = json.loads(done.stdout)
        assert result["traffic"] == case["traffic"]
        for key in ("makespan_s", "mean_finish_s"):
            assert result[key] == pytest.approx(case[key], rel=1e-9), case


@pytest.mark.parametrize("pattern", ["random-ring", "random-permutation"])
@pytest.mark.parametrize(("spread", "tolerance"), [(0, 1e-9), (0.5, 1e-5)])
@pytest.mark.parametrize("style", ["callbacks", "actors"])
def test_simgrid_finds_the_same_finish_times(pattern: str, spread: float, tolerance: float, style: str) -> None:
    hocket, simgrid = DRIVERS / "hocket_driver", DRIVERS / "simgrid_driver"
    if not (hocket.exists() and simgrid.exists()):
        pytest.skip("SimGrid is not installed: `make perf-peers QUICK=1` does it")
    ways = [Way("hocket", hocket), Way("SimGrid", simgrid, (f"style={style}",))]
    ours, theirs = measure(Case("8x8x16", pattern, spread), ways, rounds=1, timeout_s=100)
    assert (ours.reason, theirs.reason) == ("", "")
    for key in ("makespan_s", "mean_finish_s"):
        assert ours.median(key) == pytest.approx(theirs.median(key), rel=tolerance)
