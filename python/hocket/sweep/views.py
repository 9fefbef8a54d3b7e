# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What [[show]] of a campaign asks for, and the numbers that a table or a picture shows."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas import DataFrame

#: Each kind, and the columns that it needs beside the value.
KINDS = {
    "table": ("x", "by"),
    "lines": ("x", "by"),
    "heat": ("x", "y"),
    "crossover": ("x", "y", "by"),
    "pareto": ("x",),
}


@dataclass(frozen=True)
class View:
    """Columns of the rows."""

    kind: str
    x: str
    y: str | None = None
    by: str | None = None  #: what is compared
    value: str = "makespan_s"  #: smaller is better
    of_several: str = "least"  #: or "most": which of several rows with the same x, y and by counts
    relative_to: str | None = None  #: the value of `by` that the others are divided by; table, lines
    where: tuple[tuple[str, Any], ...] = ()  #: only rows that have these values
    title: str = ""

    @property
    def name(self) -> str:
        return self.title or f"{self.value} over {self.x}" + (f" by {self.by}" if self.by else "")

    @property
    def columns(self) -> list[str]:
        return [one for one in (self.x, self.y, self.by) if one] + [self.value, *(name for name, _ in self.where)]


def view_of(given: Any, parameters: Sequence[str], where: str) -> View:
    """Columns that a result has are known only when there is one: `grid` refuses unknown ones."""
    if not isinstance(given, dict):
        raise InvalidInput(f"{where}: {given!r}; accepted: a table [[show]]")
    known = [field.name for field in fields(View)]
    for name, value in given.items():
        if name not in known:
            raise InvalidInput(f"{where}: unknown {name}", f"accepted: {', '.join(known)}")
        if not isinstance(value, dict if name == "where" else str):
            raise InvalidInput(f"{where}.{name}: {value!r}; accepted: {'a table' if name == 'where' else 'text'}")
    kind = given.get("kind", "table")
    if kind not in KINDS:
        raise InvalidInput(f"{where}.kind: {kind!r}", f"accepted: {', '.join(KINDS)}")
    if given.get("of_several", "least") not in ("least", "most"):
        raise InvalidInput(f"{where}.of_several: {given['of_several']!r}", "accepted: least, most")
    for needed in KINDS[kind]:
        if needed not in given:
            example = f"; parameters: {', '.join(parameters)}" if parameters else ""
            raise InvalidInput(
                f"{where}: {needed} is missing", f"kind = {kind!r} needs {', '.join(KINDS[kind])}{example}"
            )
    return View(**{**given, "kind": kind, "where": tuple(_flat(given.get("where", {})))})


def _flat(table: dict[str, Any], before: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in table.items():
        found += _flat(value, f"{before}{name}.") if isinstance(value, dict) else [(before + name, value)]
    return found


@dataclass(frozen=True)
class Grid:
    """The value of each place, in the order of the rows; None = no row. Numbers are in ascending order."""

    x: list[Any]
    y: list[Any]  #: of `y`, or of `by` where the view has no y
    values: list[list[float | None]]  #: [y][x]
    winners: list[list[str | None]]  #: of `by`; crossover alone


def grid(view: View, rows: DataFrame) -> Grid:
    """@raises InvalidInput if the rows have no such column, or nothing is left of them."""
    chosen = selected(view, rows)
    across = view.y or view.by
    if across is None:  # one row of values
        chosen = chosen.assign(all=view.value)
        across = "all"
    x, y = ordered(chosen[view.x]), ordered(chosen[across])
    values: list[list[float | None]] = [[None] * len(x) for _ in y]
    winners: list[list[str | None]] = [[None] * len(x) for _ in y]
    at_x, at_y = {one: number for number, one in enumerate(x)}, {one: number for number, one in enumerate(y)}
    names = chosen[view.by] if view.by else [None] * len(chosen)
    for of_x, of_y, name, value in zip(chosen[view.x], chosen[across], names, chosen[view.value], strict=True):
        row, column = at_y[of_y], at_x[of_x]
        best = values[row][column]
        if best is None or (value < best if view.of_several == "least" else value > best):
            values[row][column], winners[row][column] = float(value), None if name is None else str(name)
    if view.relative_to is not None:
        _divide(view, y, values)
    return Grid(x, y, values, winners)


def _divide(view: View, names: list[Any], values: list[list[float | None]]) -> None:
    base = next((row for row, name in zip(values, names, strict=True) if str(name) == view.relative_to), None)
    if base is None:
        raise InvalidInput(
            f"{view.name}: no row has {view.by} = {view.relative_to!r}", f"accepted: {', '.join(map(str, names))}"
        )
    by = list(base)
    for row in values:
        for at, value in enumerate(row):
            below = by[at]
            row[at] = value / below if value is not None and below else None


def pareto(view: View, rows: DataFrame) -> tuple[DataFrame, DataFrame]:
    """All rows, and those that no other row is better than in both columns, by rising x."""
    chosen = selected(view, rows).sort_values([view.x, view.value], kind="stable")
    least, keep = math.inf, []
    for value in chosen[view.value]:
        keep.append(value < least)
        least = min(least, value)
    return chosen, chosen[keep]


def selected(view: View, rows: DataFrame) -> DataFrame:
    for name in view.columns:
        if name not in rows:
            raise InvalidInput(f"{view.name}: the rows have no column {name!r}", f"accepted: {', '.join(rows)}")
    for name, value in view.where:
        rows = rows[rows[name] == value]
    rows = rows.dropna(subset=[view.value])
    if rows.empty:
        raise InvalidInput(f"{view.name}: no row is left", "every task failed, or `where` leaves none out of all")
    return rows


def ordered(values: Any) -> list[Any]:
    """Each once: numbers ascending, text in the order of the rows."""
    found = list(dict.fromkeys(value.item() if hasattr(value, "item") else value for value in values))
    return sorted(found) if all(isinstance(value, (int, float)) for value in found) else found
