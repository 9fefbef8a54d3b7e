# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""MPICH's tests as its lists have them: program, ranks, arguments; and how the outcome of one is told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from outcomes import DOES_NOT_END, FAILS, PASSES

FOLDERS = (
    *("attr", "coll", "comm", "datatype", "errhan", "errors", "f77", "f90", "f08", "group", "info", "init", "io"),
    *("part", "pt2pt", "rma", "spawn", "threads", "topo"),
)
INNER_FOLDERS = (*FOLDERS, "basic")  # below those
DEFAULT_RANKS = 2  # of the suite
MOST_MEMORY_GB = 4


@dataclass(frozen=True)
class SuiteTest:
    folder: str
    program: str
    ranks: int
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    launcher_options: tuple[str, ...] = ()  # of MPICH's launcher
    fails_by_status: bool = False  # it is right if the launcher says that the program failed
    time_limit_s: float = 0

    @property
    def name(self) -> str:
        settings = [f"{name}={value}" for name, value in self.environment]
        return " ".join([f"{self.folder}/{self.program}", str(self.ranks), *self.arguments, *settings])

    def words(self, build: Path) -> list[str] | None:
        program = build / self.folder / self.program
        return [str(program), *self.arguments] if program.exists() else None

    def folder_to_run_in(self, build: Path, own: Path) -> Path:
        # Those of files give theirs the same names; those that start programs look for them where they are.
        return own if self.folder.split("/")[-1] == "io" else build / self.folder

    def outcome(self, status: int | None, output: str) -> str:
        if status is None:
            return DOES_NOT_END
        if self.fails_by_status:
            return PASSES if status != 0 else FAILS
        said = any(line.strip().lower() == "no errors" for line in output.splitlines())
        return PASSES if status == 0 and said else FAILS


def read_tests(source: Path, build: Path) -> list[SuiteTest]:
    """Those of FOLDERS that the suite would run with the MPI that `build` is configured for."""
    # Without those of languages that the MPI has no compiler for.
    listed = {line.partition("#")[0].strip() for line in (build / "testlist").read_text().splitlines()}
    return [test for folder in FOLDERS if folder in listed for test in read_folder(source, build, folder)]


def read_folder(source: Path, build: Path, folder: str) -> list[SuiteTest]:
    # What configure has made goes before what came with the source, as in the suite's own script.
    lists = [path for path in (build / folder / "testlist", source / folder / "testlist") if path.is_file()]
    tests = []
    for line in lists[0].read_text().splitlines() if lists else ():
        words = line.partition("#")[0].split()
        if not words:
            continue
        if (source / folder / words[0]).is_dir():
            if words[0] in INNER_FOLDERS:
                tests += read_folder(source, build, f"{folder}/{words[0]}")
        elif (test := read_test(folder, words)) is not None:
            tests.append(test)
    return tests


def read_test(folder: str, words: list[str]) -> SuiteTest | None:
    """None for one that the suite leaves out too, since it is known to fail, and for one that needs much memory."""
    program, *rest = words
    ranks = int(rest.pop(0)) if rest and rest[0].isdigit() else DEFAULT_RANKS
    options: dict[str, list[str]] = {}
    for word in rest:
        if match := re.fullmatch(r"(\w+)=(.*)", word):
            options.setdefault(match[1], []).append(match[2])
    if "xfail" in options or float(options.get("mem", ["0"])[0]) > MOST_MEMORY_GB:
        return None
    if "/" in program:  # in a folder below
        below, program = program.rsplit("/", 1)
        folder = f"{folder}/{below}"
    environment = [(name, value) for name, _, value in (text.partition("=") for text in options.get("env", ()))]
    return SuiteTest(
        folder,
        program,
        ranks,
        tuple(options.get("arg", ())),
        tuple(environment),
        tuple(options.get("mpiexecarg", ())),
        options.get("resultTest", [""])[0] in ("TestStatus", "TestErrFatal"),
        float(options.get("timeLimit", ["0"])[0]),
    )
