# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Who imports whom in python/hocket: at the top of a file, inside functions and for types alone (TYPE_CHECKING).

Two imports count for nothing: those under TYPE_CHECKING in an __init__, which hands such names on at first use, and
those by a text (importlib.import_module).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from layers.circles import Graph, as_problems, need
from layers.tables import PYTHON_LEVELS, PYTHON_MAY_IMPORT, level_of

ROOT = "hocket"
LEVEL_OF = level_of(PYTHON_LEVELS)


@dataclass(frozen=True)
class Import:
    module: str  # that imports
    target: str  # a module of hocket
    where: str  # "FILE:LINE"


class Modules:
    """The modules of python/hocket by their dotted names, and all imports among them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = {_module_of(path.relative_to(root / "python")): path for path in _python_files(root)}
        self.known = {*self.files, *(f"{ROOT}.{name}" for name in LEVEL_OF)}
        self.packages = {name for name, path in self.files.items() if path.name == "__init__.py"}
        self.imports = [found for name in self.files for found in self._imports_of(name)]

    def _imports_of(self, module: str) -> Iterator[Import]:
        path = self.files[module]
        tree = ast.parse(path.read_text(), str(path))
        skipped = set(_of_types(tree)) if module in self.packages else set()
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)) and node not in skipped:
                for name in self._names(node, module):
                    yield Import(module, self._module_in(name), f"{path.relative_to(self.root)}:{node.lineno}")

    def _names(self, node: ast.Import | ast.ImportFrom, module: str) -> Iterator[str]:
        """What `node` imports of hocket, as "hocket.module.name" where it imports a name."""
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            parts = [node.module] if node.module else []
            if node.level:  # `from . import name`
                above = module.split(".")
                parts = above[: len(above) - node.level + (module in self.packages)] + parts
            names = [".".join([*parts, alias.name]) for alias in node.names]
        yield from (name for name in names if name.split(".")[0] == ROOT)

    def _module_in(self, name: str) -> str:
        """The module that "hocket.module.name" names: itself, or the longest part of it that is one. What has no file,
        as the compiled core, is the module that the table has."""
        parts = name.split(".")
        for length in range(len(parts), 1, -1):
            if (module := ".".join(parts[:length])) in self.known:
                return module
        return ROOT


def _python_files(root: Path) -> list[Path]:
    return sorted((root / "python/hocket").rglob("*.py"))


def _module_of(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _of_types(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes under `if TYPE_CHECKING:`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for statement in node.body:
                yield from ast.walk(statement)


def check_python(modules: Modules) -> list[str]:
    return [*_unknown(modules), *_forbidden(modules), *as_problems(_graph(modules), "circle of Python imports")]


def _unknown(modules: Modules) -> list[str]:
    return [
        f"{path.relative_to(modules.root)}: {ROOT}.{_owner(module)} is not in PYTHON_LEVELS of "
        "tools/layers/tables.py; give it a level"
        for module, path in modules.files.items()
        if module != ROOT and _owner(module) not in LEVEL_OF
    ]


def _owner(module: str) -> str:
    """The entry of the table that a module belongs to: its own, or that of the package below hocket."""
    parts = module.split(".")[1:]
    own = ".".join(parts[:2])
    return own if own in LEVEL_OF else parts[0] if parts else ROOT


def _forbidden(modules: Modules) -> Iterator[str]:
    for found in modules.imports:
        owner, other = _owner(found.module), _owner(found.target)
        if ROOT in (owner, other) or owner == other or owner not in LEVEL_OF or _may_import(owner, other):
            continue
        allowed = PYTHON_MAY_IMPORT.get(owner, sorted(n for n, level in LEVEL_OF.items() if level < LEVEL_OF[owner]))
        reason = (
            f"{other} (level {LEVEL_OF.get(other, '?')}) is not below {owner} (level {LEVEL_OF[owner]})"
            if owner not in PYTHON_MAY_IMPORT
            else f"{owner} starts without the core"
        )
        yield (
            f"{found.where}: {ROOT}.{owner} may not import {found.target}: {reason}; "
            f"allowed: {', '.join(allowed) or 'nothing'}"
        )


def _may_import(owner: str, other: str) -> bool:
    if owner in PYTHON_MAY_IMPORT:
        return other in PYTHON_MAY_IMPORT[owner]
    return LEVEL_OF.get(other, len(LEVEL_OF)) < LEVEL_OF[owner]


def _graph(modules: Modules) -> Graph:
    """Who needs whom: a module needs what it imports, and each package that this is in, since its __init__ runs first;
    not the packages that the module is in itself, which have begun before it."""
    graph: Graph = {}
    for found in modules.imports:
        need(graph, found.module, found.target, f"{found.where} imports {found.target}")
        package = found.target
        while "." in package:
            package = package.rpartition(".")[0]
            if package != ROOT and package in modules.packages and not f"{found.module}.".startswith(f"{package}."):
                need(graph, found.module, package, f"{found.where} imports {found.target}, after {package}/__init__")
    return graph
