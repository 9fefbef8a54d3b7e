# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Circles of C and C++ files.

In mpi/ a source file and its header of the same name are one unit. A unit needs what it includes. It also needs the
source file that defines a function or variable which it uses, if a header without a source file of its own declares it:
several source files share such a header, as record.h, and the include does not say which of them is meant. Such names
are declared and defined at the beginning of a line. Elsewhere each file is for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from layers.circles import Graph, as_problems, need
from layers.sources import HEADERS, Tree

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_TYPE = r"^(?!using\b|typedef\b|return\b|static\b)[A-Za-z_](?:[\w:<>,*&\[\]. ]*[ *&:])?"
DECLARATION = re.compile(_TYPE + r"(\w+)(?:\([^;{}]*\)[\w ]*)?;", re.MULTILINE)
DEFINITION = re.compile(_TYPE + r"(\w+)(?:\([^;{}]*\)[\w ]*\{| = [^;]*;|;)", re.MULTILINE)
# Not a member of something.
WORD = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")


def check_circles(tree: Tree) -> list[str]:
    graph: Graph = {}
    for path, includes in tree.includes.items():
        for target, line in includes:
            where = f"{tree.name(path)}:{line} includes {tree.name(target)}"
            need(graph, _unit(tree, path), _unit(tree, target), where)
    code = {path: NOT_CODE.sub(_blank, text) for path, text in tree.texts.items() if tree.module(path)[0] == "mpi"}
    for user, name, definer, line in _uses(tree, code):
        where = f"{tree.name(user)}:{line} uses {name} of {tree.name(definer)}"
        need(graph, _unit(tree, user), _unit(tree, definer), where)
    return as_problems(graph, "circular include")


def _unit(tree: Tree, path: Path) -> str:
    return tree.name(path.with_suffix("") if tree.module(path)[0] == "mpi" else path)


def _blank(match: re.Match[str]) -> str:
    """As many lines, so that line numbers stay right."""
    return " " + "\n" * match[0].count("\n")


def _uses(tree: Tree, code: dict[Path, str]) -> Iterator[tuple[Path, str, Path, int]]:
    """(user, name, definer, line of the first use) of each name that a header without a source file declares."""
    paired = {path.with_suffix("") for path in code if path.suffix not in HEADERS}
    includes = {path: all_includes(tree, path) for path in code}
    for header in (path for path in code if path.with_suffix("") not in paired):
        declared = _names(DECLARATION, code[header])
        near = [path for path in code if path != header and header in includes[path]]
        defined = {path: declared & _names(DEFINITION, code[path]) for path in near if path.suffix not in HEADERS}
        definers = {name: [path for path in defined if name in defined[path]] for name in declared}
        for path in near:
            used = {match[0]: match.start() for match in reversed(list(WORD.finditer(code[path])))}
            for name in sorted((used.keys() & declared) - defined.get(path, set())):
                if len(definers[name]) == 1:
                    yield path, name, definers[name][0], code[path].count("\n", 0, used[name]) + 1


def all_includes(tree: Tree, path: Path) -> set[Path]:
    """The files that `path` includes, and those that these include."""
    reached: set[Path] = set()
    ahead = [path]
    while ahead:
        new = {include.target for include in tree.includes.get(ahead.pop(), [])} - reached
        reached |= new
        ahead += new
    return reached


def _names(pattern: re.Pattern[str], text: str) -> set[str]:
    return {match[1] for match in pattern.finditer(text)}
