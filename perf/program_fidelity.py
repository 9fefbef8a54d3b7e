# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How near a replay comes to the time of whole programs, native and with a plan, on an emulated cluster.

For each program and MPI: fit what messages cost, record the program once, choose schedules by simulation alone, predict
both runs by replaying the trace, and run the program natively and with the plan in turns. The programs are solvers of
others, which you fetch and compile: BINARIES/MPI-LABEL/NAME is the executable of one with one MPI, such as
BINARIES/mpich-4.0.2/hpcg. A line names each that is missing there.

Traces and times are kept in FOLDER; a run that was interrupted goes on from there. Predictions are made anew each time,
so that a change of the model needs no new measurement.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket import CostModel, Network, simulate
from hocket.advise import advise, cover, group_calls
from hocket.advise.cover import Verdict
from hocket.bench.fidelity.fidelity import QUICK
from hocket.bench.fidelity.measure import Bench
from hocket.cli.common import message, print_json, print_table
from hocket.errors import Error
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.plan import Plan, write_plan
from hocket.testbed import Testbed
from hocket.traces.recording import trace_environment
from hocket.traces.replay import replay_at
from hocket.traces.trace import Trace
from mpis import MPIS

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_S = 300.0  # of one run of a program
KINDS = ("native", "plan")


@dataclass(frozen=True)
class Solver:
    name: str  # of the executable
    source: str
    arguments: tuple[str, ...]  # with eight ranks natively a few seconds on networks/two-clusters.toml
    held_out: bool = False  # for a last check: nothing of the model is chosen or corrected by what it shows


SOLVERS = (
    Solver("comd", "github.com/ECP-copa/CoMD, C", ("-i2", "-j2", "-k2", "-x20", "-y20", "-z20", "-N60")),
    Solver("hpcg", "github.com/hpcg-benchmark/hpcg, C++", ("--nx=16", "--ny=16", "--nz=16", "--rt=0")),
    Solver("is.A.x", "NPB 3.4.1, IS class A, C", ()),
    Solver("lulesh", "github.com/LLNL/LULESH, C++", ("-s", "14", "-i", "150"), held_out=True),
)


