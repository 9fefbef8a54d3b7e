# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How much a plan gains at other sizes, roots and seeds than those it was tuned at, beside a plan tuned anew there.

On an emulated cluster, for each program of perf/programs, MPI and network: tune at the usual size and at each other
point, then run each point natively, with the first plan and with its own, in turns. Whatever is done is kept in
FOLDER/points.jsonl, one line each; a run that was interrupted or ran out of time goes on from there. Use another folder
after a change of hocket.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from mpi_programs import PROGRAMS, MpiProgram, prepare
from plan_reuse_summary import COLUMNS, KINDS, row, sentences, summary

from hocket import Network
from hocket.cli.common import message, print_json, print_table
from hocket.cli.options import seconds
from hocket.errors import Error
from hocket.measure.runner import Runner
from hocket.measure.testbed import TestbedRunner
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.plan import Plan
from hocket.reporter import Messages
from hocket.testbed import Testbed
from hocket.tune.evidence import LEAST_RUNS
from hocket.tune.tune import PLAN_FILE, TuneOptions, tune
from mpis import MPIS

ROOT = Path(__file__).resolve().parent.parent
FACTORS = (0.5, 0.8, 1.5, 3.0)
TIMEOUT_S = 300.0  # of one run of a program


@dataclass(frozen=True)
class Point:
    network: str
    mpi: str
    program: str
    factor: float = 1  # of the size that the first plan is tuned at
    other: bool = False  # with another root or seed than that

    @property
    def is_first(self) -> bool:
        return self.factor == 1 and not self.other

    @property
    def label(self) -> str:
        return f"x{self.factor:g}{'-other' if self.other else ''}"


class Journal:
    """Lines of JSON, each written at once, so that an interrupt costs one at most."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.lines: list[dict[str, Any]] = []
        if path.exists():
            text = path.read_text()
            whole = text[: text.rfind("\n") + 1]  # without what an interrupted write left
            self.lines = [json.loads(line) for line in whole.splitlines()]
            os.truncate(path, len(whole.encode()))

    def add(self, what: str, point: Point, **values: Any) -> None:
        self.lines.append({"what": what, **asdict(point), **values})
        with self._path.open("a") as file:
            file.write(json.dumps(self.lines[-1]) + "\n")

    def of(self, what: str, point: Point) -> list[dict[str, Any]]:
        wanted = {"what": what, **asdict(point)}
        return [line for line in self.lines if wanted.items() <= line.items()]

    def points(self) -> list[Point]:
        names = [field.name for field in fields(Point)]
        return list(dict.fromkeys(Point(**{name: line[name] for name in names}) for line in self.lines))


class OutOfTime(Exception):
    pass


@dataclass(frozen=True)
class Bench:
    """One program with one MPI on one network: its plans, and runs with them."""

    program: MpiProgram
    mpi: Mpi
    network: Path
    folder: Path
    journal: Journal
    deadline: float

    def measure(self, points: list[Point], rounds: int) -> None:
        """Tunes at all points, then runs all in each round, so that a change of the machine's load meets them alike."""
        self._attempt(points[0], self._tune)
        if not self.journal.of("tune", points[0]):
            return
        for point in points[1:]:
            self._attempt(point, self._tune)
        tuned = [point for point in points if self.journal.of("tune", point)]
        parts = build_mpi_parts(self.mpi, report=message)
        with Testbed(Network.from_file(str(self.network))) as bed:
            runner = TestbedRunner(self.mpi, bed, parts.workarounds)
            for number in range(rounds):
                for point in tuned:
                    if len(self.journal.of("round", point)) <= number:
                        self._attempt(point, self._run, points[0], number, runner, parts.interpose)

    def _attempt(self, point: Point, step: Callable[..., None], *arguments: Any) -> None:
        """What fails is written down and tried again when this is started again."""
        if time.monotonic() > self.deadline:
            raise OutOfTime
        try:
            step(point, *arguments)
        except Error as error:
            message(f"{self._title(point)}: failed: {error}")
            self.journal.add("failure", point, message=str(error))

    def _tune(self, point: Point) -> None:
        if self.journal.of("tune", point):
            return
        message(f"{self._title(point)}: tuning")
        # As many runs as the plan's last check needs: with fewer, one that slows the program is not withdrawn.
        options = TuneOptions(repetitions=LEAST_RUNS, testbed=True, timeout_s=TIMEOUT_S)
        started, target = time.monotonic(), self._result(point)
        target.parent.mkdir(parents=True, exist_ok=True)
        network = Network.from_file(str(self.network))
        tune(self._command(point), network, target, options, Messages(lambda text: message(f"    {text}")))
        entries = len(Plan.from_file(target / PLAN_FILE).entries)
        self.journal.add("tune", point, tune_s=time.monotonic() - started, entries=entries)

    def _run(self, point: Point, first: Point, number: int, runner: Runner, interpose: Path) -> None:
        plans = {"first": self._result(first) / PLAN_FILE, "anew": self._result(point) / PLAN_FILE}
        kinds = KINDS[:2] if point.is_first else KINDS
        turn = number % len(kinds)
        values: dict[str, Any] = {}
        outputs = set()
        for kind in (*kinds[turn:], *kinds[:turn]):
            statistics = self.folder / f"statistics-{kind}.json"
            statistics.unlink(missing_ok=True)
            settings = {"HOCKET_PLAN": str(plans[kind]), "HOCKET_STATISTICS": str(statistics)} if kind in plans else {}
            libraries = [interpose] if kind in plans else []
            run = runner.run(self._command(point), libraries, settings, TIMEOUT_S, f"the program ({kind})")
            outputs.add(run.stdout)
            values[f"{kind}_s"] = run.wall_s
            if kind in plans:
                values[f"{kind}_served"] = _served(statistics, "calls")
                values[f"{kind}_served_time"] = _served(statistics, "time_s")
        self.journal.add("round", point, same_output=len(outputs) == 1, **values)
        times = ", ".join(f"{kind} {values[f'{kind}_s']:.2f} s" for kind in kinds)
        message(f"{self._title(point)}: round {number + 1}: {times}")

    def _command(self, point: Point) -> list[str]:
        launcher = [str(self.mpi.mpiexec), "-n", str(Network.from_file(str(self.network)).num_ranks)]
        words = prepare(self.program, self.mpi, self.folder / "programs")
        return [*launcher, *words, *self.program.arguments(point.factor, point.other)]

    def _result(self, point: Point) -> Path:
        return self.folder / self.program.name / point.label

    def _title(self, point: Point) -> str:
        return f"{point.program} {point.label}, {point.mpi}, {point.network}"


