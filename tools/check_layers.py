#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Who may include whom: fails on an include or import that the architecture forbids, and on circular includes.

tools/check_layers.py [FOLDER]             checks the repository (the default: the one this file is in)
tools/check_layers.py --headers [FOLDER]   also compiles every header alone that no source file includes first
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# A module of src/hocket includes modules of lower levels only, and itself.
LEVELS = (
    ("base",),
    ("network", "schedule", "program", "trace"),
    ("collectives", "patterns", "lowering", "cost"),
    ("plan",),
    ("simulation", "circuits", "replay"),
    ("search",),
)
LEVEL_OF = {module: level for level, modules in enumerate(LEVELS) for module in modules}

# What the MPI parts may use of the core. mpi/CMakeLists.txt compiles just these.
MPI_MAY_USE = {"base", "schedule", "program", "trace", "collectives", "plan"}

# OpenMP is for these modules' .cpp files only, and for the computation that a benchmark runs beside communication.
MAY_USE_OPENMP = {"simulation", "search"}
COMPUTES_WITH_OPENMP = "mpi/bench/overlap_compute.cpp"

# Python packages of hocket, and what of hocket they must not import.
PYTHON_FORBIDDEN = {
    "report": {"mpi", "testbed", "tune", "advise", "bench", "cli"},  # it reads results; it never measures or searches
    "mpi": {"cli", "testbed", "tune", "advise", "report", "_core"},
    "testbed": {"cli", "tune", "advise", "report"},
    "advise": {"cli", "testbed", "tune", "report"},
    "search": {"cli", "mpi", "testbed", "tune", "report", "export"},
    "export": {"cli", "mpi", "testbed", "tune", "report"},
    "tune": {"cli"},
    "errors": {"cli", "mpi", "testbed", "tune", "advise", "report", "_core"},
}

# A Plan is read, checked and written in one place: the name of its format stands nowhere else in code.
PLAN_FORMAT = re.compile(r"hocket\.plan/")
KNOWS_PLAN_FORMAT = "src/hocket/plan"

SOURCES = (".c", ".h", ".cpp", ".hpp")
HEADERS = (".h", ".hpp")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


class Tree:
    """The source files of a repository and what each includes of the others."""

    def __init__(self, root: Path) -> None:
        self.root = root
        folders = (root / "src/hocket", root / "mpi", root / "python/bindings")
        self.files = sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in SOURCES)
        self.problems: list[str] = []
        self.includes = {path: list(self._resolve(path)) for path in self.files}

    def _resolve(self, path: Path) -> Iterator[Path]:
        for name in INCLUDE.findall(path.read_text(errors="replace")):
            folders = (path.parent, self.root / "src", self.root / "mpi", self.root / "mpi/include")
            found = next((target for folder in folders if (target := (folder / name).resolve()).exists()), None)
            if found is not None:
                yield found
            elif name != "generated.h":  # made at build time
                self.problems.append(f'{self.name(path)}: includes "{name}", which does not exist')

    def first_include(self, path: Path) -> Path | None:
        """If that is a file of this repository."""
        first = re.search(r"^\s*#\s*include\s*(\S+)", path.read_text(errors="replace"), re.MULTILINE)
        target = next(iter(self.includes[path]), None)
        return target if target and first and target.as_posix().endswith("/" + first[1].strip('"')) else None

    def name(self, path: Path) -> str:
        return str(path.relative_to(self.root))

    def module(self, path: Path) -> tuple[str, str]:
        """("src", "network"), ("mpi", "runtime") or ("bindings", "")."""
        parts = path.relative_to(self.root).parts
        if parts[0] == "src":
            return "src", parts[2] if len(parts) > 3 else ""
        return ("mpi", parts[1]) if parts[0] == "mpi" else ("bindings", "")


def check_includes(tree: Tree) -> list[str]:
    problems = list(tree.problems)
    for path, targets in tree.includes.items():
        area, module = tree.module(path)
        if area == "src" and module not in LEVEL_OF:
            problems.append(f"{tree.name(path)}: module {module!r} is not in the table of tools/check_layers.py")
            continue
        for target in targets:
            other_area, other = tree.module(target)
            reason = ""
            if other_area == "bindings" and area != "bindings":
                reason = "nothing uses the bindings"
            elif area == "src" and other_area != "src":
                reason = "the core knows no MPI and no Python"
            elif area == "src" and other != module and LEVEL_OF.get(other, 99) >= LEVEL_OF[module]:
                reason = f"{other} (level {LEVEL_OF.get(other, '?')}) is not below {module} (level {LEVEL_OF[module]})"
            elif area == "mpi" and other_area == "src" and other not in MPI_MAY_USE:
                reason = f"the MPI parts may use {', '.join(sorted(MPI_MAY_USE))} only"
            if reason:
                problems.append(f"{tree.name(path)}: may not include {tree.name(target)}: {reason}")
        text = path.read_text(errors="replace")
        may = (module in MAY_USE_OPENMP and path.suffix == ".cpp") or tree.name(path) == COMPUTES_WITH_OPENMP
        if re.search(r"#\s*pragma\s+omp|<omp\.h>", text) and not may:
            problems.append(f"{tree.name(path)}: OpenMP is for .cpp files of {' and '.join(sorted(MAY_USE_OPENMP))}")
    return problems


