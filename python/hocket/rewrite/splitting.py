# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Index-set splitting: the iterations of a loop that do not need a message run while it is on its way [Nanri]."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

from hocket.rewrite.affine import Affine, Condition, Unknown, constant, known_value, unknown
from hocket.rewrite.analysis import Analysis
from hocket.rewrite.blocks import Block, Item
from hocket.rewrite.collector import Collector, loop_body
from hocket.rewrite.dependences import conflict_of
from hocket.rewrite.effects import Effects
from hocket.rewrite.libraries import isl
from hocket.rewrite.sets import Access, formula, have_common_element, unknowns_of
from hocket.rewrite.symbols import Scope, Symbol
from hocket.rewrite.syntax import Node, child_of, identifiers, source_of, text_of, walk
from hocket.rewrite.values import control_of


@dataclass(frozen=True)
class Split:
    """A loop in parts: `first` to `last` runs beside communication, what is left of the loop after it."""

    item: Item
    variable: str
    lower: str  # the loop's own bounds, as texts
    upper: str
    first: str  # empty: the loop's own bound
    last: str
    needs_value: bool  # the loop variable may be read after the loop
    is_above: bool = False  # before the call: `first` to `last` run last, beside communication

    @property
    def claim(self) -> str:
        bounds = f"{self.variable} = {self.first or self.lower} to {self.last or self.upper}"
        return f"iterations {bounds} of the loop in line {self.item.line} do not touch the message"

    @property
    def proof(self) -> str:
        changes_order = self.last if self.is_above else self.first
        order = "; no iteration that changes places with them depends on them, nor they on it (isl)"
        return "no common element with the message in any of them (isl)" + (order if changes_order else "")


def needs_for_bounds(node: Node, waited: Effects, block: Block, analysis: Analysis, private: Collection[str]) -> bool:
    """Whether the bounds of a loop are, or may be, what is waited for."""
    control = control_of(node)
    collector = Collector(block.procedure, analysis, analysis.facts(block.procedure))
    for bound in control[1:] if control is not None else ():
        if bound is not None:
            collector.read(bound)
    return conflict_of(waited, collector.effects, private) is not None


