# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench run` over several hosts: those of an emulated network."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.bench.mpi.page import page
from hocket.bench.mpi.results import read_results
from hocket.bench.mpi.statistics import summarize
from hocket.bench.mpi.summary import BenchResult
from hocket.mpi.discover import Mpi
from hocket.testbed import available

AVAILABLE, REASON = available()

NETWORK = """
format = "hocket.network/1"
name = "pair"
node = [{ name = "left", kind = "host" }, { name = "right", kind = "host" }]
link = [{ between = ["left", "right"], bandwidth = "100 Mbit/s" }]
"""
SUITE = """
format = "hocket.suite/1"
name = "hosts"
bytes = ["1 B", "1 MiB"]
launches = 1
rounds = 1
samples = 3
budget_s = 1
items = [{ number = 25, use = "p2p.isend_irecv" }, { use = "rma.put" }]
"""


@pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}")
@pytest.mark.one_of_each_family
def test_ranks_run_on_the_hosts_of_an_emulated_network(mpi: Mpi, hocket_cli, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "pair.toml").write_text(NETWORK)
    result = hocket_cli("bench", "run", "suite.toml", "--network", "pair.toml", "--", mpi.mpiexec, "-n", "2")
    assert result.returncode == 0, result.stderr
    results = read_results(tmp_path / "hocket-bench")
    (run,) = results.runs
    assert run["host_names"] == ["left", "right"]
    assert {name: one.status for (name, _), one in results.outcomes.items()} == {
        "p2p.isend_irecv ranks=2": "ok",
        "rma.put ranks=2": "ok",  # over TCP, which not every component of Open MPI 4 for windows can
    }
    assert (run["hosts"], run["host"], run["ranks"]) == (2, "left", 2)
    # 1 MiB takes 84 ms over the cable of 100 Mbit/s, whatever the load; shared memory would take a hundredth.
    large = next(point for point in results.points if point.size_bytes == 2**20 and point.number == 25)
    assert summarize(results.launches(large)).least_s > 0.07
    assert "2 ranks on 2 hosts (left, right)" in page([BenchResult(results)], 0.05)


def test_a_network_that_cannot_be_emulated_is_refused_before_anything_runs(hocket_cli, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    result = hocket_cli("bench", "run", "suite.toml", "--network", "nothing.toml", "--", "mpiexec", "-n", "2")
    assert result.returncode == 2
    assert "nothing.toml" in result.stderr
    assert not (tmp_path / "hocket-bench").exists()
