# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What decisions for the network cost a program with many communicators.

perf/programs/communicators.c splits its ranks in two at random, COUNT times, and makes a few collective calls on each
part: in turns natively and with `HOCKET_NETWORK`, on an emulated cluster with the ranks host by host. Nearly every part
has other members than those before, so that little can be remembered. Prints medians of the program's own time, from
MPI_Init on, and of the CPU time that decisions took the rank for which they took longest.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from pathlib import Path

from mpi_programs import MpiProgram, prepare

from hocket import Network
from hocket.cli.common import message, print_table
from hocket.errors import Error
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.testbed import Testbed
from mpis import MPIS

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = MpiProgram("communicators", "communicators.c", 1000)
TIMEOUT_S = 300.0


def measure(mpi: Mpi, options: argparse.Namespace) -> list[str]:
    """MPI, decisions of a rank, seconds natively and with the network, their ratio, CPU s of decisions, its share."""
    network = Network.from_file(str(options.network))
    parts = build_mpi_parts(mpi, report=message)
    folder = ROOT / "build/communicators" / mpi.label
    words = prepare(PROGRAM, mpi, folder)
    counts = folder / "statistics.json"
    command = [str(mpi.mpiexec), "-n", str(network.num_ranks), *words, str(options.communicators), str(options.seed)]
    with_network = {"HOCKET_NETWORK": str(options.network), "HOCKET_STATISTICS": str(counts)}
    times: dict[bool, list[float]] = {False: [], True: []}
    decided: list[tuple[int, float]] = []
    with Testbed(network) as bed:
        runner = TestbedRunner(mpi, bed, parts.workarounds)
        for number in range(options.rounds):
            for decides in (number % 2 != 0, number % 2 == 0):
                libraries, environment = ([parts.interpose], with_network) if decides else ([], {})
                done = runner.run(command, libraries, environment, TIMEOUT_S, PROGRAM.name)
                found = re.fullmatch(r"wrong 0, seconds (\S+)\s*", done.stdout)
                if found is None:
                    raise Error(f"{PROGRAM.name} with {mpi.name} printed {done.stdout!r}")
                times[decides].append(float(found[1]))
            of_run = json.loads(counts.read_text())["decided"]
            decided.append((of_run["decisions"], of_run["cpu_s"]))
    native_s, with_s = (statistics.median(times[decides]) for decides in (False, True))
    cpu_s = statistics.median(cpu_s for _, cpu_s in decided)
    return [
        mpi.name, f"{decided[0][0]:,}", f"{native_s:.2f}", f"{with_s:.2f}", f"{native_s / with_s:.2f}", f"{cpu_s:.3f}",
        f"{100 * cpu_s / with_s:.2f} %",
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", dest="mpis", action="append", choices=[mpi.label for mpi in MPIS], help="default: all")
    parser.add_argument("--network", type=Path, default=ROOT / "networks/two-clusters.toml")
    parser.add_argument("--communicators", type=int, default=PROGRAM.size)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    options.network = options.network.resolve()
    rows = [measure(mpi, options) for mpi in MPIS if mpi.label in (options.mpis or [mpi.label])]
    heads = ["MPI", "decisions of a rank", "native s", "with network s", "native / with", "decisions, CPU s", "share"]
    print_table(heads, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
