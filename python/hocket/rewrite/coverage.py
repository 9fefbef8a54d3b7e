# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Whether an iteration reads only those elements of an array that it has written itself before: then each iteration
may have an array of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hocket.rewrite.affine import constant
from hocket.rewrite.blocks import Item
from hocket.rewrite.libraries import isl
from hocket.rewrite.sets import Access, Range, formula, unknowns_of
from hocket.rewrite.splitting import without
from hocket.rewrite.symbols import Symbol
from hocket.rewrite.syntax import Node, child_of, named, source_of, text_of, walk
from hocket.rewrite.values import Place, control_of

_INSIDE_DO = frozenset({"do_statement", "end_do_loop_statement", "comment", "&"})


def is_covered(symbol: Symbol, steps: Sequence[tuple[Item, Sequence[Access] | None]], own: str, place: Place) -> bool:
    """`steps` are the statements of an iteration in their order. A step with accesses of its own is communication:
    they are what it writes on every rank. `own` is the unknown of the iteration's number. `place` has the values of
    names in the array's bounds."""
    extents = tuple(
        Range(constant(1) if lower is None else place.affine(lower), place.affine(upper))
        for lower, upper in symbol.bounds or ()
    )
    whole = Access(symbol, False, 0, symbol.name, extents)
    accesses = [one for item, extra in steps for one in [*item.effects.accesses, *(extra or ())] if _is(one, symbol)]
    names = {unknown: f"p{i}" for i, unknown in enumerate(unknowns_of([*accesses, whole]))}
    inside = _elements(symbol, whole, names)
    written = _empty(symbol)
    for item, communicated in steps:
        for one in item.effects.accesses:
            is_needed = not one.is_write and _is(one, symbol)
            needed = _elements(symbol, without(one, own), names).intersect(inside) if is_needed else None
            if needed is not None and not needed.is_subset(written):
                return False
        certain = communicated if communicated is not None else _certain_writes(item, symbol, own)
        for one in certain:
            if _is(one, symbol):
                written = written.union(_elements(symbol, without(one, own), names)).coalesce()
    return True


def _is(access: Access, symbol: Symbol) -> bool:
    return access.symbol is symbol


def _empty(symbol: Symbol) -> Any:
    return isl().Set(f"{{ [{_tuple(symbol)}] : false }}")


def _tuple(symbol: Symbol) -> str:
    return ", ".join(f"x{i}" for i in range(len(symbol.bounds or ())))


def _elements(symbol: Symbol, access: Access, names: dict[str, str]) -> Any:
    bound = set(access.loops)
    free = ", ".join(name for unknown, name in names.items() if unknown not in bound)
    return isl().Set(f"[{free}] -> {{ [{_tuple(symbol)}] : {formula(access, names)} }}")


def _certain_writes(item: Item, symbol: Symbol, own: str) -> Iterable[Access]:
    """Elements that are written whatever happens: by assignments in loops with known bounds."""
    if not _is_plain(item.node):
        return
    by_text = {source_of(one): one for one in _targets(item.node)}
    num_outer = min((len(one.conditions) for one in item.effects.accesses), default=0)
    for access in item.effects.accesses:
        target = by_text.get(access.text)
        if not access.is_write or access.symbol is not symbol or target is None or len(access.text) >= 60:
            continue
        own_loops = [one for one in access.loops if one != own]
        # Two bounds of each loop: what is not affine is left out of the conditions.
        if len(access.conditions) - num_outer < 2 * len(own_loops):
            continue
        if target.type == "identifier" or _is_exact(target, access):
            yield access


def _is_plain(node: Node) -> bool:
    """Loops and assignments only, without steps."""
    if node.type == "assignment_statement":
        return True
    if node.type != "do_loop":
        return False
    control = control_of(node)
    if control is None or control[3] is not None or any(one.type == "call_expression" for one in control[1:3] if one):
        return False
    return all(_is_plain(one) for one in node.children if one.is_named and one.type not in _INSIDE_DO)


def _targets(node: Node) -> Iterable[Node]:
    return (named(one)[0] for one in walk(node) if one.type == "assignment_statement")


def _is_exact(target: Node, access: Access) -> bool:
    arguments = child_of(target, "argument_list")
    if target.type != "call_expression" or arguments is None or access.subscripts is None:
        return False
    parts = named(arguments)
    return len(parts) == len(access.subscripts) and all(
        text_of(part) == ":" or (one.lower is not None and one.upper is not None and text_of(part).count(":") < 2)
        for part, one in zip(parts, access.subscripts, strict=True)
    )
