# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The shipped ReFrame test, run by ReFrame itself."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from hocket.bench.mpi.results import Point, read_results
from hocket.bench.mpi.statistics import summarize
from hocket.mpi.launch import run_command
from mpis import ALL_MPIS, LIMIT_S, ROOT

SUITE = """
format = "hocket.suite/1"
name = "small"
bytes = ["8 B", "1 KiB"]
launches = 1
rounds = 1
samples = 3
budget_s = 0.1
items = [{ use = "p2p.isend_irecv" }, { use = "rma.epoch" }, { use = "p2p.isend_irecv", ranks = 64 }]
"""


def reported_name(point: Point) -> str:
    size = "" if point.size_bytes is None else f"/{point.size_bytes}"
    return point.variant.replace(" ", "_") + size


def test_reframe_runs_it_and_reports_each_median(tmp_path: Path) -> None:
    pytest.importorskip("reframe", reason="needs the Python package reframe-hpc")
    mpi = next(mpi for mpi in ALL_MPIS if mpi.mpiexec.with_name("mpirun").exists())
    (tmp_path / "suite.toml").write_text(SUITE)
    folders = [Path(sys.executable).parent, mpi.mpiexec.parent]
    system = {"name": "here", "hostnames": [".*"], "partitions": [
        {"name": "all", "scheduler": "local", "launcher": "mpirun", "environs": ["builtin"]}]}  # fmt: skip
    (tmp_path / "site.py").write_text(f"site_configuration = {{'systems': [{system!r}]}}\n")
    reframe = Path(sys.executable).with_name("reframe")
    command = [reframe, "-C", "site.py", "-c", ROOT / "examples/bench/reframe_hocket.py", "-r", "--keep-stage-files"]
    command += ["-S", f"suite={tmp_path / 'suite.toml'}", "-S", "quick=no", "--prefix", "made"]
    path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
    env = {"PATH": path, "TMPDIR": str(tmp_path), "RFM_REPORT_FILE": "report.json"}
    done = run_command([str(word) for word in command], env=env, capture=True, cwd=tmp_path, timeout=LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = json.loads((tmp_path / "report.json").read_text())["runs"]
    (case,) = run["testcases"]
    assert case["result"] == "pass"
    (folder,) = (tmp_path / "made").rglob("results.jsonl")
    results = read_results(folder)
    # 64 ranks are more than the launch has: unsupported, which is tolerated.
    found = {name.split(":")[-1]: entry for name, entry in case["perfvalues"].items()}
    assert set(found) == {"p2p.isend_irecv_ranks=2/8", "p2p.isend_irecv_ranks=2/1024", "rma.epoch_ranks=2"}
    for name, (value, *_, unit, _result) in found.items():
        point = next(point for point in results.points if name == reported_name(point))
        assert value == pytest.approx(summarize(results.launches(point)).median_s)
        assert unit == "s"
