#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket rewrite` gains on an emulated cluster: the kernels of rewrite_gain.f90, as they are and rewritten.

Each kernel computes about as long as it communicates. The computation of the first eight is a nap, as if it had a core
of its own: what the machine does beside this measurement disturbs it less. Three that are called so compute. With
--tune the rewritten kernels also run with a plan that `hocket tune --progress on` makes for each. The prediction is
then from what the communication takes with that plan.

.venv/bin/python perf/rewrite_gain.py --mpis mpich-4.0.2 --launches 5
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from hocket import Network
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.plan import Plan
from hocket.reporter import Messages
from hocket.rewrite.call_times import CallTimes
from hocket.rewrite.costs import in_parts
from hocket.rewrite.rewriter import rewrite
from hocket.rewrite.sites import Options
from hocket.rewrite.syntax import read_source
from hocket.testbed import Testbed
from hocket.tune.tune import PLAN_FILE, TuneOptions, tune
from mpis import MPIS

SOURCE = Path(__file__).with_suffix(".f90")
#: Kernels and the part of their computation that does not need the message.
KERNELS = {
    "alltoall_and_work": 1.0,
    "broadcast_and_work": 1.0,
    "reduction_after_work": 1.0,
    "gather_and_work": 1.0,
    "halo": 0.9,
    "edge_first": 0.9,
    "fused_loop": 1.0,
    "small_reduction_and_work": 1.0,
    "computed_in_parts": 0.75,  # but see predicted_s
    "computed_in_stages": 0.75,  # all but the last of four steps
    "computed_beside_a_call": 1.0,
    "parts_and_work": 0.75,
    "stages_and_work": 0.875,  # all but the last of eight steps
    "divided_and_work": 1.0,
}
MESSAGE_BYTES = 1_000_000
#: What 200 Mbit/s move in 0.6 ms, about what a collective of no size takes on the testbed: eight pieces go in as many
#: parts.
PART_BYTES = 16_000
#: Way: whether rewritten, and `hocket run --progress`.
WAYS = {"original": (False, "off"), "rewritten": (True, "off"), "rewritten, progress": (True, "on")}
WITH_PLAN = "rewritten, plan"
#: Times that a kernel runs in a program that is tuned: in 30 the start is a small part of it.
TUNED_REPETITIONS = 30


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--bandwidth", default="200 Mbit/s")
    parser.add_argument("--launches", type=int, default=5, help="of each way")
    parser.add_argument("--repetitions", type=int, default=5, help="in each launch")
    parser.add_argument("--kernels", nargs="+", default=list(KERNELS), choices=list(KERNELS))
    parser.add_argument("--mpis", nargs="+", help="labels such as mpich-4.0.2 (default: all with a Fortran compiler)")
    parser.add_argument("--tune", action="store_true", help="with a plan too: a minute or two for each kernel and MPI")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    network = Network.generate(f"star:{options.hosts}", bandwidth=options.bandwidth, latency="0")
    rows: list[dict[str, object]] = []
    for mpi in (mpi for mpi in MPIS if mpi.mpifort and (not options.mpis or mpi.label in options.mpis)):
        parts = build_mpi_parts(mpi, report=message)
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            programs = build(str(mpi.mpifort), folder)
            runner = TestbedRunner(mpi, stack.enter_context(Testbed(network)), parts.workarounds)
            for kernel in options.kernels:
                row = measured(options, runner, network, programs, parts.interpose, kernel, folder)
                rows.append(row)
                if not options.json:
                    print(described(row), flush=True)
        gains = [row["gain"] for row in rows if row["mpi"] == mpi.label]
        print(f"{mpi.label}: median gain {statistics.median(gains):.2f}", file=sys.stderr)  # type: ignore[type-var]
    if options.json:
        print(json.dumps(rows, indent=1))
    return 0


def build(compiler: str, folder: Path) -> dict[bool, Path]:
    """The original program, and the rewritten one."""
    source = read_source(SOURCE)
    texts = {False: source.text, True: rewrite([source], Options(part_bytes=PART_BYTES)).new[SOURCE]}
    programs = {}
    for is_rewritten, text in texts.items():
        place = folder / str(is_rewritten)
        place.mkdir()
        (place / "gain.f90").write_bytes(text)
        programs[is_rewritten] = place / "gain"
        subprocess.run([compiler, "-O2", "gain.f90", "-o", "gain"], cwd=place, check=True)
    return programs


