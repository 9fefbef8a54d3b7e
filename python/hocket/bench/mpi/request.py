# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket bench run`, `show`, `compare`, `guidelines` and `items` ask for."""

from __future__ import annotations

import fcntl
import json
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hocket.bench.common import check_folder
from hocket.bench.mpi.capabilities import capability_file, remember
from hocket.bench.mpi.comparison import WITHIN, Comparison, compare
from hocket.bench.mpi.find import FIRST, Found, find_difference
from hocket.bench.mpi.guidelines import Checks, check
from hocket.bench.mpi.launcher import Launcher
from hocket.bench.mpi.measure import measure
from hocket.bench.mpi.page import page
from hocket.bench.mpi.results import read_results
from hocket.bench.mpi.suites import numbered_items, suite_file
from hocket.bench.mpi.summary import BenchResult
from hocket.errors import InvalidInput
from hocket.io.files import write_whole
from hocket.mpi.build import build_bench
from hocket.mpi.discover import default_mpi
from hocket.mpi.of_command import mpi_of_command
from hocket.networks.source import NetworkSource
from hocket.reporter import SILENT, Reporter
from hocket.testbed.layout import make_layout

Command = tuple[str, ...]
TIMEOUT_S = 20.0


@dataclass(frozen=True)
class BenchRequest:
    suite: str  #: a file, or the name of a suite that comes with hocket
    command: Command  #: the launcher with its options, without a program
    output: Path = Path("hocket-bench")  #: the folder for the results
    quick: bool = False  #: as the suite's table [quick] says
    launches: int | None = None  #: None = as the suite says
    budget_s: float | None = None  #: for all launches of a command; None = as the suite says
    timeout_s: float = TIMEOUT_S  #: of an item that shows no life
    dry_run: bool = False
    probe_again: bool = False  #: do not take what the MPI can do from earlier runs
    force: bool = False  #: remove an earlier result of another suite
    against: tuple[Command, ...] = ()  #: further commands, measured in turns with the first and compared with it
    within: float = WITHIN  #: ratios within this count as the same
    network: str | None = None  #: to emulate; every launch runs on its hosts
    find: float | None = None  #: as many launches as find a difference of this part; None = as the suite says


@dataclass(frozen=True)
class ShowRequest:
    results: Path  #: a folder of `hocket bench run`, or its file


@dataclass(frozen=True)
class CompareRequest:
    before: Path
    after: Path
    within: float = WITHIN  #: ratios within this count as the same


@dataclass(frozen=True)
class GuidelinesRequest:
    results: Path
    within: float = WITHIN  #: what takes longer by at most this part keeps its guideline


@dataclass(frozen=True)
class ItemsRequest:
    word: str = ""  #: only items with this in their name or their description


@dataclass(frozen=True)
class ItemsResult:
    items: list[dict[str, Any]]  #: name, what it measures, options
    numbered: dict[str, int]  #: items with a number, by shipped suite

    @property
    def values(self) -> dict[str, Any]:
        return {"items": self.items, "numbered": self.numbered}


@dataclass(frozen=True)
class InTurns:
    """Of several commands: the first one's result, and how it differs from each other one's."""

    result: BenchResult
    others: tuple[BenchResult, ...]
    comparisons: tuple[Comparison, ...]  #: before: the other, after: the first
    found: Found | None = None  #: with `find`

    @property
    def values(self) -> dict[str, Any]:
        return {
            "format": "hocket.bench-in-turns/1",
            "result": self.result.values,
            "others": [other.values for other in self.others],
            "comparisons": [comparison.values for comparison in self.comparisons],
            "find": None if self.found is None else asdict(self.found),
        }


@dataclass(frozen=True)
class PlanResult:
    values: dict[str, Any]  #: what would be measured, for each command


def run(
    request: BenchRequest | ShowRequest | CompareRequest | GuidelinesRequest | ItemsRequest, reporter: Reporter = SILENT
) -> BenchResult | Comparison | PlanResult | InTurns | Checks | ItemsResult:
    if isinstance(request, ShowRequest):
        return BenchResult(read_results(request.results))
    if isinstance(request, CompareRequest):
        return compare(read_results(request.before), read_results(request.after), request.within)
    if isinstance(request, GuidelinesRequest):
        return _check(request)
    if isinstance(request, ItemsRequest):
        return _items(request, reporter)
    return _run(request, reporter)


def _check(request: GuidelinesRequest) -> Checks:
    found = check(read_results(request.results), request.within)
    if not found.checks:
        raise InvalidInput(
            f"{request.results}: has no collectives of several sizes and no mock-ups",
            "measure the suite guidelines: hocket bench run guidelines -- mpiexec -n 4",
        )
    return found


