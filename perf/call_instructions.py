# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Instructions of a rerouted call, counted by Valgrind's callgrind: they do not depend on what else the machine does.

--interpose LIBRARY takes that libhocket_interpose.so instead of today's, such as one of an earlier version.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

from call_overhead import compile_with

from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import run_command, with_preload
from hocket.plan import Plan, PlanEntry, write_plan
from mpis import MPIS

COLLECTIVES = {"bcast": "linear", "allreduce": "recursive_doubling", "alltoall": "pairwise"}
NUM_BYTES = 1000
CALLS = (1000, 3000)  # the difference of two runs is without start and end


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default=MPIS[0].label if MPIS else None, choices=[mpi.label for mpi in MPIS])
    parser.add_argument("--interpose", type=Path, metavar="LIBRARY", help="default: that of this version")
    arguments = parser.parse_args()
    (mpi,) = (mpi for mpi in MPIS if mpi.label == arguments.mpi)
    library = arguments.interpose or build_mpi_parts(mpi).interpose
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = compile_with(mpi, "rerouted_calls", folder)
        plan = folder / "plan.json"
        entries = (PlanEntry(c, (0,), NUM_BYTES, NUM_BYTES, algorithm, 1) for c, algorithm in COLLECTIVES.items())
        write_plan(Plan(1, "none", tuple(entries)), plan)
        for collective in COLLECTIVES:
            few, many = (instructions(mpi, library, plan, program, collective, calls) for calls in CALLS)
            print(f"{mpi.name}: {collective}: {(many - few) / (CALLS[1] - CALLS[0]):.0f} instructions a call")
    return 0


def instructions(mpi: Mpi, library: Path, plan: Path, program: Path, collective: str, calls: int) -> int:
    counter = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={plan.with_name('counts')}"]
    command = [str(mpi.mpiexec), "-n", "1", *counter, str(program), collective, str(NUM_BYTES), str(calls)]
    settings = {"HOCKET_PLAN": str(plan), "HOCKET_SELF_CHECK": "off"}
    command, needed = with_preload(command, mpi, [library], settings)
    done = run_command(command, env=needed, timeout=600, capture=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        raise SystemExit(f"callgrind failed with {mpi.name}: {done.stderr}")
    return int(found[1])


if __name__ == "__main__":
    sys.exit(main())
