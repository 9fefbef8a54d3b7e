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
from hocket.measure.compare import Launch
from hocket.measure.eager import measure_rendezvous_bytes
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.plan import Plan, write_plan
from hocket.testbed import Testbed
from hocket.traces.recording import trace_environment
from hocket.traces.replay import replay_at
from hocket.traces.small_sends import costs_in_program
from hocket.traces.trace import Trace
from hocket.tune.costs import measure_costs
from hocket.tune.training import training_entries
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
    Solver("lu.W.x", "NPB 3.4.1, LU class W, Fortran", (), held_out=True),
    Solver("lulesh", "github.com/LLNL/LULESH, C++", ("-s", "14", "-i", "150"), held_out=True),
)


@dataclass(frozen=True)
class Training:
    """What the training collectives took, one launch a round, kept in a file."""

    bench: Bench
    path: Path

    def measure(self, rounds: int) -> None:
        """What is still missing of the rounds."""
        if len(self._launches()) >= rounds:
            return
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            limit = measure_rendezvous_bytes(self.bench.command, self.bench.runner, self.bench.parts, TIMEOUT_S)
            self._write(limit, [])
        entries = training_entries(self.bench.ranks, self._known().rendezvous_limit_bytes)
        launch = self.bench.launch(entries, "what messages cost", only_schedules=True)
        times: list[list[float] | None] = [None if one is None else list(one[0].tuned_s) for one in launch]
        self._write(self._known().rendezvous_bytes, [*self._launches(), times])

    def fit(self) -> CostModel:
        """Fitted to the launches so far."""
        launches = [
            [None if times is None else (Launch((), tuple(times)), True) for times in launch]
            for launch in self._launches()
        ]
        following = iter(launches)
        members = range(self.bench.ranks)
        fit = measure_costs(self.bench.emulated, members, self._known(), lambda _: next(following), len(launches))
        return fit.costs

    def _known(self) -> CostModel:
        limit = json.loads(self.path.read_text())["rendezvous_bytes"]
        return self.bench.runner.costs_here(CostModel.usual().replace(rendezvous_bytes=limit))

    def _launches(self) -> list[list[list[float] | None]]:
        return list(json.loads(self.path.read_text())["launches"]) if self.path.exists() else []

    def _write(self, limit: int | None, launches: list[list[list[float] | None]]) -> None:
        self.path.write_text(json.dumps({"rendezvous_bytes": limit, "launches": launches}))