def check_plan_format(tree: Tree) -> list[str]:
    problems = []
    for path in [*tree.files, *sorted((tree.root / "python/hocket").rglob("*.py"))]:
        name = tree.name(path)
        if not name.startswith(KNOWS_PLAN_FORMAT) and PLAN_FORMAT.search(path.read_text(errors="replace")):
            problems.append(
                f"{name}: names the format of a Plan, which is read and written in {KNOWS_PLAN_FORMAT} only"
            )
    return problems


def find_cycle(tree: Tree) -> list[str]:
    """The first circular include, as one problem."""
    done: set[Path] = set()
    trail: list[Path] = []

    def visit(path: Path) -> list[Path]:
        if path in trail:
            return [*trail[trail.index(path) :], path]
        if path in done:
            return []
        trail.append(path)
        for target in tree.includes.get(path, []):
            if cycle := visit(target):
                return cycle
        trail.pop()
        done.add(path)
        return []

    for path in tree.files:
        if cycle := visit(path):
            return [f"circular include: {' -> '.join(map(tree.name, cycle))}"]
    return []


def check_python(root: Path) -> list[str]:
    problems = []
    package = root / "python/hocket"
    for path in sorted(package.rglob("*.py")):
        owner = path.relative_to(package).parts[0].removesuffix(".py")
        forbidden = PYTHON_FORBIDDEN.get(owner, {"cli"} if owner not in ("cli", "__main__") else set())
        for node in ast.walk(ast.parse(path.read_text(), str(path))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                parts = name.split(".")
                if parts[0] == "hocket" and len(parts) > 1 and parts[1] in forbidden:
                    where = f"{path.relative_to(root)}:{node.lineno}"
                    problems.append(f"{where}: hocket.{owner} may not import hocket.{parts[1]}")
    return problems


def check_headers(tree: Tree) -> list[str]:
    """Compiles headers alone: all but those that a source file includes first, which the build compiles so. Those of
    the MPI parts need an MPI ($MPICC or mpicc), those of the bindings nanobind in this Python; without, they are left
    out."""
    root = tree.root
    flags = [f"-I{root / folder}" for folder in ("src", "mpi", "mpi/include")]
    flags += ["-isystem", str(root / "third_party/nlohmann_json"), "-isystem", str(root / "third_party/tomlplusplus")]
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    binding_flags = _binding_flags()
    mpi_flags = _mpi_flags(os.environ.get("MPICC", "mpicc"))

    def compile_alone(path: Path) -> str:
        in_mpi = tree.module(path)[0] == "mpi"
        in_bindings = tree.module(path)[0] == "bindings"
        if "generated.h" in path.read_text() or (in_mpi and mpi_flags is None) or (in_bindings and not binding_flags):
            return ""
        # A .h file is plain C, a .hpp file C++. Included rather than compiled, so that #pragma once is no warning.
        language = ["cc", "-std=gnu11", "-x", "c"] if path.suffix == ".h" else ["c++", "-std=c++20", "-x", "c++"]
        command = [
            *language,
            "-fsyntax-only",
            *warnings,
            *flags,
            *((mpi_flags or []) if in_mpi else []),
            *(binding_flags if in_bindings else []),
            "-",
        ]
        result = subprocess.run(command, input=f'#include "{path}"\n', capture_output=True, text=True, check=False)
        if result.returncode == 0:
            return ""
        line = next((line for line in result.stderr.splitlines() if "error" in line), result.stderr[:200])
        return f"{tree.name(path)}: does not compile alone: {line}"

    compiled = {tree.first_include(path) for path in tree.files if path.suffix not in HEADERS}
    headers = [path for path in tree.files if path.suffix in HEADERS and path not in compiled]
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        return [problem for problem in pool.map(compile_alone, headers) if problem]


def _mpi_flags(mpicc: str) -> list[str] | None:
    try:
        shown = subprocess.run([mpicc, "-show"], capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None
    return [word for flag in shown if flag.startswith("-I") for word in ("-isystem", flag[2:])]


def _binding_flags() -> list[str]:
    try:
        import nanobind
    except ImportError:
        return []
    return ["-isystem", nanobind.include_dir(), "-isystem", sysconfig.get_path("include")]


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks who includes whom.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--headers", action="store_true", help="compile every header alone")
    arguments = parser.parse_args()
    tree = Tree(arguments.folder.resolve())
    problems = [*check_includes(tree), *check_plan_format(tree), *find_cycle(tree), *check_python(tree.root)]
    if arguments.headers:
        problems += check_headers(tree)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"check_layers: {len(tree.files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