def _items(request: ItemsRequest, reporter: Reporter) -> ItemsResult:
    mpi = default_mpi()
    launcher = Launcher((str(mpi.mpiexec), "-n", "1"), mpi, build_bench(mpi, reporter.message), (), Path(), TIMEOUT_S)
    items = json.loads(launcher.print_items())["items"]
    found = [item for item in items if request.word in f"{item['item']} {item['measures']}"]
    if not found:
        raise InvalidInput(f"{request.word}: no item has this in its name", "hocket bench items lists all")
    return ItemsResult(found, numbered_items())


def _run(request: BenchRequest, reporter: Reporter) -> BenchResult | PlanResult | InTurns:
    suite = suite_file(request.suite)
    if request.network is not None:
        make_layout(NetworkSource(request.network).load())  # what cannot be emulated is refused here
    commands = (request.command, *request.against)
    mpis = [mpi_of_command(command) for command in commands]
    arguments = (str(suite), "--quick") if request.quick else (str(suite),)
    if request.dry_run:
        program = build_bench(mpis[0], reporter.message)
        launcher = Launcher(
            request.command, mpis[0], program, arguments, request.output, request.timeout_s, request.network,
            request.launches, request.budget_s,
        )  # fmt: skip
        if request.find is not None:
            launcher = replace(launcher, launches=min(FIRST, request.launches or FIRST), rounds=1)
        return PlanResult(json.loads(launcher.print_plan()) | {"commands": len(commands), "find": request.find})
    folders = [request.output, *(request.output / f"against-{i + 1}" for i in range(len(request.against)))]
    for folder in folders:
        if folder.exists() and not folder.is_dir():
            raise InvalidInput(f"{folder}: is no folder", "name another one with -o")
        check_folder(folder)
    scratch = [folder / "scratch" for folder in folders]
    found: Found | None = None
    try:
        launchers = []
        known_files = []
        for command, mpi, folder in zip(commands, mpis, scratch, strict=True):
            folder.mkdir(parents=True, exist_ok=True)
            program = build_bench(mpi, reporter.message)
            where = () if request.network is None else ("on", request.network)
            known = capability_file(mpi, program, (*command, *where), folder)
            known_files.append(known)
            own = (*arguments, "--folder", str(folder.absolute()))
            if known.exists() and not request.probe_again:
                own += ("--known", str(known))
            output = folder.parent.absolute() / "results.jsonl"
            for other in folders:
                if other != folder.parent:
                    own += ("--beside", str((other / "results.jsonl").absolute()))
            launcher = Launcher(
                command, mpi, program, own, output, request.timeout_s, request.network, request.launches,
                request.budget_s,
            )  # fmt: skip
            launchers.append(launcher)
        with _replaced([launcher.output for launcher in launchers]) if request.force else nullcontext():
            if request.find is None:
                results = measure(launchers, reporter)
            else:
                results, found = find_difference(launchers, request.find, reporter)
        for known, one in zip(known_files, results, strict=True):
            remember(known, one, request.probe_again)
    finally:
        for folder in scratch:
            _remove_scratch(folder)
    first, *others = map(BenchResult, results)
    pairs = [(i + 1, 0) for i in range(len(others))]
    write_whole(request.output / "index.html", page([first, *others], request.within, pairs))
    if not others:
        return first
    comparisons = [compare(other.results, first.results, request.within) for other in others]
    return InTurns(first, tuple(others), tuple(comparisons), found)


def _remove_scratch(folder: Path) -> None:
    """Not while another hocket-bench writes to the results and uses it."""
    results = folder.parent / "results.jsonl"
    with results.open("rb") if results.is_file() else nullcontext() as file:
        if file is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _replaced(files: Sequence[Path]) -> Iterator[None]:
    """Lays earlier files aside, and puts back those in whose place none has come: what cannot be measured, such as a
    suite that hocket-bench refuses, costs no results."""
    aside = {file: file.with_name(f"earlier-{file.name}") for file in files}
    for file, earlier in aside.items():
        if file.exists():
            file.replace(earlier)
    try:
        yield
    finally:
        for file, earlier in aside.items():
            if file.exists():
                earlier.unlink(missing_ok=True)
            elif earlier.exists():
                earlier.replace(file)


def command_of(text: str) -> Command:
    """A command that is one word of another one, as of --against. Raises InvalidInput."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise InvalidInput(f"--against {text!r}: {error}", "write it as for a shell: 'mpiexec -n 4'") from None
    if not words:
        raise InvalidInput("--against: the command is empty", "write the launcher with its options: 'mpiexec -n 4'")
    return words
