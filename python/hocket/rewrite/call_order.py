# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""In which order a program may call MPI, and so which of its statements made the calls of a trace.

The statements that call MPI are the states of a finite automaton. Its steps are the ways from one to the next through
branches, loops and calls of procedures; a procedure may return to any of its callers. The states that lie on a path
from the first to the last call of the trace are found forwards and backwards; where one is left, it made the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hocket.rewrite.analysis import Analysis
from hocket.rewrite.blocks import bodies_of
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, children, line_of, text_of, walk

Site = tuple[Path, int]  # the file and the line of a statement that calls MPI


@dataclass
class CallOrder:
    """`sites`: the states, with their procedure of MPI in lower case; sets of states are bits of an integer."""

    sites: list[tuple[Site, str]]
    behind: list[int]  # the states that may follow each
    before: list[int]

    def of_names(self, names: Sequence[str]) -> list[int]:
        """The states that may make each call of a trace with these procedures; 0 for one that the files do not call."""
        by_name: dict[str, int] = {}
        for state, (_, name) in enumerate(self.sites):
            by_name[name] = by_name.get(name, 0) | 1 << state
        own = [by_name.get(name.lower().removesuffix("_c"), 0) for name in names]
        kept = [one for one in own if one]
        forwards = _pass(kept, self.behind)
        backwards = _pass(kept[::-1], self.before)[::-1]
        # Where the program went in a way that the graph does not have, every call of this name is possible.
        found = iter([one & other or every for one, other, every in zip(forwards, backwards, kept, strict=True)])
        return [next(found) if one else 0 for one in own]


def _pass(steps: Iterable[int], following: Sequence[int]) -> list[int]:
    found: list[int] = []
    known: dict[tuple[int, int], int] = {}
    at = 0
    for every in steps:
        key = (at, every)
        if key not in known:
            behind = 0
            for state in states_in(at):
                behind |= following[state]
            known[key] = behind & every or every
        at = known[key]
        found.append(at)
    return found


def states_in(states: int) -> Iterable[int]:
    while states:
        lowest = states & -states
        yield lowest.bit_length() - 1
        states ^= lowest


@dataclass
class _Graph:
    """Of places in the program; a place with a site calls MPI."""

    analysis: Analysis
    functions: frozenset[str]  # that the trace has, in lower case
    edges: list[set[int]] = field(default_factory=list)
    sites: dict[int, tuple[Site, str]] = field(default_factory=dict)
    ends: dict[int, tuple[int, int]] = field(default_factory=dict)  # procedure -> first and last place

    def place(self) -> int:
        self.edges.append(set())
        return len(self.edges) - 1

    def of(self, procedure: Procedure) -> tuple[int, int]:
        if id(procedure) not in self.ends:
            self.ends[id(procedure)] = self.place(), self.place()
            _Body(self, procedure).build()
        return self.ends[id(procedure)]


