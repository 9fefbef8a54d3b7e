# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Collective subroutines of coarray programs with hocket beside OpenCoarrays alone: launches in turn, shared memory."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from hocket.cli.common import print_table
from hocket.mpi.coarrays import compile_command, mpi_of_wrapper

SOURCE = Path(__file__).resolve().with_suffix(".f90")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrapper", default="caf", help="OpenCoarrays' compiler wrapper")
    parser.add_argument("--images", type=int, default=2)
    parser.add_argument("--elements", type=int, default=100_000, help="of real(8)")
    parser.add_argument("--calls", type=int, default=20, help="of each subroutine in a launch")
    parser.add_argument("--launches", type=int, default=7)
    options = parser.parse_args()
    mpi = mpi_of_wrapper(options.wrapper)
    # As root.
    os.environ |= dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
    rounds: list[dict[bool, dict[str, float]]] = []
    with tempfile.TemporaryDirectory() as folder:
        programs = {}
        for ours in (False, True):
            programs[ours] = Path(folder, "with" if ours else "without")
            command = [options.wrapper, "-O2", str(SOURCE), "-o", str(programs[ours])]
            subprocess.run(compile_command(command) if ours else command, check=True)
        for _ in range(options.launches):
            rounds.append({ours: times(options, mpi.mpiexec, program) for ours, program in programs.items()})
    rows = []
    for name in rounds[0][True]:
        without, with_ours = (statistics.median(one[ours][name] for one in rounds) for ours in (False, True))
        ratios = sorted(one[False][name] / one[True][name] for one in rounds)
        rows.append([
            name, f"{without / 1e3:.0f} us", f"{with_ours / 1e3:.0f} us", f"{statistics.median(ratios):.1f}",
            f"{ratios[0]:.1f} - {ratios[-1]:.1f}",
        ])  # fmt: skip
    title = f"{mpi.label}, {options.images} images, {options.elements} x real(8), {options.launches} launches each"
    print_table(["subroutine", "OpenCoarrays", "with hocket", "times as fast", "least and most"], rows, title)
    return 0


def times(options: argparse.Namespace, mpiexec: Path, program: Path) -> dict[str, float]:
    command = [str(mpiexec), "-n", str(options.images), str(program), str(options.elements), str(options.calls)]
    done = subprocess.run(command, check=True, timeout=300, capture_output=True, text=True)
    found = (line.split() for line in done.stdout.splitlines() if line.startswith("co_"))
    return {name: float(ns) for name, ns in found}


if __name__ == "__main__":
    sys.exit(main())