def measured(
    options: argparse.Namespace,
    runner: TestbedRunner,
    network: Network,
    programs: dict[bool, Path],
    library: Path,
    kernel: str,
    folder: Path,
) -> dict[str, object]:
    number = str(list(KERNELS).index(kernel) + 1)
    ways = dict(WAYS)
    environment: dict[str, str] = {}

    def command(way: str, work: int, repetitions: int) -> list[str]:
        program = [str(programs[ways[way][0]]), number, str(work), str(repetitions)]
        return [str(runner.mpi.mpiexec), "-n", str(options.hosts), *program]

    def seconds(way: str, work: int) -> list[float]:
        settings = {"HOCKET_PROGRESS": ways[way][1], **(environment if way == WITH_PLAN else {})}
        run = runner.run(command(way, work, options.repetitions), [library], settings, timeout_s=300)
        return [float(line) for line in run.stdout.split()]

    communication_s = statistics.median(seconds("original", 0))
    compute_s = max(communication_s, 0.02)
    work = round(1e6 * compute_s)
    if options.tune:
        ways[WITH_PLAN] = True, "on"
        target = folder / f"tuned-{kernel}"
        tuning = TuneOptions(testbed=True, timeout_s=300, progress="on")
        tune(command(WITH_PLAN, work, TUNED_REPETITIONS), network, target, tuning, Messages(message))
        environment["HOCKET_PLAN"] = str(target / PLAN_FILE)
    times: dict[str, list[float]] = {way: [] for way in ways}
    for launch in range(options.launches):
        first = launch % len(ways)
        for way in [*ways][first:] + [*ways][:first]:
            times[way].append(statistics.median(seconds(way, work)))
    predicted_s = seconds_predicted(kernel, communication_s, compute_s)
    middle = {way: statistics.median(values) for way, values in times.items()}
    row = {
        "mpi": runner.mpi.label, "kernel": kernel, "communication_s": communication_s, "compute_s": compute_s,
        "times_s": times, "predicted_gain": (communication_s + compute_s) / predicted_s,
        "gain_without_progress": middle["original"] / middle["rewritten"],
        "gain": middle["original"] / middle["rewritten, progress"],
        "gains": spread(times["original"], times["rewritten, progress"]),
    }  # fmt: skip
    if options.tune:
        plan = Plan.from_file(environment["HOCKET_PLAN"])
        planned_s = seconds_predicted(kernel, statistics.median(seconds(WITH_PLAN, 0)), compute_s)
        row |= {
            "plan_entries": len(plan.entries), "plan_progress": plan.progress,
            "predicted_gain_with_plan": (communication_s + compute_s) / planned_s,
            "gain_with_plan": middle["original"] / middle[WITH_PLAN],
            "gains_with_plan": spread(times["original"], times[WITH_PLAN]),
        }  # fmt: skip
    return row


def seconds_predicted(kernel: str, communication_s: float, compute_s: float) -> float:
    """Side by side, and what cannot be hidden; parts as `hocket rewrite --trace` plays them."""
    if "parts" in kernel:
        times = CallTimes(1, communication_s, 0.0, compute_s, MESSAGE_BYTES)
        return in_parts(times, 0.0, compute_s, PART_BYTES, has_above=False).rewritten_s
    hidden_s = KERNELS[kernel] * compute_s
    return max(communication_s, hidden_s) + compute_s - hidden_s


def spread(original: Sequence[float], rewritten: Sequence[float]) -> list[float]:
    """The gains of launches side by side, the smallest and the largest."""
    gains = [one / other for one, other in zip(original, rewritten, strict=True)]
    return [min(gains), max(gains)]


def described(row: dict[str, Any]) -> str:
    low, high = row["gains"]
    text = (
        f"{row['mpi']:14} {row['kernel']:26} communication {1e3 * row['communication_s']:6.1f} ms, "
        f"computation {1e3 * row['compute_s']:6.1f} ms: gain {row['gain']:.2f} ({low:.2f} to {high:.2f}), "
        f"{row['gain_without_progress']:.2f} without progress, predicted {row['predicted_gain']:.2f}"
    )
    if "gain_with_plan" not in row:
        return text
    low, high = row["gains_with_plan"]
    return (
        f"{text}; with a plan of {row['plan_entries']} entries {row['gain_with_plan']:.2f} ({low:.2f} to {high:.2f}), "
        f"predicted {row['predicted_gain_with_plan']:.2f}"
    )


def message(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
