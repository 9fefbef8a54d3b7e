# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket run --progress` gains a program that starts communication, computes and waits: see progress.c.

On an emulated star, with every MPI; launches of off, on and auto in turns, all with the same computation. Mode
plan is on, with the schedule that takes least by simulation.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from call_overhead import compile_with

from hocket import CostModel, Network
from hocket.advise import CallGroup, advise
from hocket.cli.common import print_table
from hocket.measure.runner import Runner
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.plan import write_plan
from hocket.testbed import Testbed
from mpis import MPIS

MODES = ("off", "on", "auto", "plan")
# A real computation alone that lasts so much longer than its CPU time shared its cores: with others, or both ranks one.
DISTURBED = 1.1
MOST_TRIES = 4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--bandwidth", default="200 Mbit/s")
    parser.add_argument("--bytes", type=int, default=1_000_000, help="to each other rank; of allreduce, all of it")
    parser.add_argument("--what", nargs="+", default=["alltoall"], choices=["alltoall", "allreduce", "messages"])
    parser.add_argument("--compute", default="free-core", choices=["free-core", "real"], help="naps, or a product")
    parser.add_argument("--compute-share", type=float, default=1, help="computation / communication")
    parser.add_argument("--launches", type=int, default=3, help="of each mode")
    parser.add_argument("--repetitions", type=int, default=11, help="in each launch")
    parser.add_argument("--warm-ups", type=int, default=8, help="calls before them: so many auto needs to choose")
    parser.add_argument("--modes", nargs="+", default=MODES[:3], choices=MODES)
    parser.add_argument("--mpis", nargs="+", help="labels such as mpich-4.0.2 (default: all of this machine)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    network = Network.generate(f"star:{options.hosts}", bandwidth=options.bandwidth, latency="0")
    rows = []
    for mpi in (mpi for mpi in MPIS if not options.mpis or mpi.label in options.mpis):
        parts = build_mpi_parts(mpi, report=lambda text: print(text, file=sys.stderr))
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            runner = TestbedRunner(mpi, stack.enter_context(Testbed(network)), parts.workarounds)
            program = compile_with(mpi, "progress", folder)
            for what in options.what:
                found = measured(options, runner, program, parts.interpose, folder, what)
                rows += found
                if not options.json:
                    show(options, found)
    if options.json:
        print(json.dumps(rows, indent=1))
    return 0


def measured(
    options: argparse.Namespace, runner: Runner, program: Path, library: Path, folder: Path, what: str
) -> list[dict[str, object]]:
    """A row for each mode."""

    def launched(mode: str, repetitions: int, work: str) -> list[list[str]]:
        counts = folder / "statistics.json"
        command = [str(runner.mpi.mpiexec), "-n", str(options.hosts), str(program), what, str(options.bytes)]
        command += [options.compute, str(repetitions), str(options.warm_ups if repetitions else 0), work]
        environment = {"HOCKET_PROGRESS": mode, "HOCKET_STATISTICS": str(counts)}  # as `hocket run` does
        if mode == "plan":
            environment |= {"HOCKET_PROGRESS": "on", "HOCKET_PLAN": str(plan_for(options, what, folder))}
        counts.unlink(missing_ok=True)
        lines = runner.run(command, [library], environment, timeout_s=300).stdout.splitlines()
        if repetitions:
            calls = json.loads(counts.read_text())["progress"]["calls"] if mode != "off" else []
            counted = sum(call["calls"] for call in calls)
            backgrounds[mode].append(sum(call["in_background"] for call in calls) / counted if counted else 0.0)
        return [line.split() for line in lines if line.strip()]

    def undisturbed(mode: str) -> list[list[float]]:
        for _ in range(MOST_TRIES):
            lines = launched(mode, options.repetitions, work)[1:]
            samples = [list(column) for column in zip(*([float(text) for text in line] for line in lines), strict=True)]
            shared = statistics.median(samples[1]) / statistics.median(samples[3])
            if options.compute != "real" or shared < DISTURBED:
                break
            print(f"{runner.mpi.label} {mode}: the computation had {1 / shared:.0%} of a core", file=sys.stderr)
        return samples

    backgrounds: dict[str, list[float]] = {mode: [] for mode in options.modes}
    launches: dict[str, list[list[list[float]]]] = {mode: [] for mode in options.modes}
    work = str(options.compute_share * float(launched("off", 0, "0")[0][1]))
    for i in range(options.launches):
        turn = i % len(options.modes)
        for mode in [*options.modes[turn:], *options.modes[:turn]]:
            launches[mode].append(undisturbed(mode))
    rows: list[dict[str, object]] = []
    for mode in options.modes:
        communication_s, compute_s, total_s, compute_cpu_s, cpu_s = (
            [sample for launch in launches[mode] for sample in launch[column]] for column in range(5)
        )
        # Of each launch by its medians: some launches of an MPI communicate at another speed than others.
        middles = [tuple(map(statistics.median, launch[:2])) for launch in launches[mode]]
        pairs = [
            (*middle, total) for middle, launch in zip(middles, launches[mode], strict=True) for total in launch[2]
        ]
        rows.append({
            "mpi": runner.mpi.label, "hosts": options.hosts, "bandwidth": options.bandwidth, "what": what,
            "bytes": options.bytes, "compute": options.compute, "mode": mode,
            "communication_s": quartiles(communication_s), "compute_s": quartiles(compute_s),
            "total_s": quartiles(total_s), "compute_cpu_s": quartiles(compute_cpu_s), "cpu_s": quartiles(cpu_s),
            "overlap": quartiles([(a + b - total) / min(a, b) for a, b, total in pairs]),
            "time_per_max": quartiles([total / max(a, b) for a, b, total in pairs]),
            "in_background": statistics.mean(backgrounds[mode]), "launches": launches[mode],
        })  # fmt: skip
    return rows


def plan_for(options: argparse.Namespace, what: str, folder: Path) -> Path:
    """Of one entry, also where a usual MPI would not be slower by the simulation."""
    network = Network.generate(f"star:{options.hosts}", bandwidth=options.bandwidth, latency="0")
    group = CallGroup(what, tuple(range(options.hosts)), options.bytes, options.bytes, (0,), 100, commutative=True)
    path = folder / "plan.json"
    advice = advise([group], network, options.hosts, CostModel.usual())
    write_plan(advice.plan.replace(entries=[choice.entry() for choice in advice.choices]), path)
    return path


def quartiles(values: Sequence[float]) -> list[float]:
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [*values] * 3


def show(options: argparse.Namespace, rows: Sequence[dict[str, object]]) -> None:
    def middle(row: dict[str, object], key: str) -> str:
        return f"{1e3 * row[key][1]:.1f}"  # type: ignore[index]

    def spread(row: dict[str, object], key: str) -> str:
        return "{1:.3f} ({0:.3f} - {2:.3f})".format(*row[key])  # type: ignore[misc]

    title = "{mpi}, star:{hosts} {bandwidth}, {what} of {bytes} B, {compute}, ms".format_map(rows[0])
    columns = ["mode", "communication", "compute", "total", "overlap", "total / max", "CPU", "of compute", "background"]
    table = [
        [
            str(row["mode"]), middle(row, "communication_s"), middle(row, "compute_s"), middle(row, "total_s"),
            spread(row, "overlap"), spread(row, "time_per_max"), middle(row, "cpu_s"), middle(row, "compute_cpu_s"),
            f"{row['in_background']:.0%}",
        ]
        for row in rows
    ]  # fmt: skip
    print_table(columns, table, title)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
