# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A campaign whose workers are jobs of a real Slurm, started by dask-jobqueue."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas
import pytest
from slurm_cluster import SlurmCluster, missing

from hocket import Network
from hocket.sweep import frame
from hocket.testbed import available
from mpis import LIMIT_S, LONG, ROOT

AVAILABLE, REASON = available()
pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=f"no Slurm here: {missing()}"),
    pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="the daemons of Slurm need root"),
    pytest.mark.skipif(
        not (LONG or os.environ.get("HOCKET_SLURM_TESTS")), reason="takes long: `make slurm-tests` runs it"
    ),
]
HOCKET = str(Path(sys.executable).with_name("hocket"))
CAMPAIGN = """
format = "hocket.campaign/1"
request = "simulate"
[dask]
slurm = { jobs = 2, cores = 1, memory = "400MB", scheduler_options = { dashboard_address = ":0" } }
[product]
network = ["fat-tree:4x4"]
what = ["bcast:binomial", "allreduce:ring"]
bytes = { from = 1000, to = 20000, step = 1000 }
"""


def test_rows_of_jobs_are_those_of_this_machine(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(CAMPAIGN)
    with (
        tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder,
        SlurmCluster(Network.from_file(ROOT / "networks/four-by-two.toml"), Path(folder)) as slurm,
    ):
        command = [HOCKET, "sweep", "run", str(path), "-o", str(tmp_path / "jobs"), "--json"]
        done = slurm.run(command, cwd=tmp_path, timeout=LIMIT_S)
        assert done.returncode == 0, done.stderr + slurm.logs()
        assert slurm.run(["squeue", "--noheader", "--states=RUNNING"]).stdout == ""
    values = json.loads(done.stdout)
    assert (values["where"], values["ran"], values["failed"]) == ("slurm", 40, [])
    here = [HOCKET, "sweep", "run", str(path), "-o", str(tmp_path / "here"), "--workers", "2"]
    subprocess.run(here, check=True, capture_output=True, timeout=LIMIT_S)
    pandas.testing.assert_frame_equal(frame(tmp_path / "jobs"), frame(tmp_path / "here"), check_exact=True)
