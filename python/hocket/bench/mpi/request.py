# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket bench run`, `show` and `compare` ask for."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hocket.bench.common import check_folder
from hocket.bench.mpi.capabilities import capability_file, remember
from hocket.bench.mpi.comparison import Comparison, compare
from hocket.bench.mpi.launches import Launcher
from hocket.bench.mpi.results import Point, Results, read_results
from hocket.bench.mpi.statistics import Summary, summarize
from hocket.bench.mpi.suites import suite_file
from hocket.errors import InvalidInput
from hocket.mpi.build import build_bench
from hocket.mpi.discover import default_mpi, mpi_of_command
from hocket.reporter import SILENT, Reporter

SUMMARY_FORMAT = "hocket.bench-summary/1"


@dataclass(frozen=True)
class BenchRequest:
    suite: str  #: a file, or the name of a suite that comes with hocket
    command: tuple[str, ...]  #: the launcher with its options, without a program
    output: Path = Path("hocket-bench")  #: the folder for the results
    quick: bool = False  #: as the suite's table [quick] says
    launches: int | None = None  #: None = as the suite says
    budget_s: float | None = None  #: for all launches; None = as the suite says
    timeout_s: float = 20.0  #: of an item that shows no life
    dry_run: bool = False
    probe_again: bool = False  #: do not take what the MPI can do from earlier runs
    force: bool = False  #: remove an earlier result of another suite


@dataclass(frozen=True)
class ShowRequest:
    results: Path  #: a folder of `hocket bench run`, or its file


@dataclass(frozen=True)
class CompareRequest:
    before: Path
    after: Path
    within: float = 0.05  #: ratios within this count as the same


@dataclass(frozen=True)
class BenchResult:
    results: Results

    @property
    def rows(self) -> list[tuple[Point, str, str, Summary | None]]:
        """Each point with its status, the reason, and what was measured."""
        target = float(self.results.suite["target"])
        rows = []
        for point in self.results.points:
            outcome = self.results.outcome(point)
            launches = self.results.launches(point)
            summary = summarize(launches) if launches else None
            status, reason = (outcome.status, outcome.message) if outcome else ("not yet", "")
            if status == "ok":
                status = "not yet" if summary is None else "known" if summary.is_known(target) else "wide"
            rows.append((point, status, reason, summary))
        return rows

    @property
    def values(self) -> dict[str, Any]:
        return {
            "format": SUMMARY_FORMAT,
            "suite": self.results.suite["name"],
            "mpi": self.results.runs[0]["mpi"] if self.results.runs else None,
            "launches": len(self.results.ended),
            "complete": len(self.results.ended) >= self.results.suite["launches"],
            "points": [_row(*row) for row in self.rows],
        }


@dataclass(frozen=True)
class PlanResult:
    values: dict[str, Any]  #: what would be measured


def run(
    request: BenchRequest | ShowRequest | CompareRequest, reporter: Reporter = SILENT
) -> BenchResult | Comparison | PlanResult:
    if isinstance(request, ShowRequest):
        return BenchResult(read_results(request.results))
    if isinstance(request, CompareRequest):
        return compare(read_results(request.before), read_results(request.after), request.within)
    return _run(request, reporter)


def _run(request: BenchRequest, reporter: Reporter) -> BenchResult | PlanResult:
    suite = suite_file(request.suite)
    launcher_name = Path(request.command[0]).name
    mpi = default_mpi() if launcher_name == "srun" else mpi_of_command(request.command)
    arguments = [str(suite)]
    if request.quick:
        arguments.append("--quick")
    if request.launches is not None:
        arguments += ["--launches", str(request.launches)]
    if request.budget_s is not None:
        arguments += ["--budget", str(request.budget_s)]
    if request.dry_run:
        program = build_bench(mpi, reporter.message)
        launcher = Launcher(request.command, mpi, program, tuple(arguments), request.output, request.timeout_s)
        return PlanResult(json.loads(launcher.print_plan()))
    folder = request.output
    output = folder / "results.jsonl"
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder}: is no folder", "name another one with -o")
    check_folder(folder)
    if request.force and output.exists():
        output.unlink()
    program = build_bench(mpi, reporter.message)
    scratch = folder / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        known = capability_file(mpi, program, request.command, folder)
        if known.exists() and not request.probe_again:
            arguments += ["--known", str(known)]
        arguments += ["--folder", str(scratch.absolute())]
        launcher = Launcher(request.command, mpi, program, tuple(arguments), output.absolute(), request.timeout_s)
        results = launcher.run_all(reporter)
        remember(known, results)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return BenchResult(results)


def _row(point: Point, status: str, reason: str, summary: Summary | None) -> dict[str, Any]:
    return {
        "item": point.item,
        "number": point.number,
        "bytes": point.size_bytes,
        "ranks": point.ranks,
        "options": dict(point.options),
        "variant": point.variant,
        "status": status,
        "reason": reason,
        "measured": None if summary is None else asdict(summary),
    }
