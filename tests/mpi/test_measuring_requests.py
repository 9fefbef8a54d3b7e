# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Requests that need an MPI or its trace: Python gets what the command line prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket.advise.request import AdviseRequest
from hocket.cost.source import CostSource
from hocket.mpi.build import build_mpi_parts
from hocket.networks.source import NetworkSource
from hocket.plan import Plan
from hocket.requests import from_json, run, to_json
from hocket.simulation.request import SimulateRequest

PROGRAM = """
#include <mpi.h>
int main(int argc, char** argv) {
    static char data[400000];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 20; ++i) MPI_Bcast(data, 300000, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""
NETWORK = NetworkSource("star:4", "1 Gbit/s", "50 us")
ON_NETWORK = ("--network", "star:4", "--bandwidth", "1 Gbit/s", "--latency", "50 us")
MEASURED = ("setup_s", "solve_s", "peak_rss_bytes")


@pytest.fixture
def trace(runner: Any, tmp_path: Path) -> Path:
    folder = tmp_path / "trace"
    folder.mkdir()
    parts = build_mpi_parts(runner.mpi)
    runner.run(4, runner.compile(PROGRAM), libraries=[parts.record], env={"HOCKET_TRACE": str(folder)})
    return folder


@pytest.mark.one_of_each_family  # traces of all versions have one form
def test_a_trace_is_simulated_and_advised_on(trace: Path, tmp_path: Path, hocket_cli: Callable[..., Any]) -> None:
    costs = CostSource(send_overhead_s=3e-6)
    for request, arguments in (
        (SimulateRequest(str(trace), NETWORK, costs), ("simulate", trace)),
        (AdviseRequest(trace, NETWORK, costs), ("advise", trace, "-o", "plan.json")),
    ):
        assert from_json(to_json(request)) == request
        done = run(request)
        printed = hocket_cli(*arguments, *ON_NETWORK, "--send-overhead", "3 us", "--json")
        assert printed.returncode == 0, printed.stderr
        expected = json.loads(printed.stdout)
        assert expected.pop("plan", "plan.json") == "plan.json"
        found = json.loads(json.dumps(done.values))
        assert found.keys() == expected.keys()
        assert all(found[name] == expected[name] for name in found if name not in MEASURED)
    assert Plan.from_file(tmp_path / "plan.json") == done.plan
    assert done.plan.entries