@dataclass
class Splitter:
    """For the loops of one block."""

    analysis: Analysis
    block: Block
    private: Collection[str]
    changed: Collection[str]

    @property
    def sees_order(self) -> bool:
        return self.analysis.sees_order

    def split(self, item: Item, waited: Effects, is_above: bool = False) -> Split | None:
        """`waited` are the effects of the wait, or of the start if the loop is above it.

        None if the loop cannot be split, or no iteration would be independent.
        """
        if item.node.type != "do_loop" or item.annotation("keep"):
            return None
        loop = self.loop(item.node)
        if loop is None or needs_for_bounds(item.node, waited, self.block, self.analysis, self.private):
            return None
        touching = self._touching(loop, waited)
        if touching is None:
            return None
        for first, last in _candidates(loop, touching):
            begin, end = self.as_text(first), self.as_text(last)
            if begin is None or end is None:
                continue
            if self._is_right(loop, touching, first, last, is_above):
                return Split(
                    item, loop.name, loop.lower_text, loop.upper_text, begin, end, self._is_read(loop), is_above
                )
        return None

    def as_text(self, bound: Affine | None) -> str | None:
        """As Fortran. Its kind has to be the default one, as that of the bounds: min and max do not mix kinds."""
        if bound is None:
            return ""
        scope = self.block.procedure.scope
        text = ""
        for one, coefficient in bound.terms:
            key = one.partition("=")[0]
            name = key.rpartition("::")[2]
            names = re.findall(r"[a-z]\w*", name)
            if any(scope.variable(word).kind or scope.variable(word).type != "integer" for word in names):
                return None
            if not one.startswith("(") and scope.variable(name).key != key:
                return None
            sign = "-" if coefficient < 0 else "+"
            factor = f"{abs(coefficient)}*" if abs(coefficient) != 1 else ""
            text += f" {sign} {factor}{name}"
        if bound.constant or not text:
            text += f" {'-' if bound.constant < 0 else '+'} {abs(bound.constant)}"
        return text.removeprefix(" + ").strip()

    def loop(self, node: Node) -> Loop | None:
        control = control_of(node)
        if control is None or control[3] is not None or child_of(node, "end_do_loop_statement") is None:
            return None
        if child_of(node, "block_label_start_expression") is not None:
            return None
        name, lower, upper, _ = control
        procedure = self.block.procedure
        symbol = procedure.scope.variable(name)
        if symbol.alias != symbol.key or symbol.type != "integer" or symbol.is_array:
            return None
        body = Collector(procedure, self.analysis, self.analysis.facts(procedure), self.changed)
        own = f"{name}@{node.start_byte}"
        body.place = body.place.inside(name, own, lower, upper, None)
        # A loop that may be left early has other iterations when it is split.
        body.statements(loop_body(node))
        if body.effects.barriers or body.effects.mpi:
            return None
        if any(one.is_write and one.symbol.key == symbol.key for one in body.effects.accesses):
            return None
        if symbol.kind or any(scope_kind(procedure.scope, one) for one in (lower, upper)):
            return None
        if not keeps_bounds(symbol, (lower, upper), body.effects, procedure.scope):
            return None
        lowers, uppers = body.place.bounds(lower, "max"), body.place.bounds(upper, "min")
        if not lowers or not uppers:
            return None
        texts = [source_of(one) for one in (lower, upper)]
        if "&" in "".join(texts):
            return None
        return Loop(name, own, tuple(lowers), tuple(uppers), texts[0], texts[1], symbol, body.effects)

    def _touching(self, loop: Loop, waited: Effects) -> list[tuple[Access, Access]] | None:
        """Pairs of accesses of an iteration and of the wait that may have a common element."""
        found = []
        for access in loop.body.accesses:
            for other in waited.accesses:
                if access.alias == other.alias and (access.is_write or other.is_write):
                    if access.subscripts is None or other.subscripts is None or access.symbol is not other.symbol:
                        return None
                    found.append((access, other))
        return found

    def _is_right(
        self,
        loop: Loop,
        touching: list[tuple[Access, Access]],
        first: Affine | None,
        last: Affine | None,
        is_above: bool,
    ) -> bool:
        at = unknown(loop.own)
        inside = [Condition(at - first)] if first is not None else []
        inside += [Condition(last - at)] if last is not None else []
        if any(have_common_element(without(one, loop.own), other, inside) for one, other in touching):
            return False
        # Iterations below `first` now run after those from `first` on: they may not depend on each other.
        # Above the call it is those behind `last` that now run before.
        edge = last if is_above else first
        return edge is None or not self._crosses(loop, first, last, is_above)

    def _crosses(self, loop: Loop, first: Affine | None, last: Affine | None, is_above: bool) -> bool:
        """Whether an iteration from `first` to `last` depends on one behind `last` (`is_above`), or before `first`, or
        that on it."""
        at, beyond = unknown(loop.own), unknown(f"{loop.own}'")
        conditions = [Condition(beyond - last - constant(1))] if is_above and last is not None else []
        conditions += [Condition(first - beyond - constant(1))] if not is_above and first is not None else []
        conditions += [Condition(at - first)] if first is not None else []
        conditions += [Condition(last - at)] if last is not None else []
        for one in loop.body.accesses:
            for other in loop.body.accesses:
                if one.alias != other.alias or not (one.is_write or other.is_write):
                    continue
                if one.alias in self.private and one.is_write and other.is_write:
                    continue
                moved = renamed(other, loop.own, f"{loop.own}'")
                if have_common_element(without(one, loop.own), without(moved, f"{loop.own}'"), conditions):
                    return True
        return False

    def _is_read(self, loop: Loop) -> bool:
        return loop.symbol.key not in self.private


def keeps_bounds(variable: Symbol, bounds: Iterable[Node | None], body: Effects, scope: Scope) -> bool:
    """Whether the bounds of a loop have the same values behind it: a loop in two parts computes them twice."""
    written = {variable.alias, *body.written}
    for bound in bounds:
        for node in walk(bound) if bound is not None else ():
            if node.type == "call_expression" and text_of(node.children[0]) not in ("min", "max"):
                return False
            if node.type == "identifier" and scope.variable(text_of(node)).alias in written:
                return False
    return True


def scope_kind(scope: Scope, node: Node) -> bool:
    """Whether an expression may be of another kind than the default integer."""
    return any(scope.variable(name).kind for name in identifiers(node))


@dataclass(frozen=True)
class Loop:
    """`do name = lower, upper` and the effects of one iteration, whose number is the unknown `own`."""

    name: str
    own: Unknown
    lowers: tuple[Affine, ...]  # the largest is the lower bound
    uppers: tuple[Affine, ...]
    lower_text: str
    upper_text: str
    symbol: Symbol
    body: Effects