@dataclass(frozen=True)
class Case:
    solver: Solver
    executable: Path
    network: Network
    bench: Bench
    folder: Path

    def measure(self, rounds: int) -> None:
        """What is still missing of the recording, the plan and the rounds."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._times.exists():
            shutil.rmtree(self._trace, ignore_errors=True)
            self._trace.mkdir()
            recorded_s = self._run([self.bench.parts.record], trace_environment(self._trace))
            self._choose()
            self._times.write_text(json.dumps({"recorded_s": recorded_s, "native_s": [], "plan_s": []}))
        times = json.loads(self._times.read_text())
        settings = {"HOCKET_PLAN": str(self._plan)}
        while len(times["plan_s"]) < rounds:
            times["native_s"].append(self._run())
            times["plan_s"].append(self._run([self.bench.parts.interpose], settings))
            self._times.write_text(json.dumps(times))

    def _run(self, libraries: list[Path] = [], settings: dict[str, str] | None = None) -> float:  # noqa: B006
        command = [str(self.bench.runner.mpi.mpiexec), "-n", str(self.network.num_ranks), str(self.executable)]
        with contextlib.chdir(self.folder):  # where programs write their reports
            return self.bench.runner.run(
                [*command, *self.solver.arguments], libraries, settings, TIMEOUT_S, self.solver.name
            ).wall_s

    def _choose(self) -> None:
        """Every collective by the schedule that the model calls best, whether it gains or not."""
        trace = Trace.open(self._trace)
        advice = advise(group_calls(trace, network=self.network), self.bench.emulated, trace.ranks, self._costs)
        verdicts = [Verdict(choice, choice.entry()) for choice in advice.choices]
        entries = cover(verdicts, self.bench.emulated, self._costs)
        write_plan(advice.plan.replace(entries=entries, hosts=trace.hosts), self._plan)

    def predicted_s(self, kind: str) -> float:
        """The replay from MPI_Init to MPI_Finalize, and what the recorded run spent before and after."""
        trace = Trace.open(self._trace)
        plan = Plan.from_file(self._plan) if kind == "plan" else None
        replayed = replay_at(self._costs, trace, plan)
        outside_s = json.loads(self._times.read_text())["recorded_s"] - replayed.recorded_span_s
        return outside_s + simulate(replayed.program, self.bench.emulated, self._costs).makespan_s

    def rows(self) -> Iterator[dict[str, Any]]:
        times = json.loads(self._times.read_text())
        span_s = replay_at(self._costs, Trace.open(self._trace)).recorded_span_s
        for kind in KINDS:
            measured_s, predicted_s = times[f"{kind}_s"], self.predicted_s(kind)
            yield {
                "program": self.solver.name,
                "held_out": self.solver.held_out,
                "mpi": self.bench.runner.mpi.label,
                "network": self.network.name,
                "kind": kind,
                "predicted_s": predicted_s,
                "measured_s": statistics.median(measured_s),
                "least_s": min(measured_s),
                "most_s": max(measured_s),
                "runs": len(measured_s),
                "recorded_s": times["recorded_s"],
                "outside_s": times["recorded_s"] - span_s,
                "ratio": predicted_s / statistics.median(measured_s),
            }

    @property
    def _costs(self) -> CostModel:
        return costs_of(self.bench, self.folder.parent / "costs.json")

    @property
    def _trace(self) -> Path:
        return self.folder / "trace"

    @property
    def _plan(self) -> Path:
        return self.folder / "plan.json"

    @property
    def _times(self) -> Path:
        return self.folder / "times.json"


def costs_of(bench: Bench, path: Path) -> CostModel:
    """What messages cost with this MPI on this network, measured unless the file has it."""
    if not path.exists():
        message(f"{bench.network.name}, {bench.runner.mpi.label}: measuring what messages cost")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(bench.fit().costs.to_dict(), indent=1))
    return CostModel(**json.loads(path.read_text()))


def cases(options: argparse.Namespace, network: Network, bed: Testbed) -> Iterator[Case]:
    for mpi in options.mpis:
        parts = build_mpi_parts(mpi, report=message)
        bench = Bench(network, "in order", TestbedRunner(mpi, bed, parts.workarounds), parts, QUICK, lambda _: None)
        for solver in options.solvers:
            executable = options.binaries / mpi.label / solver.name
            if not os.access(executable, os.X_OK):
                message(f"{solver.name}, {mpi.label}: left out: no executable {executable}")
                continue
            yield Case(solver, executable, network, bench, options.folder / network.name / mpi.label / solver.name)


def main() -> int:
    options = _options()
    rows = []
    for path in options.networks:
        network = Network.from_file(str(path))
        with Testbed(network) as bed:
            for case in cases(options, network, bed):
                try:
                    costs_of(case.bench, case.folder.parent / "costs.json")
                    case.measure(options.rounds)
                except Error as error:
                    message(f"{case.solver.name}, {case.bench.runner.mpi.label}: failed: {error}")
                    continue
                rows += case.rows()
                message(describe(rows[-2]) + "; " + describe(rows[-1]))
    if options.json:
        print_json({"rows": rows, "errors": errors(rows)})
        return 0 if rows else 1
    columns = ("program", "MPI", "network", "run", "predicted, s", "measured, s", "of", "predicted / measured")
    print_table(columns, [_cells(row) for row in rows])
    for name, found in errors(rows).items():
        print(f"{name}: {found['runs']} runs, error in the median {found['median']:.1%}, at most {found['most']:.1%}")
    return 0 if rows else 1


def describe(row: dict[str, Any]) -> str:
    times = f"predicted {row['predicted_s']:.2f} s, measured {row['measured_s']:.2f} s"
    return f"{row['program']}, {row['mpi']}, {row['kind']}: {times} ({row['ratio']:.2f})"


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    spread = f"{row['least_s']:.2f} .. {row['most_s']:.2f}"
    return (
        row["program"] + (" (held out)" if row["held_out"] else ""),
        row["mpi"],
        row["network"],
        row["kind"],
        f"{row['predicted_s']:.2f}",
        f"{row['measured_s']:.2f} ({spread})",
        str(row["runs"]),
        f"{row['ratio']:.2f}",
    )


def errors(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Of |predicted / measured - 1|."""
    found = {}
    for name, kinds, held_out in (
        *((f"{kind}, without those held out", (kind,), False) for kind in KINDS),
        ("held out", KINDS, True),
        ("all", KINDS, None),
    ):
        some = [
            abs(row["ratio"] - 1)
            for row in rows
            if row["kind"] in kinds and (held_out is None or row["held_out"] == held_out)
        ]
        if some:
            found[name] = {"runs": len(some), "median": statistics.median(some), "most": max(some)}
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="Programs: " + "; ".join(f"{one.name} ({one.source})" for one in SOLVERS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("binaries", type=Path, metavar="BINARIES", help="folder of a folder for each MPI")
    names, labels = [solver.name for solver in SOLVERS], [mpi.label for mpi in MPIS]
    parser.add_argument("--program", action="append", choices=names, help="default: all but those held out")
    parser.add_argument("--mpi", action="append", choices=labels, help="default: all")
    parser.add_argument("--network", action="append", metavar="NAME", help="of networks/; default: two-clusters")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind; default: 3")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/program-fidelity", help="default: %(default)s")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.binaries, options.folder = options.binaries.resolve(), options.folder.resolve()
    options.solvers = [one for one in SOLVERS if one.name in (options.program or names)]
    if not options.program:
        options.solvers = [one for one in options.solvers if not one.held_out]
    options.mpis = [mpi for mpi in MPIS if mpi.label in (options.mpi or labels)]
    options.networks = [ROOT / f"networks/{name}.toml" for name in options.network or ["two-clusters"]]
    for path in options.networks:
        if not path.is_file():
            parser.error(f"--network {path.stem}: networks/ has no such file")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


if __name__ == "__main__":
    sys.exit(main())
