# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Brings the names of used modules into a scope (Fortran 2018, 14.2.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hocket.rewrite.symbols import INTRINSIC_MODULES, MPI_MODULES, Scope, Symbol, Unseen, Use

_OPERATORS = ("operator(", "assignment(", "read(", "write(")


def resolve_uses(modules: Mapping[str, Scope], scope: Scope, busy: tuple[str, ...], resolved: set[int]) -> None:
    """`busy` are the modules whose uses are being resolved."""
    if id(scope) in resolved:
        return
    resolved.add(id(scope))
    for use in scope.used:
        module = modules.get(use.module)
        if module is None:
            _of_no_file(scope, use)
            continue
        if use.module in busy:
            scope.problem = scope.problem or f"module {use.module} uses itself"
            continue
        resolve_uses(modules, module, (*busy, use.module), resolved)
        for own, its in _names(use, module):
            _bring(scope, own, its, module, use)
        scope.generics |= {one for one in module.generics if one.startswith(_OPERATORS)}
        scope.unseen += [one for one in map(use.passes_on, module.unseen) if one not in scope.unseen]
        if module.problem:
            scope.problem = scope.problem or f"module {use.module}: {module.problem}"
        if module.binding and not scope.binding:
            _bring_mpi(scope, module, use)


def _bring_mpi(scope: Scope, module: Scope, use: Use) -> None:
    """MPI's names, where the module passes them on."""
    if use.has_only and any(name.startswith("mpi_") for name in use.names):
        scope.binding, scope.binding_only = module.binding, use.names
        scope.binding_file = f"the use of {use.module}"
    elif not use.has_only and module.is_public("mpi_comm_world"):
        scope.binding, scope.binding_only = module.binding, module.binding_only
        scope.binding_file = module.binding_file


def _of_no_file(scope: Scope, use: Use) -> None:
    if use.module not in INTRINSIC_MODULES | MPI_MODULES:
        scope.unseen.append(Unseen(f"module {use.module}", frozenset(use.names) if use.has_only else None))
        return
    for own, its in use.names.items():
        if own != its:  # such as `wp => real64`, which hides another wp
            scope.symbols[own] = Symbol(own, f"({use.module})::{its}", attributes={"parameter"}, home=scope)


def _names(use: Use, module: Scope) -> Iterator[tuple[str, str]]:
    """Own name and that in the module. What is renamed has its old name no longer."""
    yield from use.names.items()
    if not use.has_only:
        away = set(use.names.values())
        for name in {*module.symbols, *module.types, *module.procedures, *module.generics} - away:
            if module.is_public(name) and not name.startswith(_OPERATORS):
                yield name, name


def _bring(scope: Scope, own: str, its: str, module: Scope, use: Use) -> None:
    is_known = False
    if its in module.symbols:
        is_known = True
        symbol = module.symbols[its] if own == its else replace(module.symbols[its], name=own)
        known = scope.symbols.setdefault(own, symbol)
        if known.key != symbol.key:
            scope.symbols[own] = replace(known, conflict=f"{own} may come from module {use.module} too")
    if its in module.types:
        is_known = True
        if scope.types.setdefault(own, module.types[its]) is not module.types[its]:
            del scope.types[own]
            scope.unseen.append(Unseen(f"one of several modules, of which one is {use.module}", frozenset({own})))
    if its in module.procedures:
        is_known = True
        if scope.procedures.setdefault(own, module.procedures[its]) is not module.procedures[its]:
            scope.generics.add(own)  # which of the two is not known
    if its in module.generics:
        is_known = True
        scope.generics.add(own)
    if not is_known and not any(one.has(its) for one in module.unseen) and not own.startswith(_OPERATORS):
        scope.unseen.append(Unseen(f"module {use.module}, where it is not understood", frozenset({own})))
