# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which elements of an array a statement may access, as sets of isl; whether two of them have a common element."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hocket.rewrite.affine import Affine, Condition, Unknown, known_value
from hocket.rewrite.libraries import isl
from hocket.rewrite.symbols import Symbol


@dataclass(frozen=True)
class Range:
    """Subscripts of a dimension; None where there is no known bound."""

    lower: Affine | None
    upper: Affine | None


@dataclass(frozen=True, eq=False)
class Access:
    """A statement reads or writes elements of a variable, or its only one.

    The subscripts depend on the unknowns; those in `loops` take every value that the conditions allow.
    """

    symbol: Symbol
    is_write: bool
    line: int
    text: str
    subscripts: tuple[Range, ...] | None = None  # None: anywhere in the variable
    conditions: tuple[Condition, ...] = ()
    loops: tuple[Unknown, ...] = ()
    within: tuple[Condition, ...] = ()  # hold because subscripts are within the declared bounds

    @property
    def alias(self) -> str:
        return self.symbol.alias


def as_isl(one: Affine, names: dict[Unknown, str]) -> str:
    """As isl writes it."""
    parts = [f"{coefficient}*{names[unknown]}" for unknown, coefficient in one.terms]
    return " + ".join([*parts, str(one.constant)])


def formula(access: Access, names: dict[Unknown, str], knows_values: bool = True) -> str:
    """The condition for element [x0, x1, ...] to be among those accessed."""
    known = [(name, known_value(one)) for one, name in names.items()] if knows_values else []
    parts = [f"{name} = {value}" for name, value in known if value is not None]
    parts += [f"{as_isl(one.left, names)} {one.comparison} 0" for one in (*access.conditions, *access.within)]
    for i, subscript in enumerate(access.subscripts or ()):
        if subscript.lower is not None:
            parts.append(f"{as_isl(subscript.lower, names)} <= x{i}")
        if subscript.upper is not None:
            parts.append(f"x{i} <= {as_isl(subscript.upper, names)}")
    inside = " and ".join(parts) or "true"
    bound = [names[loop] for loop in access.loops]
    return f"(exists {', '.join(bound)} : {inside})" if bound else f"({inside})"


def unknowns_of(accesses: Iterable[Access]) -> list[Unknown]:
    found: set[Unknown] = set()
    for access in accesses:
        found.update(access.loops)
        for condition in (*access.conditions, *access.within):
            found |= condition.left.unknowns()
        for subscript in access.subscripts or ():
            for bound in (subscript.lower, subscript.upper):
                found |= bound.unknowns() if bound is not None else set()
    return sorted(found)


def have_common_element(first: Access, second: Access, extra: Sequence[Condition] = ()) -> bool:
    """False only if it is proved that there is none, for any values of the unknowns that meet `extra`."""
    if first.alias != second.alias:
        return False
    if first.symbol is not second.symbol or first.subscripts is None or second.subscripts is None:
        return True
    if len(first.subscripts) != len(second.subscripts):
        return True
    return not is_empty(_common(first, second, extra))


def _common(first: Access, second: Access, extra: Sequence[Condition]) -> str:
    extra_access = Access(first.symbol, False, 0, "", None, tuple(extra))
    names = {unknown: f"p{i}" for i, unknown in enumerate(unknowns_of((first, second, extra_access)))}
    bound = {*first.loops, *second.loops}
    elements = ", ".join(f"x{i}" for i in range(len(first.subscripts or ())))
    free = ", ".join(name for unknown, name in names.items() if unknown not in bound)
    parts = [formula(first, names), formula(second, names), formula(extra_access, names)]
    return f"[{free}] -> {{ [{elements}] : {' and '.join(parts)} }}"


def is_empty(text: str) -> bool:
    """Whether the set has no element, whatever its parameters are."""
    return bool(isl().Set(text).is_empty())
