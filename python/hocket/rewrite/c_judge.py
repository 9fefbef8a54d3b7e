# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the rewrite of a call in C or C++ gains, by the costs of a recorded trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hocket.rewrite.c_effects import CProgram
from hocket.rewrite.c_items import CItem
from hocket.rewrite.c_order import LOOPS, body_of, called_function
from hocket.rewrite.c_source import CFunction, Cursor, around, c_walk, children_of, kind
from hocket.rewrite.call_order import Site
from hocket.rewrite.costs import MOST_LEVELS, USUAL_COUNT, Costs, Prediction, side_by_side
from hocket.rewrite.mpi_procedures import mpi_procedures
from hocket.rewrite.windows import Window

_OPERATIONS = frozenset(
    "BINARY_OPERATOR UNARY_OPERATOR COMPOUND_ASSIGNMENT_OPERATOR ARRAY_SUBSCRIPT_EXPR CONDITIONAL_OPERATOR".split()
)
#: Operations of a function that is in no file, such as one of mathematics.
_UNKNOWN_CALL = 10.0


@dataclass
class CJudge:
    """Of one state of the files. `origins`: of each line (from 0) that of the original text."""

    costs: Costs
    program: CProgram
    origins: Mapping[Path, list[int]]
    _of_functions: dict[int, float] = field(default_factory=dict)
    _communicates: dict[int, bool] = field(default_factory=dict)
    _callers: dict[int, list[tuple[CFunction, Cursor]]] | None = None

    def knows(self, function: CFunction, call: Cursor) -> bool:
        return self._site(function, call) in self.costs.times.times

    def remember(self, function: CFunction, call: Cursor) -> None:
        """Takes the computation around a call as it stands now for that which was recorded, if it is new."""
        if self.knows(function, call):
            self._rates(function, call)

    def of_window(self, function: CFunction, call: Cursor, window: Window) -> Prediction:
        """Side by side with the statements in the window, of a call that the trace knows."""
        rates = self._rates(function, call)
        sides = zip(rates, (window.inside_above, window.inside_below), strict=True)
        computation_s = sum(
            rate * self.weight(one.cursor) for rate, items in sides for one in items if isinstance(one, CItem)
        )
        return side_by_side([self.costs.times.times[self._site(function, call)]], computation_s)

    def _site(self, function: CFunction, call: Cursor) -> Site:
        path = function.source.path
        return path, self.origins[path][int(call.extent.start.line) - 1] + 1

    def _rates(self, function: CFunction, call: Cursor) -> tuple[float, float]:
        weights = self._beside(function, call, True), self._beside(function, call, False)
        return self.costs.rates(self._site(function, call), weights)

    def _beside(self, function: CFunction, at: Cursor, is_above: bool, level: int = 0) -> float:
        """Of all statements up to the neighbouring call of MPI, through loops, branches and callers."""
        weight, path = 0.0, [*around(function.body, at), at]
        for parent, child in zip(path[-2::-1], path[:0:-1], strict=True):
            if kind(parent) == "COMPOUND_STMT":
                some = children_of(parent)
                place = some.index(child)
                found, is_end = self._up_to_communication(some[:place][::-1] if is_above else some[place + 1 :])
                weight += found
                if is_end:
                    return weight
                inside = some[place:][::-1] if is_above else some[: place + 1]
            elif kind(parent) in LOOPS and child == body_of(parent):  # the iteration before, or the next one
                return weight + self._up_to_communication(inside if kind(child) == "COMPOUND_STMT" else [])[0]
        if level == MOST_LEVELS:
            return weight
        callers = (self._beside(*one, is_above, level + 1) for one in self._calls_of(function))
        return weight + max(callers, default=0.0)

    def _up_to_communication(self, statements: Iterable[Cursor]) -> tuple[float, bool]:
        """The weight of those before the first that calls MPI, and whether there is one."""
        weight = 0.0
        for one in statements:
            if self._calls_mpi(one):
                return weight, True
            weight += self.weight(one)
        return weight, False

    def _calls_mpi(self, cursor: Cursor) -> bool:
        for one in c_walk(cursor):
            if kind(one) != "CALL_EXPR":
                continue
            name = str(one.spelling)
            if name.startswith("MPI_"):
                known = mpi_procedures().get(name.lower())
                if known is None or known.role != "local":
                    return True
            elif (called := called_function(one, self.program)) is not None:
                if id(called) not in self._communicates:
                    self._communicates[id(called)] = False  # where it calls itself
                    self._communicates[id(called)] = self._calls_mpi(called.body)
                if self._communicates[id(called)]:
                    return True
        return False

    def _calls_of(self, function: CFunction) -> list[tuple[CFunction, Cursor]]:
        if self._callers is None:
            self._callers = {}
            for caller in self.program.all:
                for one in c_walk(caller.body):
                    called = called_function(one, self.program) if kind(one) == "CALL_EXPR" else None
                    if called is not None:
                        self._callers.setdefault(id(called), []).append((caller, one))
        return self._callers.get(id(function), [])

    def weight(self, cursor: Cursor) -> float:
        """How much work a statement is, in operations, roughly. Only ratios within a function matter."""
        total, stack = 0.0, [(cursor, 1.0)]
        while stack:
            one, times = stack.pop()
            total += times * self._own_weight(one)
            parts = children_of(one)
            if kind(one) in LOOPS:
                times *= _iterations(one, parts)
            stack += [(part, times) for part in parts]
        return total

    def _own_weight(self, cursor: Cursor) -> float:
        if kind(cursor) != "CALL_EXPR":
            return float(kind(cursor) in _OPERATIONS)
        called = called_function(cursor, self.program)
        if called is None:
            return 1.0 if str(cursor.spelling).startswith("MPI_") else _UNKNOWN_CALL
        if id(called) not in self._of_functions:
            self._of_functions[id(called)] = USUAL_COUNT  # where it calls itself
            self._of_functions[id(called)] = 1.0 + self.weight(called.body)
        return self._of_functions[id(called)]


def _iterations(loop: Cursor, parts: Sequence[Cursor]) -> float:
    """Of `for (i = FIRST; i < LAST; i++)` with numbers; of other loops the usual number."""
    if kind(loop) != "FOR_STMT" or len(parts) != 4:
        return USUAL_COUNT
    first, last = (_last_number(one) for one in parts[:2])
    return max(0.0, last - first) if first is not None and last is not None else USUAL_COUNT


def _last_number(cursor: Cursor) -> float | None:
    """The right side of `int i = 0`, `i = 0` or `i < 9`, if it is a number."""
    for names in (("DECL_STMT",), ("BINARY_OPERATOR", "VAR_DECL"), ("UNEXPOSED_EXPR",)):
        if kind(cursor) in names and (parts := children_of(cursor)):
            cursor = parts[-1]
    tokens = [str(one.spelling) for one in cursor.get_tokens()] if kind(cursor) == "INTEGER_LITERAL" else []
    return float(tokens[0]) if len(tokens) == 1 and tokens[0].isdigit() else None
