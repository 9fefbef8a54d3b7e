# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The values of names at a place of the program, as far as they are affine."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from hocket.rewrite.affine import Affine, Condition, affine_of, conditions_of, unknown
from hocket.rewrite.sets import Range
from hocket.rewrite.symbols import Scope, Symbol
from hocket.rewrite.syntax import Node, child_of, children, named, text_of


@dataclass
class Place:
    """Inside which loops and branches a statement stands."""

    scope: Scope
    changed: Collection[str] | None  # aliases of variables that may change in the region; None: all
    loops: dict[str, str] = field(default_factory=dict)  # name of a loop variable -> its unknown
    order: tuple[str, ...] = ()  # unknowns of the loops, the outermost first
    conditions: tuple[Condition, ...] = ()

    def fixed(self, name: str) -> Affine | None:
        """The value of a name that does not change in the region and is no loop's variable."""
        if name in self.loops:
            return None
        symbol = self.scope.variable(name)
        if symbol.value is not None:
            found = affine_of(symbol.value, self.fixed, self.fixed) if symbol.type == "integer" else None
            number = found.number() if found is not None else None
            return None if number is None else unknown(f"{symbol.key}={number}")
        is_plain = symbol.type == "integer" and not symbol.is_array and not symbol.conflict and not symbol.is_procedure
        if not is_plain or symbol.alias != symbol.key or self.scope.has_attribute(name, "volatile"):
            return None
        return None if self.changed is None or symbol.alias in self.changed else unknown(symbol.key)

    def value(self, name: str) -> Affine | None:
        return unknown(self.loops[name]) if name in self.loops else self.fixed(name)

    def affine(self, node: Node | None) -> Affine | None:
        return None if node is None else affine_of(node, self.value, self.fixed)

    def _number(self, node: Node) -> int | None:
        value = self.affine(node)
        return None if value is None else value.number()

    def where(self, node: Node, is_true: bool) -> Place:
        """The same place where a logical expression is true, or false."""
        found = conditions_of(node, is_true, self.value, self.fixed)
        return Place(self.scope, self.changed, self.loops, self.order, self.conditions + found)

    def inside(self, variable: str, own: str, lower: Node, upper: Node, step: Node | None) -> Place:
        """In a loop. Its unknown is `own`."""
        stride = 1 if step is None else self._number(step)
        firsts: list[Affine] = []
        lasts: list[Affine] = []
        if stride is None:
            pass
        elif stride > 0:
            firsts, lasts = self.bounds(lower, "max"), self.bounds(upper, "min")
        else:
            firsts, lasts = self.bounds(upper, "max"), self.bounds(lower, "min")
        at = unknown(own)
        bounds = [Condition(at - first) for first in firsts] + [Condition(last - at) for last in lasts]
        loops = {**self.loops, variable: own}
        return Place(self.scope, self.changed, loops, (*self.order, own), self.conditions + tuple(bounds))

    def bounds(self, node: Node, function: str) -> list[Affine]:
        """Each of them limits a loop that begins with `max(...)`, or ends with `min(...)`; those that are not affine
        are left out."""
        arguments = child_of(node, "argument_list") if node.type == "call_expression" else None
        if arguments is not None and text_of(node.children[0]) == function and self.scope.find(function) is None:
            return [one for part in named(arguments) for one in self.bounds(part, function)]
        value = self.affine(node)
        return [] if value is None else [value]

    def subscripts(self, symbol: Symbol, arguments: Node | None) -> tuple[Range, ...] | None:
        """Of the elements that `symbol(arguments)` designates; None: any."""
        if symbol.bounds is None or arguments is None:
            return None
        parts = [part for part in children(arguments) if part.type not in ("(", ")", ",")]
        if len(parts) != len(symbol.bounds):
            return None
        return tuple(self._subscript(part) for part in parts)

    def _subscript(self, node: Node) -> Range:
        if node.type == "extent_specifier":
            lower, upper, stride = triplet(node)
            first, last = self.affine(lower), self.affine(upper)
            if stride is not None:
                value = self._number(stride)
                if value is None:
                    return Range(None, None)
                if value < 0:
                    first, last = last, first
            return Range(first, last)
        at = self.affine(node)
        return Range(at, at)


def triplet(node: Node) -> tuple[Node | None, Node | None, Node | None]:
    """lower : upper : stride of an extent_specifier."""
    found: list[Node | None] = [None, None, None]
    position = 0
    for part in children(node):
        if part.type == ":":
            position += 1
        else:
            found[position] = part
    return found[0], found[1], found[2]


def control_of(loop: Node) -> tuple[str, Node, Node, Node | None] | None:
    """`loop_control` of a do loop; None for all other statements."""
    statement = child_of(loop, "do_statement") if loop.type == "do_loop" else None
    control = child_of(statement, "loop_control_expression") if statement is not None else None
    return loop_control(control) if control is not None else None


def loop_control(node: Node) -> tuple[str, Node, Node, Node | None] | None:
    """Variable, lower and upper bound, and step of a do loop that counts."""
    parts = named(node)
    if len(parts) not in (3, 4) or parts[0].type != "identifier":
        return None
    return text_of(parts[0]), parts[1], parts[2], parts[3] if len(parts) == 4 else None