@dataclass(frozen=True)
class Case:
    solver: Solver
    executable: Path
    network: Network
    bench: Bench
    folder: Path

    def measure(self, turn: int, costs: CostModel) -> None:
        """Round `turn`, from 0 on, unless it has been measured; the first chooses the plan with `costs`."""
        times = self._times()
        if len(times["plan_s"]) > turn:
            return
        trace = self._trace(turn)
        shutil.rmtree(trace, ignore_errors=True)
        trace.mkdir(parents=True)
        recorded_s = self._run([self.bench.parts.record], trace_environment(trace))
        if turn == 0:
            self._choose(costs)
        native_s = self._run()
        plan_s = self._run([self.bench.parts.interpose], {"HOCKET_PLAN": str(self._plan)})
        for name, taken_s in (("recorded_s", recorded_s), ("native_s", native_s), ("plan_s", plan_s)):
            times[name] = [*times[name][:turn], taken_s]
        self._times_path.write_text(json.dumps(times))

    def _run(self, libraries: list[Path] = [], settings: dict[str, str] | None = None) -> float:  # noqa: B006
        command = [str(self.bench.runner.mpi.mpiexec), "-n", str(self.network.num_ranks), str(self.executable)]
        with contextlib.chdir(self.folder):  # where programs write their reports
            return self.bench.runner.run(
                [*command, *self.solver.arguments], libraries, settings, TIMEOUT_S, self.solver.name
            ).wall_s

    def _choose(self, costs: CostModel) -> None:
        """Every collective by the schedule that the model calls best, whether it gains or not."""
        trace = Trace.open(self._trace(0))
        advice = advise(group_calls(trace, network=self.network), self.bench.emulated, trace.ranks, costs)
        verdicts = [Verdict(choice, choice.entry()) for choice in advice.choices]
        entries = cover(verdicts, self.bench.emulated, costs)
        write_plan(advice.plan.replace(entries=entries, hosts=trace.hosts), self._plan)

    def rows(self, costs: CostModel) -> Iterator[dict[str, Any]]:
        times = self._times()
        traces = [Trace.open(self._trace(turn)) for turn in range(len(times["recorded_s"]))]
        for kind in KINDS:
            plan = Plan.from_file(self._plan) if kind == "plan" else None
            predicted = [
                self._predicted_s(trace, recorded_s, plan, costs_in_program(costs, trace))
                for trace, recorded_s in zip(traces, times["recorded_s"], strict=True)
            ]
            measured = times[f"{kind}_s"]
            yield {
                "program": self.solver.name,
                "held_out": self.solver.held_out,
                "mpi": self.bench.runner.mpi.label,
                "network": self.network.name,
                "kind": kind,
                "predicted_s": statistics.median(predicted),
                "predicted_each_s": predicted,
                "measured_s": statistics.median(measured),
                "measured_each_s": measured,
                "recorded_s": times["recorded_s"],
                "ratio": statistics.median(predicted) / statistics.median(measured),
            }

    def _predicted_s(self, trace: Trace, recorded_s: float, plan: Plan | None, costs: CostModel) -> float:
        """The replay from MPI_Init to MPI_Finalize, and what the recorded run spent before and after."""
        replayed = replay_at(costs, trace, plan)
        outside_s = recorded_s - replayed.recorded_span_s
        return outside_s + simulate(replayed.program, self.bench.emulated, costs).makespan_s

    def _times(self) -> dict[str, list[float]]:
        if self._times_path.exists():
            return dict(json.loads(self._times_path.read_text()))
        return {"recorded_s": [], "native_s": [], "plan_s": []}

    def _trace(self, turn: int) -> Path:
        return self.folder / f"trace-{turn}"

    @property
    def _plan(self) -> Path:
        return self.folder / "plan.json"

    @property
    def _times_path(self) -> Path:
        return self.folder / "times.json"


def setups(options: argparse.Namespace, network: Network, bed: Testbed) -> Iterator[tuple[Training, list[Case]]]:
    """Of each MPI: its costs and the programs that are compiled with it."""
    for mpi in options.mpis:
        parts = build_mpi_parts(mpi, report=message)
        bench = Bench(network, "in order", TestbedRunner(mpi, bed, parts.workarounds), parts, QUICK, lambda _: None)
        folder, found = options.folder / network.name / mpi.label, []
        for solver in options.solvers:
            executable = options.binaries / mpi.label / solver.name
            if os.access(executable, os.X_OK):
                found.append(Case(solver, executable, network, bench, folder / solver.name))
            else:
                message(f"{solver.name}, {mpi.label}: left out: no executable {executable}")
        if found:
            yield Training(bench, folder / "training.json"), found


def measure(training: Training, cases: list[Case], rounds: int) -> list[Case]:
    """Those that have not failed."""
    left = list(cases)
    for turn in range(rounds):
        message(f"{training.bench.network.name}, {training.bench.runner.mpi.label}: round {turn + 1} of {rounds}")
        training.measure(turn + 1)
        if turn == 0:
            costs = training.fit()
        for case in list(left):
            try:
                case.measure(turn, costs)
            except Error as error:
                message(f"{case.solver.name}, {training.bench.runner.mpi.label}: failed: {error}")
                left.remove(case)
    return left


def main() -> int:
    options = _options()
    rows: list[dict[str, Any]] = []
    for path in options.networks:
        network = Network.from_file(str(path))
        with Testbed(network) as bed:
            for training, cases in setups(options, network, bed):
                left = measure(training, cases, options.rounds)
                costs = training.fit()
                for case in left:
                    rows += case.rows(costs)
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
    measured, predicted = (
        f"{row[f'{kind}_s']:.2f} ({min(row[f'{kind}_each_s']):.2f} .. {max(row[f'{kind}_each_s']):.2f})"
        for kind in ("measured", "predicted")
    )
    return (
        row["program"] + (" (held out)" if row["held_out"] else ""),
        row["mpi"],
        row["network"],
        row["kind"],
        predicted,
        measured,
        str(len(row["measured_each_s"])),
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
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
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
