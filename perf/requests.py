# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Allreduces without waiting, one or many in flight, beside the MPI's own, with every MPI: see requests.c.

In shared memory, or on an emulated star with --hosts. Each way's time is set beside one of the MPI's, launch by launch.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from hocket import Network
from hocket.cli.common import print_table
from hocket.measure.local import LocalRunner
from hocket.measure.runner import Runner
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import MpiParts, build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.testbed import Testbed
from mpis import MPIS

HERE = Path(__file__).resolve().parent
BESIDE = {
    "at-once": ("native-at-once", "native-in-order", "in-order", "exchange"),
    "restarted": ("native-restarted", "native-at-once", "native-in-order", "in-order", "exchange"),
    "native-at-once": ("native-in-order",),
    "native-fused": ("native-in-order",),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, help="of an emulated star (default: 2 ranks in shared memory)")
    parser.add_argument("--bandwidth", default="200 Mbit/s")
    parser.add_argument("--bytes", type=int, nargs="+", default=[8])
    parser.add_argument("--in-flight", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--engines", nargs="+", default=["function", "thread"])
    parser.add_argument("--algorithm", default="recursive_doubling")
    parser.add_argument("--launches", type=int, default=5)
    parser.add_argument("--mpis", nargs="+", help="labels such as mpich-4.0.2 (default: all of this machine)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for mpi in (mpi for mpi in MPIS if not options.mpis or mpi.label in options.mpis):
        parts = build_mpi_parts(mpi, report=lambda text: print(text, file=sys.stderr))
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            program = compiled("requests", mpi, parts, folder)
            runner: Runner = LocalRunner(mpi)
            if options.hosts:
                network = Network.generate(f"star:{options.hosts}", bandwidth=options.bandwidth, latency="0")
                runner = TestbedRunner(mpi, stack.enter_context(Testbed(network)), parts.workarounds)
            for engine in options.engines:
                for size_bytes in options.bytes:
                    for in_flight in options.in_flight:
                        rows += measured(options, runner, program, engine, size_bytes, in_flight)
    if options.json:
        print(json.dumps(rows, indent=1))
    return 0


def compiled(name: str, mpi: Mpi, parts: MpiParts, folder: Path) -> Path:
    library, program = parts.runtime.parent, folder / name
    # gcc 12 takes MPI_STATUSES_IGNORE of MPICH for an array that is too short.
    flags = ["-O2", "-Wno-stringop-overflow", f"-I{parts.include}", f"-L{library}", f"-Wl,-rpath,{library}", "-lhocket"]
    subprocess.run([str(mpi.mpicc), str(HERE / f"{name}.c"), "-o", str(program), *flags], check=True)
    return program


def measured(
    options: argparse.Namespace, runner: Runner, program: Path, engine: str, size_bytes: int, in_flight: int
) -> list[dict[str, object]]:
    """Rows of one setting: each way beside others, with the quartiles over launches."""
    ranks = options.hosts or 2
    total = size_bytes * in_flight
    loops, calls = (10, max(1, 2000 // total)) if options.hosts else (60, max(1, min(200, 100_000 // total)))
    command = [str(runner.mpi.mpiexec), "-n", str(ranks), str(program)]
    command += [str(size_bytes), str(in_flight), engine, options.algorithm, str(loops), str(calls)]
    # As root.
    os.environ |= dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
    launches: list[dict[str, float]] = []
    for _ in range(options.launches):
        lines = runner.run(command, timeout_s=300).stdout.split("\n")
        launches.append({name: float(ns) for name, ns in (line.split() for line in lines if line.strip())})
    place = f"star:{options.hosts} {options.bandwidth}" if options.hosts else "shared memory"
    rows: list[dict[str, object]] = []
    for way, others in BESIDE.items():
        for other in others:
            if other not in launches[0] or (in_flight == 1 and other.endswith("in-order")):
                continue
            ratios = [one[other] / one[way] for one in launches]
            low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
            rows.append({
                "mpi": runner.mpi.label, "place": place, "engine": engine, "bytes": size_bytes,
                "in_flight": in_flight, "way": way, "beside": other,
                "time_us": statistics.median(one[way] for one in launches) / 1e3,
                "ratio": middle, "ratio_quartiles": [low, high],
            })  # fmt: skip
    table = [
        [str(row["way"]), f"{row['time_us']:.2f} us", str(row["beside"]), f"{row['ratio']:.2f}",
         "{:.2f} - {:.2f}".format(*row["ratio_quartiles"])]  # type: ignore[misc]
        for row in rows
    ]  # fmt: skip
    if not options.json:
        print(f"{runner.mpi.label}, {place}, {engine} engine: {in_flight} x {size_bytes} B")
        print_table(["way", "time of all", "beside", "times as fast", "quartiles"], table)
    return rows


if __name__ == "__main__":
    sys.exit(main())
