# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Who includes whom among the C and C++ files, and the Fortran ones that the preprocessor reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from layers.tables import (
    COMPUTES_WITH_OPENMP,
    CORE_LEVELS,
    GENERATED,
    MAY_USE_OPENMP,
    MPI_MAY_INCLUDE,
    MPI_MAY_USE,
    level_of,
)

SOURCES = (".c", ".h", ".cpp", ".hpp", ".inc", ".F90")
HEADERS = (".h", ".hpp")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(hocket(?:\.h|/[^>]+))>)', re.MULTILINE)
LEVEL_OF = level_of(CORE_LEVELS)


class Include(NamedTuple):
    target: Path
    line: int


class Tree:
    """The source files of a repository and what each includes of the others."""

    def __init__(self, root: Path) -> None:
        self.root = root
        folders = (root / "src/hocket", root / "mpi", root / "python/bindings")
        files = sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in SOURCES)
        self.texts = {path: path.read_text(errors="replace") for path in files}
        self.problems: list[str] = []
        self.includes = {path: list(self._resolve(path, text)) for path, text in self.texts.items()}

    def _resolve(self, path: Path, text: str) -> Iterator[Include]:
        for match in INCLUDE.finditer(text):
            name = match[1] or match[2]
            line = text.count("\n", 0, match.start(match.lastindex or 0)) + 1
            folders = (path.parent, self.root / "src", self.root / "mpi", self.root / "mpi/include")
            found = next((target for folder in folders if (target := (folder / name).resolve()).exists()), None)
            if found is not None:
                yield Include(found, line)
            elif not name.startswith(GENERATED):
                self.problems.append(f'{self.name(path)}:{line}: includes "{name}", which does not exist')

    def first_include(self, path: Path) -> Path | None:
        """If that is a file of this repository."""
        first = re.search(r"^\s*#\s*include\s*(\S+)", self.texts[path], re.MULTILINE)
        found = next(iter(self.includes[path]), None)
        return found.target if found and first and found.target.as_posix().endswith("/" + first[1].strip('"')) else None

    def name(self, path: Path) -> str:
        return str(path.relative_to(self.root))

    def module(self, path: Path) -> tuple[str, str]:
        """("src", "network"), ("mpi", "runtime") or ("bindings", "")."""
        parts = path.relative_to(self.root).parts
        if parts[0] == "src":
            return "src", parts[2] if len(parts) > 3 else ""
        return ("mpi", parts[1]) if parts[0] == "mpi" else ("bindings", "")


def check_includes(tree: Tree) -> list[str]:
    return [*tree.problems, *_unknown(tree), *_forbidden(tree), *_openmp(tree)]


def _unknown(tree: Tree) -> Iterator[str]:
    known = {"src": set(LEVEL_OF), "mpi": set(MPI_MAY_INCLUDE), "bindings": {""}}
    for path in tree.texts:
        area, module = tree.module(path)
        if module not in known[area]:
            yield f"{tree.name(path)}: module {module!r} is not in the table of tools/layers/tables.py; give it a place"


def _forbidden(tree: Tree) -> Iterator[str]:
    for path, includes in tree.includes.items():
        for target, line in includes:
            if reason := _reason_against(*tree.module(path), *tree.module(target)):
                yield f"{tree.name(path)}:{line}: may not include {tree.name(target)}: {reason}"


def _reason_against(area: str, module: str, other_area: str, other: str) -> str:
    """Why (area, module) may not include (other_area, other); empty: it may."""
    if other_area == "bindings" and area != "bindings":
        return "nothing uses the bindings"
    if area == "src" and other_area != "src":
        return "the core knows no MPI and no Python"
    if area == "src" and module in LEVEL_OF and other != module and LEVEL_OF.get(other, 99) >= LEVEL_OF[module]:
        below = [name for name, level in LEVEL_OF.items() if level < LEVEL_OF[module]]
        return (
            f"{other} (level {LEVEL_OF.get(other, '?')}) is not below {module} (level {LEVEL_OF[module]}); "
            f"allowed: {', '.join(sorted(below)) or 'nothing'}"
        )
    if area == "mpi" and other_area == "src" and other not in MPI_MAY_USE:
        return f"the MPI parts may use {', '.join(MPI_MAY_USE)} only"
    may = MPI_MAY_INCLUDE.get(module, ())
    if area == other_area == "mpi" and other != module and other not in may:
        return f"of mpi/, {module} may include {', '.join((module, *may))} only"
    return ""


def _openmp(tree: Tree) -> Iterator[str]:
    for path, text in tree.texts.items():
        may = tree.module(path)[1] in MAY_USE_OPENMP and path.suffix == ".cpp"
        if re.search(r"#\s*pragma\s+omp|<omp\.h>", text) and not may and tree.name(path) != COMPUTES_WITH_OPENMP:
            yield f"{tree.name(path)}: OpenMP is for .cpp files of {' and '.join(MAY_USE_OPENMP)}"
