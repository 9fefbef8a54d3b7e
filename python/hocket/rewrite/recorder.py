# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Keeps what visitors of statements find: accesses of variables, and barriers."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import Protocol

from hocket.rewrite.affine import Affine, Condition, constant
from hocket.rewrite.effects import Barrier, Effects, Summary
from hocket.rewrite.facts import Facts
from hocket.rewrite.mpi_arguments import BoundArguments
from hocket.rewrite.sets import Access, Range
from hocket.rewrite.symbols import Procedure, Symbol
from hocket.rewrite.syntax import Node, identifiers, line_of, source_of, text_of
from hocket.rewrite.values import Place


class Summaries(Protocol):
    def of(self, name: str, caller: Procedure) -> Summary: ...

    def procedure(self, name: str, caller: Procedure) -> Procedure | None: ...

    @property
    def ignores_clocks(self) -> bool: ...


_CLOCKS = frozenset("system_clock cpu_time date_and_time mpi_wtime mpi_wtick secnds etime second omp_get_wtime".split())


class Recorder(ABC):
    """Of statements of one procedure that are visited one after another."""

    def __init__(
        self,
        procedure: Procedure,
        summaries: Summaries,
        facts: Facts,
        changed: Collection[str] | None = None,
        earlier: Iterable[Node] = (),
    ) -> None:
        self.procedure = procedure
        self.summaries = summaries
        self.facts = facts
        self.earlier = {node.id for node in earlier}  # statements before this one in its list
        self.effects = Effects()
        self.place = Place(procedure.scope, changed)
        self.defined: set[str] = set()  # keys of scalars that have been written on every way here
        self.within: tuple[Condition, ...] = ()  # of all that the statement accesses
        self.says_pure = False  # an annotation of the statement that is visited

    @abstractmethod
    def read(self, node: Node) -> None:
        """Visits an expression."""

    @abstractmethod
    def write(self, node: Node) -> None:
        """Visits a variable, an element, a section or a component that is written."""

    @abstractmethod
    def component(self, node: Node, is_write: bool) -> None:
        """Visits a component."""

    def base(self, node: Node) -> Symbol | None:
        while node.type != "identifier":
            if node.child_count == 0:
                return None
            node = node.children[0]
        return self.procedure.scope.variable(text_of(node))

    # What is found

    def _access(self, symbol: Symbol, is_write: bool, node: Node, arguments: Node | None = None) -> None:
        self.add(symbol, is_write, node, self.place.subscripts(symbol, arguments))

    def add(self, symbol: Symbol, is_write: bool, node: Node, subscripts: tuple[Range, ...] | None) -> None:
        if symbol.value is not None or "parameter" in symbol.attributes:
            return
        if symbol.conflict:
            self.barrier("unseen", node, symbol.conflict, "name that file too")
            return
        if symbol.is_procedure:
            self.barrier("unknown-call", node, f"{symbol.name} is a procedure")
            return
        if "volatile" in symbol.attributes or self.procedure.scope.has_attribute(symbol.name, "volatile"):
            self.barrier("volatile", node, f"{symbol.name} is volatile")
            return
        if symbol.is_coarray:
            self.barrier("coarray", node, f"other images may access {symbol.name}")
            return
        if not is_write and self.is_loop_variable(symbol):
            return
        if not is_write and not symbol.is_array and symbol.key in self.defined and not self.facts.has_jumps:
            return
        if not is_write and not symbol.is_array:
            self.effects.exposed.add(symbol.key)
        if symbol.alias != symbol.key:
            subscripts = None
        text = source_of(node)
        place = self.place
        self.effects.accesses.append(
            Access(symbol, is_write, line_of(node), text[:60], subscripts, place.conditions, place.order, self.within)
        )

    def is_loop_variable(self, symbol: Symbol) -> bool:
        """Of a loop around the place. Another scope may have another variable of this name."""
        name = symbol.name
        return name in self.place.loops and self.procedure.scope.variable(name).key == symbol.key

    def bounds_of(self, symbol: Symbol, subscripts: tuple[Range, ...] | None) -> list[Condition]:
        """What holds because an element is within the bounds of its array, which are those on entry: of names that
        cannot change."""
        if symbol.bounds is None or subscripts is None or not symbol.key.startswith(f"{self.procedure.scope.name}::"):
            return []
        found = []
        for (lower, upper), one in zip(symbol.bounds, subscripts, strict=False):
            if one.lower is None or one.lower != one.upper or upper is None:
                continue
            low, high = constant(1) if lower is None else self._on_entry(lower), self._on_entry(upper)
            found += [Condition(one.lower - low)] if low is not None else []
            found += [Condition(high - one.lower)] if high is not None else []
        return found

    def _on_entry(self, node: Node) -> Affine | None:
        for name in identifiers(node):
            symbol = self.procedure.scope.variable(name)
            if symbol.value is None and not (symbol.is_dummy and "intent(in)" in symbol.attributes):
                return None
        return self.place.affine(node)

    def barrier(self, code: str, node: Node, reason: str, hint: str = "") -> None:
        self.found_barrier(Barrier(code, reason, hint, line_of(node)), node)

    def found_barrier(self, barrier: Barrier, node: Node) -> None:
        """Nobody looks into it: it may read whatever it names."""
        self.effects.barriers.append(barrier)
        for name in identifiers(node):
            symbol = self.procedure.scope.variable(name)
            if not symbol.is_array and symbol.key not in self.defined:
                self.effects.exposed.add(symbol.key)

    def directive(self, comment: Node) -> None:
        """Its clauses read what they name, but for those that name what the loop behind it has or shares."""
        clauses = re.sub(r"\b(private|shared)\s*\([^)]*\)", "", text_of(comment).lower())
        for name in dict.fromkeys(re.findall(r"[a-z]\w*", clauses)):
            if self.procedure.scope.find(name) is not None:
                self._access(self.procedure.scope.variable(name), False, comment)

    def clock(self, name: str, node: Node) -> bool:
        if name not in _CLOCKS:
            return False
        if self.summaries.ignores_clocks:
            self.add(Symbol("(clock)", "(clock)"), True, node, None)  # measurements keep their order
        else:
            hint = "--ignore-clocks accepts that measured times mean something else"
            self.barrier("clock", node, f"{name} measures the time between statements", hint)
        return True

    def is_ignored(self, error: Node) -> bool:
        """Whether nothing reads the variable for an error code: who writes it last does not matter then."""
        symbol = self.procedure.scope.variable(text_of(error)) if error.type == "identifier" else None
        if symbol is None or symbol.alias != symbol.key or not symbol.key.startswith(f"{self.procedure.scope.name}::"):
            return False
        return symbol.name not in self.facts.read_errors

    def starts_of(self, request: Symbol | None) -> list[tuple[BoundArguments, bool]] | None:
        """The operations that a request may stand for, and whether its arguments have the values that they had there.

        None if not all of them are known.
        """
        name = request.name if request is not None else ""
        is_own = request is not None and request.key.startswith(f"{self.procedure.scope.name}::")
        if request is None or not is_own or request.is_dummy or request.alias != request.key:
            return None
        outlives = self.procedure.kind != "program" and self.procedure.is_saved(request)
        if name in self.facts.foreign_requests or outlives:
            return None
        is_here = not self.place.order and not self.place.conditions
        return [(start, is_here and start.node.id in self.earlier) for start in self.facts.starts.get(name, [])]
