# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Affine integer expressions of the source, and the conditions that loops and branches put on them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from hocket.rewrite.syntax import Node, children, named, text_of

#: An unknown of an expression: a variable that keeps its value, a loop variable, or a whole term that is not affine.
#: That of a named constant ends with `=` and its value: results are written with the constant's name.
Unknown = str


def known_value(name: Unknown) -> int | None:
    found = re.search(r"=(-?\d+)$", name)
    return int(found[1]) if found else None


@dataclass(frozen=True)
class Affine:
    """sum of coefficient * unknown, plus a constant."""

    terms: tuple[tuple[Unknown, int], ...]
    constant: int = 0

    def __add__(self, other: Affine) -> Affine:
        sums = dict(self.terms)
        for unknown, coefficient in other.terms:
            sums[unknown] = sums.get(unknown, 0) + coefficient
        return Affine(tuple(sorted((u, c) for u, c in sums.items() if c)), self.constant + other.constant)

    def __mul__(self, factor: int) -> Affine:
        return Affine(tuple((u, c * factor) for u, c in self.terms if factor), self.constant * factor)

    def __sub__(self, other: Affine) -> Affine:
        return self + other * -1

    def renamed(self, names: dict[Unknown, Unknown]) -> Affine:
        return Affine((), self.constant) + sum_of(Affine(((names.get(u, u), c),)) for u, c in self.terms)

    def number(self) -> int | None:
        """Its value, if it is known."""
        total = self.constant
        for name, coefficient in self.terms:
            value = known_value(name)
            if value is None:
                return None
            total += coefficient * value
        return total

    def unknowns(self) -> set[Unknown]:
        return {unknown for unknown, _ in self.terms}


def sum_of(parts: object) -> Affine:
    total = Affine(())
    for part in parts:  # type: ignore[attr-defined]
        total = total + part
    return total


def constant(value: int) -> Affine:
    return Affine((), value)


def unknown(name: Unknown) -> Affine:
    return Affine(((name, 1),))


Comparison = Literal[">=", "=", "!="]


@dataclass(frozen=True)
class Condition:
    """`left` compared with zero."""

    left: Affine
    comparison: Comparison = ">="

    def renamed(self, names: dict[Unknown, Unknown]) -> Condition:
        return Condition(self.left.renamed(names), self.comparison)


#: The value of a name: affine in the unknowns, or None where it may change or is not known.
Values = Callable[[str], Affine | None]


def affine_of(node: Node, values: Values, fixed: Values) -> Affine | None:
    """The expression at `node`; None if it is not affine.

    `fixed` is as `values` without loop variables: a term of fixed values only that is not affine, such as n / p,
    becomes an unknown of its own.
    """
    if node.type == "number_literal":
        text = text_of(node)
        return constant(int(text)) if re.fullmatch(r"\d{1,9}", text) else None
    if node.type == "identifier":
        return values(text_of(node))
    if node.type == "parenthesized_expression":
        inside = named(node)
        return affine_of(inside[0], values, fixed) if len(inside) == 1 else None
    if node.type == "unary_expression":
        sign, operand = children(node)[0].type, children(node)[-1]
        value = affine_of(operand, values, fixed)
        return None if value is None or sign not in "+-" else value * (1 if sign == "+" else -1)
    if node.type == "math_expression":
        parts = children(node)
        if len(parts) == 3:
            found = _binary(parts[0], parts[1].type, parts[2], values, fixed)
            return found if found is not None else _whole(node, fixed)
    return None


def _binary(left: Node, operator: str, right: Node, values: Values, fixed: Values) -> Affine | None:
    a, b = affine_of(left, values, fixed), affine_of(right, values, fixed)
    if a is None or b is None:
        return None
    if operator == "+":
        return a + b
    if operator == "-":
        return a - b
    x, y = a.number(), b.number()
    if operator == "*" and x is not None:
        return b * x
    if operator == "*" and y is not None:
        return a * y
    if operator == "/" and x is not None and y:
        return constant(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1))  # towards zero
    return None


def _whole(node: Node, fixed: Values) -> Affine | None:
    """A product or quotient of fixed values is the same number wherever it stands."""
    if node.type in ("identifier", "number_literal"):
        return affine_of(node, fixed, fixed)
    if node.type not in ("math_expression", "parenthesized_expression", "unary_expression"):
        return None
    if any(part.is_named and _whole(part, fixed) is None for part in children(node)):
        return None
    return unknown(f"({text_of(node)})")


_COMPARISONS = {".eq.": "==", ".ne.": "/=", ".lt.": "<", ".le.": "<=", ".gt.": ">", ".ge.": ">="}
_OPPOSITE = {"==": "/=", "/=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def conditions_of(node: Node, is_true: bool, values: Values, fixed: Values) -> tuple[Condition, ...]:
    """What holds where the logical expression is true, or false; what is not affine is left out."""
    if node.type == "parenthesized_expression" and len(named(node)) == 1:
        return conditions_of(named(node)[0], is_true, values, fixed)
    parts = children(node)
    if node.type == "logical_expression":
        operator = text_of(parts[-2]) if len(parts) > 1 else ""
        if operator == ".not.":
            return conditions_of(parts[-1], not is_true, values, fixed)
        if operator == (".and." if is_true else ".or."):
            left, right = (conditions_of(part, is_true, values, fixed) for part in (parts[0], parts[-1]))
            return left + right
        return ()
    if node.type != "relational_expression" or len(parts) != 3:
        return ()
    operator = text_of(parts[1])
    operator = _COMPARISONS.get(operator, operator)
    a, b = affine_of(parts[0], values, fixed), affine_of(parts[2], values, fixed)
    if a is None or b is None or operator not in _OPPOSITE:
        return ()
    if not is_true:
        operator = _OPPOSITE[operator]
    difference, one = a - b, constant(1)
    return (
        {
            "==": Condition(difference, "="),
            "/=": Condition(difference, "!="),
            ">=": Condition(difference),
            ">": Condition(difference - one),
            "<=": Condition(difference * -1),
            "<": Condition(difference * -1 - one),
        }[operator],
    )
