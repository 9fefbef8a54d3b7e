# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `tune` compares runs under the same conditions: libraries, variables and limits differ by hocket's own alone."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hocket import Network
from hocket.measure.runner import Run
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.command_line import with_program
from hocket.mpi.discover import Mpi
from hocket.testbed import available
from hocket.tune.tune import TuneOptions, tune

AVAILABLE, REASON = available()
pytestmark = [pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}"), pytest.mark.in_turns]

PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    char *data = calloc(1, 1000000);
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 4; ++i) MPI_Bcast(data, 1000000, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""

SHOW = """
import json, os, resource
from pathlib import Path
limits = {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")}
if os.uname().nodename == 'h0': print(json.dumps({
    "environment": dict(os.environ),
    "limits": limits,
    "cores": sorted(os.sched_getaffinity(0)),
    "priority": [os.sched_getscheduler(0), os.nice(0)],
    "slack": Path("/proc/self/timerslack_ns").read_text(),
    "libraries": sorted({line.split()[-1] for line in open("/proc/self/maps") if line.split()[-1].endswith(".so")}),
}))
"""

# What launchers tell ranks of themselves, with numbers of processes, ports and ranks.
OF_LAUNCHERS = ("PMI", "OMPI_", "HYDI_", "MPI_LOCAL", "PRTE_", "ORTE_", "PRRTE")
OF_THE_TESTBED = (
    "OMPI_MCA_mpi_yield_when_idle", "OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_osc",
)  # fmt: skip


@pytest.mark.one_of_each_family(usually=True)
def test_the_runs_that_tune_compares_differ_by_hocket_alone(
    mpi: Mpi, runner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, dict[str, Any]] = {}
    run = TestbedRunner.run

    def shown_too(
        self: TestbedRunner,
        command: Sequence[str],
        libraries: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        what: str = "the program",
        **files: Path | None,
    ) -> Run:
        kind = f"{what} {' '.join(sorted(path.name for path in libraries))}".strip()
        if kind not in seen:
            # In its place the rank of the first host shows what it finds.
            show = with_program(command, [sys.executable, "-c", SHOW])
            seen[kind] = json.loads(run(self, show, libraries, environment).stdout)
        return run(self, command, libraries, environment, timeout_s, what, **files)

    monkeypatch.setattr(TestbedRunner, "run", shown_too)
    nodes = "".join(f'[[node]]\nname = "h{i}"\nkind = "host"\n' for i in range(4))
    links = "".join(f'[[link]]\nbetween = ["h{i}", "s"]\nbandwidth = "200 Mbit/s"\n' for i in range(4))
    switch = '[[node]]\nname = "s"\nkind = "switch"\n'
    network = Network.from_text(f'format = "hocket.network/1"\nname = "star"\n{nodes}{switch}{links}', "star.toml")
    # Progress makes a tuned run of any plan; whether one gains here does not matter.
    options = TuneOptions(
        repetitions=1, launches=1, compare_repetitions=2, fit=False, testbed=True, timeout_s=60, progress="auto"
    )
    result = tune(runner.command(4, runner.compile(PROGRAM)), network, tmp_path / "result", options)

    # The note has two forms, by a time that is measured: none is asserted. test_testbed_waiting.py counts the yields.
    if len(os.sched_getaffinity(0)) < 4:
        assert sum(note.startswith("4 ranks share this machine's ") for note in result.notes) == 1

    parts = build_mpi_parts(mpi)
    kinds = {kind.rpartition(" lib")[2] or kind for kind in seen}
    assert any("record.so" in kind for kind in kinds), seen.keys()
    assert any("interpose.so" in kind for kind in kinds), seen.keys()
    assert {"the program", "the comparison of the collectives"} <= seen.keys()
    native = seen["the program"]
    assert any(path.endswith("/libhocket_testbed.so") for path in native["libraries"])
    for kind, other in seen.items():
        for what in ("limits", "cores", "priority", "slack"):
            assert other[what] == native[what], (kind, what)
        assert stable(other["environment"]) == stable(native["environment"]), kind
        assert other["environment"].keys() - native["environment"].keys() <= {
            "HOCKET_TRACE",
            "HOCKET_PLAN",
            "HOCKET_PROGRESS",
        }
        own = {str(parts.record), str(parts.interpose)}
        preloaded = [path for path in other["environment"]["LD_PRELOAD"].split(":") if path not in own]
        assert preloaded == native["environment"]["LD_PRELOAD"].split(":"), kind
        assert {path for path in other["libraries"] if "hocket" in path} - own == {
            path for path in native["libraries"] if "hocket" in path
        }, kind


def stable(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name in OF_THE_TESTBED or not name.startswith((*OF_LAUNCHERS, "HOCKET_", "LD_PRELOAD"))
    }
