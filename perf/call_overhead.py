# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a call costs that is recorded, and one that is interposed but not rerouted, with every MPI of this machine."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.mpi.launch import run_command, with_preload
from hocket.plan import Plan, PlanEntry
from mpis import MPIS

HERE = Path(__file__).resolve().parent
ROUNDS = 5


def main() -> int:
    for mpi in MPIS:
        parts = build_mpi_parts(mpi, notify=lambda text: print(text, file=sys.stderr))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            plan = folder / "plan.json"
            Plan(1, "none", (PlanEntry("bcast", (0,), 1000, 2000, "linear", 1),)).write(plan)
            interpose = compile_with(mpi, "interpose_overhead", folder)
            record = compile_with(mpi, "record_overhead", folder)
            print(f"{mpi.name}: not rerouted")
            print(run(mpi, interpose, [parts.interpose], {"HOCKET_PLAN": str(plan)}))
            without, with_recorder = [], []
            for i in range(ROUNDS):  # in turns, since the machine's speed drifts
                without.append(float(run(mpi, record, [], {})))
                (folder / f"trace{i}").mkdir()
                with_recorder.append(
                    float(run(mpi, record, [parts.record], {"HOCKET_TRACE": str(folder / f"trace{i}")}))
                )
            added = sorted(b - a for a, b in zip(without, with_recorder, strict=True))
            least, median, most = added[0], statistics.median(added), added[-1]
            print(f"{mpi.name}: recorded: added {median:.0f} ns ({least:.0f} to {most:.0f})\n", flush=True)
    return 0


def compile_with(mpi: Mpi, name: str, folder: Path) -> Path:
    program = folder / name
    subprocess.run([str(mpi.mpicc), "-O2", str(HERE / f"{name}.c"), "-o", str(program), "-ldl"], check=True)
    return program


def run(mpi: Mpi, program: Path, libraries: Sequence[Path], environment: Mapping[str, str]) -> str:
    command, needed = with_preload([str(mpi.mpiexec), "-n", "1", str(program)], mpi, libraries, environment)
    done = run_command(command, env=needed, timeout=300, capture=True)
    if done.returncode != 0:
        raise SystemExit(f"{program.name} failed with {mpi.name}: {done.stderr}")
    return done.stdout.rstrip()


if __name__ == "__main__":
    sys.exit(main())
