# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Tests and benchmarks of others with hocket's libraries, beside the same without.

`make mpich-suite` runs MPICH's own tests, `make outside-programs` the Intel MPI Benchmarks, OSU's, and mpi4py's tests.
Each test runs natively, recorded, with every collective call by a schedule, and with non-blocking ones in the
background too. The exit status is 1 if one has another outcome more often than natively and explained.json does not
say why. What has been run is kept in the folder and not run again for the same build of hocket: an interrupted call
goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from benchmarks import SUITES, outside_tests
from compare import Result, as_json, compare, read_explained, reason_for
from mpich_lists import FOLDERS
from mpich_programs import compile_tests
from mpich_source import tests_of
from outcomes import NOT_COMPILED, Test, can_be_compared, passes
from slots import Case, run_cases
from ways import WAYS, Ways

from hocket.cli.common import message, print_json, print_table, progress
from hocket.cli.options import seconds
from hocket.errors import Error
from hocket.mpi.build import build_mpi_parts
from hocket.mpi.discover import Mpi
from hocket.simulation.parallel import available_cores
from mpis import MPIS

LINES_SHOWN = 12


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    labels = [mpi.label for mpi in MPIS]
    parser.add_argument("--mpi", action="append", choices=labels, help="only this MPI; may be given again")
    parser.add_argument("--only", action="append", choices=(*FOLDERS, *SUITES), help="only this one; again as well")
    parser.add_argument("--way", action="append", choices=WAYS, help="only this way, beside native; may be given again")
    parser.add_argument("--test", action="append", metavar="PATTERN", help="only these, as in 'coll/i*'; again as well")
    parser.add_argument("--jobs", type=int, default=available_cores(), help="tests at a time (default: cores)")
    parser.add_argument(
        "--time-limit", type=seconds, default=60.0, metavar="TIME", help="that a test has, at least (default: 60)"
    )
    parser.add_argument("--again", action="store_true", help="also what has been run")
    parser.add_argument("--json", action="store_true", dest="as_json", help="one JSON object instead of tables")
    parser.add_argument("--folder", type=Path, default=Path("build/outside"))
    parser.add_argument(
        "--programs", type=Path, metavar="FOLDER", help="not MPICH's tests but what is there: see CONTRIBUTING.md"
    )
    arguments = parser.parse_args()
    results: list[Result] = []
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)  # so that what was started is ended
    try:
        run_all(arguments, results)
        status = None
    except KeyboardInterrupt:
        message("stopped; what is known so far:")
        status = 130
    except Error as error:
        print(f"error: {error}\nhint: {error.hint}", file=sys.stderr)
        return 1
    unexplained = show(results, arguments)
    return status or (1 if unexplained else 0)


def run_all(arguments: argparse.Namespace, results: list[Result]) -> None:
    """Fills in the results as they come."""
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.programs is None:
        source = tests_of(folder, os.environ.get("MPICH_SUITE", ""))
    else:
        source = arguments.programs.resolve()
    for mpi in MPIS:
        if not arguments.mpi or mpi.label in arguments.mpi:
            run_mpi(mpi, source, folder / mpi.label, arguments, results)


def run_mpi(mpi: Mpi, source: Path, folder: Path, arguments: argparse.Namespace, results: list[Result]) -> None:
    parts = build_mpi_parts(mpi, report=message)
    build = folder / "programs"
    build.mkdir(parents=True, exist_ok=True)
    tests: Sequence[Test]
    if arguments.programs is None:
        folders = arguments.only or FOLDERS
        tests = compile_tests(source, build, mpi, lambda test: is_wanted(test, folders, arguments.test), arguments.jobs)
    else:
        suites = arguments.only or SUITES
        tests = [test for test in outside_tests(source, mpi, build) if is_wanted(test, suites, arguments.test)]
    wanted = [way for way in WAYS if not arguments.way or way in arguments.way]
    plans = folder / "plans"
    plans.mkdir(exist_ok=True)
    ways = Ways(mpi, parts, plans)
    # By the build of hocket: another one is another matter.
    kept = folder / f"results-{parts.folder.name}.jsonl"
    known = {} if arguments.again else read_results(kept)
    by_name = {test.name: test for test in tests}
    missing = []
    for name, test in by_name.items():
        found = known.get(name)
        if found is not None and (set(wanted) <= found.outcomes.keys() or not can_be_compared(found.native)):
            results.append(found)
        else:
            missing.append(test)
    # An interrupted test begins anew: those that may take long come last, so that no call stops at the same one again.
    missing.sort(key=lambda test: test.time_limit_s)

    with kept.open("a", encoding="utf-8") as file, progress(f"{mpi.label}: tests", len(missing)) as advance:

        def keep(result: Result) -> None:
            results.append(result)
            file.write(as_json(result) + "\n")
            file.flush()

        def cases() -> Iterator[Case]:
            for test in missing:
                yield compare(test, build, ways, wanted, arguments.time_limit, keep)

        run_cases(cases(), arguments.jobs, lambda: advance(""))