def without(access: Access, own: Unknown) -> Access:
    """For one value of the loop's unknown."""
    loops = tuple(one for one in access.loops if one != own)
    return Access(access.symbol, access.is_write, access.line, access.text, access.subscripts, access.conditions, loops)


def renamed(access: Access, old: Unknown, new: Unknown) -> Access:
    """The same access in another iteration. The loops in it have other iterations too."""
    names = {one: f"{one}'" for one in access.loops} | {old: new}
    subscripts = None
    if access.subscripts is not None:
        subscripts = tuple(
            type(one)(
                one.lower.renamed(names) if one.lower is not None else None,
                one.upper.renamed(names) if one.upper is not None else None,
            )
            for one in access.subscripts
        )
    return Access(
        access.symbol,
        access.is_write,
        access.line,
        access.text,
        subscripts,
        tuple(one.renamed(names) for one in access.conditions),
        tuple(names.get(one, one) for one in access.loops),
    )


def _candidates(loop: Loop, touching: list[tuple[Access, Access]]) -> Iterable[tuple[Affine | None, Affine | None]]:
    """Bounds between which no iteration may touch the message, those that leave most iterations first.

    They are found by looking at the iterations that touch it; that they are right is proved afterwards.
    """
    ends: list[Affine | None] = [None]
    begins: list[Affine | None] = [None]
    for one, other in touching:
        for lower, upper in _bounds_of(loop, without(one, loop.own), other):
            if upper is not None:
                begins.append(upper + constant(1))
            if lower is not None:
                ends.append(lower - constant(1))
    pairs = list(dict.fromkeys(product(begins, ends)))
    at = _sample(loop, pairs)

    def iterations(pair: tuple[Affine | None, Affine | None]) -> int:
        low, high = max(map(at, loop.lowers)), min(map(at, loop.uppers))
        low = low if pair[0] is None else max(low, at(pair[0]))
        high = high if pair[1] is None else min(high, at(pair[1]))
        return high - low + 1

    useful = [pair for pair in pairs if iterations(pair) > 0]
    return sorted(useful, key=lambda pair: -iterations(pair))


def _sample(loop: Loop, pairs: list[tuple[Affine | None, Affine | None]]) -> Callable[[Affine], int]:
    """Large values of the unknowns, only to compare candidates."""
    used = [one for pair in pairs for one in pair if one is not None] + [*loop.lowers, *loop.uppers]
    unknowns = sorted({name for one in used for name in one.unknowns()})
    values = {name: known_value(name) or 1000 + 10 * i for i, name in enumerate(unknowns)}
    return lambda one: int(one.constant + sum(coefficient * values[u] for u, coefficient in one.terms))


def _bounds_of(loop: Loop, one: Access, other: Access) -> Iterable[tuple[Affine | None, Affine | None]]:
    """Lower and upper bounds of the iterations in which the two have a common element."""
    names = {u: f"p{i}" for i, u in enumerate(sorted({*unknowns_of((one, other)), loop.own}))}
    back = {name: u for u, name in names.items()}
    bound = {*one.loops, *other.loops}
    free = [name for u, name in names.items() if u not in bound and u != loop.own]
    elements = ", ".join(f"x{i}" for i in range(len(one.subscripts or ())))
    inside = " and ".join(formula(part, names, knows_values=False) for part in (one, other))
    if elements:
        inside = f"exists {elements} : {inside}"
    text = f"[{', '.join(free)}] -> {{ [{names[loop.own]}] : {inside} }}"
    for part in isl().Set(text).coalesce().get_basic_sets():
        yield from _constraints(part.remove_divs(), back)


def _constraints(part: Any, back: dict[str, Unknown]) -> Iterable[tuple[Affine | None, Affine | None]]:
    dim = isl().dim_type
    for one in part.get_constraints():
        factor = int(one.get_coefficient_val(dim.set, 0).to_python())
        if abs(factor) != 1:
            continue
        rest = constant(int(one.get_constant_val().to_python()))
        for i in range(one.space.dim(dim.param)):
            coefficient = int(one.get_coefficient_val(dim.param, i).to_python())
            if coefficient:
                rest = rest + unknown(back[one.space.get_dim_name(dim.param, i)]) * coefficient
        value = rest * -factor  # factor * i + rest >= 0, or = 0
        if one.is_equality():
            yield value, value
        elif factor == 1:
            yield value, None
        else:
            yield None, value
