# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Campaigns of requests that measure: one task at a time, alone on its host, each with results of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bench_files import HEAD, suite

from hocket.bench.mpi.results import read_results
from hocket.mpi.discover import Mpi
from hocket.sweep import frame
from hocket.sweep.alone import on_host
from mpis import LIMIT_S

HOCKET = str(Path(sys.executable).with_name("hocket"))
ITEMS = 'bytes = ["8 B", "1 KiB"]\nitems = [{ use = "p2p.pingpong.send" }]\n'


def campaign(folder: Path, mpi: Mpi, more: str = "") -> Path:
    (folder / "files").mkdir()
    suite(folder / "files", ITEMS, HEAD.replace("budget_s = 0.01", "budget_s = 60"))  # with time for two launches
    path = folder / "files/c.toml"
    path.write_text(
        'format = "hocket.campaign/1"\nrequest = "bench-run"\n[fixed]\nsuite = "suite.toml"\n'
        f'command = ["{mpi.mpiexec}", "-n", "2"]\n{more}\n[product]\nlaunches = [1, 2]\n'
    )
    return path


@pytest.mark.one_of_each_family
def test_benchmarks_in_a_campaign(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of files are relative to the campaign. While a task of another campaign runs nothing is measured."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    command = [HOCKET, "sweep", str(campaign(tmp_path, mpi)), "-o", "rows", "--workers", "2", "--json"]
    with on_host(alone=False):
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        assert "waiting until no other campaign runs tasks on this host" in process.stderr.readline()
        time.sleep(1)
        assert not (tmp_path / "rows/results").exists()
    output, errors = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, errors
    assert json.loads(output)["where"] == "1 process"
    rows = frame(tmp_path / "rows")
    assert rows[["task", "launches", "bytes"]].values.tolist() == [[0, 1, 8], [0, 1, 1024], [1, 2, 8], [1, 2, 1024]]
    assert set(rows["status"]) <= {"wide", "known"}
    assert (rows["measured.median_s"] > 0).all()
    for task, launches in ((0, 1), (1, 2)):
        (name,) = set(rows[rows.task == task]["results"])
        assert len(read_results(tmp_path / "rows/results" / name).ended) == launches
    again = subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True, check=True, timeout=LIMIT_S)
    assert (json.loads(again.stdout)["ran"], json.loads(again.stdout)["kept"]) == (0, 2)


@pytest.mark.one_of_each_family
def test_a_folder_for_all_tasks_is_refused(mpi: Mpi, tmp_path: Path) -> None:
    path = campaign(tmp_path, mpi, 'output = "mine"')
    done = subprocess.run([HOCKET, "sweep", str(path)], capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 2
    assert "fixed.output: each task has a folder of its own" in done.stderr