@dataclass
class _Body:
    graph: _Graph
    procedure: Procedure
    loops: list[tuple[int, int]] = field(default_factory=list)  # first and last place of the loops around
    labels: dict[str, int] = field(default_factory=dict)  # the place of each label
    known: set[str] = field(default_factory=set)  # labels that a statement has

    def build(self) -> None:
        first, last = self.graph.ends[id(self.procedure)]
        before = len(self.graph.edges)
        end = self.statements(self.procedure.body, first)
        self.graph.edges[end].add(last)
        if self._jumps_anywhere():
            middle = self.graph.place()
            for place in [first, *range(before, middle)]:
                self.graph.edges[place].add(middle)
            self.graph.edges[middle] |= {last, *range(before, middle)}

    def _jumps_anywhere(self) -> bool:
        """Whether there are other jumps than `goto` to a label that was found."""
        if set(self.labels) != self.known & set(self.labels):
            return True
        for statement in self.procedure.body:
            for node in walk(statement):
                parent = node.parent.type if node.parent is not None else ""
                is_label = node.is_named and node.type == "statement_label_reference"
                is_other = is_label and parent not in ("keyword_statement", "do_statement")
                if node.type == "arithmetic_if_statement" or is_other or _is_computed(node):
                    return True
        return False

    def _label(self, name: str) -> int:
        if name not in self.labels:
            self.labels[name] = self.graph.place()
        return self.labels[name]

    def statements(self, nodes: Iterable[Node], at: int) -> int:
        for node in nodes:
            if node.is_named and node.type != "comment":
                at = self.statement(node, at)
        return at

    def statement(self, node: Node, at: int) -> int:
        """The place behind it."""
        edges = self.graph.edges
        if node.type == "keyword_statement":
            return self._leaving(node, at)
        if node.type == "statement_label":
            self.known.add(text_of(node))
            place = self._label(text_of(node))
            edges[at].add(place)
            return place
        bodies = bodies_of(node)
        if node.type == "if_statement" and not bodies:  # on one line
            at = self._calls_of_head(node, at)
            inside = [one for one in node.children if one.is_named and one.type != "parenthesized_expression"]
            end = self.graph.place()
            edges[at].add(end)
            edges[self.statements(inside, at)].add(end)
            return end
        if not bodies:
            return self._calls(node, at)
        begin, end = self.graph.place(), self.graph.place()
        edges[self._calls_of_head(node, at)].add(begin)
        edges[begin].add(end)  # no iteration, or no branch
        if node.type == "do_loop":
            self.loops.append((begin, end))
        for body in bodies:
            inner = self.statements(body, begin)
            edges[inner].add(begin if node.type == "do_loop" else end)
        if node.type == "do_loop":
            self.loops.pop()
        return end

    def _leaving(self, node: Node, at: int) -> int:
        word = text_of(children(node)[0])
        if word == "return":
            self.graph.edges[at].add(self.graph.ends[id(self.procedure)][1])
        elif word in ("exit", "cycle"):  # of any loop around, as it may have a name
            self.graph.edges[at] |= {ends[word == "exit"] for ends in self.loops}
        elif text_of(node).startswith("goto"):
            self.graph.edges[at].add(self._label(text_of(children(node)[-1])))
        return at if word == "continue" else self.graph.place()

    def _calls_of_head(self, node: Node, at: int) -> int:
        """In the condition or the bounds."""
        for part in node.children:
            if part.type in ("parenthesized_expression", "do_statement", "selector"):
                at = self._calls(part, at)
        return at

    def _calls(self, node: Node, at: int) -> int:
        for one in walk(node):
            if one.type not in ("subroutine_call", "call_expression"):
                continue
            named = children(one)[1 if one.type == "subroutine_call" else 0]
            name = text_of(named) if named.type == "identifier" else ""
            if name.startswith("mpi_"):
                if one.type == "subroutine_call" and name in self.graph.functions:
                    place = self.graph.place()
                    self.graph.sites[place] = (self.procedure.source.path, line_of(one)), name
                    self.graph.edges[at].add(place)
                    at = place
                continue
            known = self.graph.analysis.procedure(name, self.procedure) if name else None
            if known is not None:
                first, last = self.graph.of(known)
                behind = self.graph.place()
                self.graph.edges[at].add(first)
                self.graph.edges[last].add(behind)
                at = behind
        return at


def _is_computed(node: Node) -> bool:
    return node.type == "keyword_statement" and text_of(node).startswith("goto") and "(" in text_of(node)


def call_order(analysis: Analysis, functions: Iterable[str]) -> CallOrder:
    """Of all procedures of the files. `functions`: those that the trace has."""
    graph = _Graph(analysis, frozenset(name.lower().removesuffix("_c") for name in functions))
    for procedure in analysis.program.procedures:
        graph.of(procedure)
    places = list(graph.sites)
    state_of = {place: state for state, place in enumerate(places)}
    behind = [_next_sites(graph, place, state_of) for place in places]
    before = [0] * len(places)
    for state, some in enumerate(behind):
        for other in states_in(some):
            before[other] |= 1 << state
    return CallOrder([graph.sites[place] for place in places], behind, before)


def _next_sites(graph: _Graph, place: int, state_of: dict[int, int]) -> int:
    found, seen, stack = 0, set[int](), list(graph.edges[place])
    while stack:
        at = stack.pop()
        if at in seen:
            continue
        seen.add(at)
        if at in state_of:
            found |= 1 << state_of[at]
        else:
            stack.extend(graph.edges[at])
    return found