def _served(statistics: Path, unit: str) -> float:
    """Share of the collective calls of all ranks, or of their time, that went by a schedule; `unit`: "calls", "time_s".

    A plan without entries writes no file.
    """
    if not statistics.exists():
        return 0
    counts = json.loads(statistics.read_text())["calls"]
    total = sum(count[unit] for count in counts)
    by_schedule = sum(count[unit] for count in counts if count["outcome"] in ("measured", "derived"))
    return float(by_schedule / total) if total else 0


def points_of(program: MpiProgram, mpi: Mpi, network: Path, factors: list[float]) -> list[Point]:
    """The one that the first plan is tuned at, and the others: each size, and the other root or seed."""
    place = (network.stem, mpi.label, program.name)
    first = Point(*place)
    return [first, *(Point(*place, factor) for factor in factors if factor != 1), Point(*place, other=True)]


def summaries(journal: Journal, points: list[Point]) -> list[dict[str, Any]]:
    found = []
    for point in points:
        tuned, rounds, failures = (journal.of(what, point) for what in ("tune", "round", "failure"))
        if tuned or failures:
            failure = failures[-1]["message"] if failures and not rounds else None
            found.append({**asdict(point), "point": point.label, **summary(rounds), "failure": failure})
    return found


def main() -> int:
    options = _options()
    folder: Path = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(folder / "points.jsonl")
    deadline = time.monotonic() + options.time
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    points, status = journal.points() if options.show else [], 0
    try:
        for network, mpi, program in _cases(options):
            of_case = points_of(program, mpi, network, options.factors)
            points += of_case
            case = network, folder / network.stem / mpi.label, journal, deadline
            Bench(program, mpi, *case).measure(of_case, options.rounds)
    except OutOfTime:
        message(f"{options.time:.0f} s are over; start it again to go on")
    except KeyboardInterrupt:
        message("interrupted; start it again to go on")
        status = 130
    found = summaries(journal, points)
    if options.json:
        print_json(found)
        return status
    print_table(COLUMNS, [row(one) for one in found])
    for line in sentences(found):
        print(line)
    return status


def _cases(options: argparse.Namespace) -> Iterable[tuple[Path, Mpi, MpiProgram]]:
    return () if options.show else itertools.product(options.networks, options.mpis, options.programs)


def _options() -> argparse.Namespace:
    usual = [program.name for program in PROGRAMS if not program.held_out]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--program",
        dest="programs",
        action="append",
        metavar="NAME",
        help=f"of {' '.join(program.name for program in PROGRAMS)}; default: {' '.join(usual)}",
    )
    parser.add_argument(
        "--mpi",
        dest="mpis",
        action="append",
        metavar="LABEL",
        help=f"of {' '.join(mpi.label for mpi in MPIS)}; default: all",
    )
    parser.add_argument(
        "--network",
        dest="networks",
        action="append",
        metavar="NAME",
        help="of a file in networks/, or its path; default: two-clusters",
    )
    parser.add_argument("--factors", type=float, nargs="+", default=list(FACTORS), help="of the size")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind at each point; default: 5")
    parser.add_argument(
        "--time",
        type=seconds,
        default=3600.0,
        metavar="TIME",
        help="begin nothing after that, such as 1800 or 30min; default: 1h",
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build/plan-reuse", help="default: build/plan-reuse")
    parser.add_argument("--show", action="store_true", help="measure nothing, show all that the folder has")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    programs = {program.name: program for program in PROGRAMS}
    mpis = {mpi.label: mpi for mpi in MPIS}
    options.programs = [_one_of(programs, name, parser) for name in options.programs or usual]
    options.mpis = [_one_of(mpis, label, parser) for label in options.mpis or mpis]
    options.networks = [_network(text, parser) for text in options.networks or ["two-clusters"]]
    if options.rounds < 1 or not all(0 < factor <= 1000 for factor in options.factors):
        parser.error("--rounds must be at least 1, --factors above 0 and at most 1000")
    return options


def _one_of(known: dict[str, Any], name: str, parser: argparse.ArgumentParser) -> Any:
    if name not in known:
        parser.error(f"{name} is not known; known are: {' '.join(known)}")
    return known[name]


def _network(text: str, parser: argparse.ArgumentParser) -> Path:
    for path in (Path(text), ROOT / f"networks/{text}.toml"):
        if path.is_file():
            return path.resolve()
    parser.error(f"--network {text}: no such file, and networks/ has none of that name")


if __name__ == "__main__":
    sys.exit(main())