def is_wanted(test: Test, folders: Sequence[str], patterns: list[str] | None) -> bool:
    return test.name.split("/")[0] in folders and (
        not patterns or any(fnmatch(test.name, pattern) or fnmatch(test.name, f"{pattern} *") for pattern in patterns)
    )


def read_results(path: Path) -> dict[str, Result]:
    if not path.exists():
        return {}
    results = [Result(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return {result.test: result for result in results}


def show(results: list[Result], arguments: argparse.Namespace) -> int:
    """The number of differences without an explanation."""
    explained = read_explained()
    ways = [way for way in WAYS if not arguments.way or way in arguments.way]
    differences = [(result, way) for result in results for way in ways if is_different(result, way)]
    reasons = [reason_for(result, way, explained) for result, way in differences]
    num_unexplained = reasons.count(None)
    native_fails = [result for result in results if natively_fails(result)]
    if arguments.as_json:
        told: list[dict[str, Any]] = [
            {"mpi": result.mpi, "test": result.test, "way": way, "outcomes": result.outcomes, "reason": reason}
            for (result, way), reason in zip(differences, reasons, strict=True)
        ]
        failing = [{"mpi": result.mpi, "test": result.test, "outcomes": result.outcomes} for result in native_fails]
        print_json({"tests": counts(results, ways), "differences": told, "native_fails_too": failing})
        return num_unexplained
    print_table(["MPI", "folder", "tests", "not compiled", "native fails", *ways], table(results, ways))
    if native_fails:
        rows = [[result.mpi, result.test, said(result, ["native", *ways])] for result in native_fails]
        print_table(["MPI", "test", "outcomes"], rows, title="native fails too")
    if differences:
        rows = [
            [result.mpi, result.test, way, said(result, ["native", way]), reason or "NOT EXPLAINED"]
            for (result, way), reason in zip(differences, reasons, strict=True)
        ]
        print_table(["MPI", "test", "way", "outcomes", "reason"], rows, title="different from native")
    for (result, way), reason in zip(differences, reasons, strict=True):
        if reason is None:
            lines = result.outputs.get(way, "").strip().splitlines()[-LINES_SHOWN:]
            print(f"\n{result.mpi}, {way}: {result.test}", *lines, sep="\n  ")
    print(f"{len(differences)} differences, {num_unexplained} of them not explained")
    return num_unexplained


def natively_fails(result: Result) -> bool:
    return result.native != NOT_COMPILED and not passes(result.native)


def is_different(result: Result, way: str) -> bool:
    return way in result.outcomes and result.differs(way)


def said(result: Result, ways: list[str]) -> str:
    return "; ".join(f"{way}: {', '.join(result.outcomes[way])}" for way in ways if way in result.outcomes)


def counts(results: list[Result], ways: list[str]) -> list[dict[str, Any]]:
    """By MPI and folder; of each way how many were run where the native run passed, and how many differ."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for result in results:
        folder = result.test.split("/")[0]
        row = found.setdefault(
            (result.mpi, folder),
            {"mpi": result.mpi, "folder": folder, "tests": 0, "not_compiled": 0, "native_fails": 0}
            | {way: {"compared": 0, "different": 0, "rerouted_calls": 0} for way in ways},
        )
        row["tests"] += 1
        row["not_compiled"] += result.native == NOT_COMPILED
        row["native_fails"] += natively_fails(result)
        for way in ways:
            if can_be_compared(result.native) and way in result.outcomes:
                row[way]["compared"] += 1
                row[way]["different"] += result.differs(way)
                row[way]["rerouted_calls"] += result.rerouted.get(way, 0)
    return [found[key] for key in sorted(found)]


def table(results: list[Result], ways: list[str]) -> list[list[object]]:
    return [
        [row["mpi"], row["folder"], row["tests"], row["not_compiled"], row["native_fails"]]
        + [
            f"{row[way]['compared'] - row[way]['different']} as native"
            + (f", {row[way]['different']} not" if row[way]["different"] else "")
            + (f" ({row[way]['rerouted_calls']} calls)" if row[way]["rerouted_calls"] else "")
            for way in ways
        ]
        for row in counts(results, ways)
    ]


if __name__ == "__main__":
    sys.exit(main())
