# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""In which order the procedures of Fortran files may call MPI."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hocket.rewrite.analysis import Analysis
from hocket.rewrite.blocks import bodies_of
from hocket.rewrite.call_order import CallGraph, CallOrder
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, children, line_of, text_of, walk


@dataclass
class _Graph(CallGraph):
    analysis: Analysis = field(kw_only=True)

    def build(self, procedure: Procedure) -> None:
        _Body(self, procedure).build()


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
                if one.type == "subroutine_call":
                    at = self.graph.call((self.procedure.source.path, line_of(one)), name, at)
                continue
            known = self.graph.analysis.procedure(name, self.procedure) if name else None
            if known is not None:
                at = self.graph.call_known(known, at)
        return at


def _is_computed(node: Node) -> bool:
    return node.type == "keyword_statement" and text_of(node).startswith("goto") and "(" in text_of(node)


def call_order(analysis: Analysis, functions: Iterable[str]) -> CallOrder:
    """Of all procedures of the files. `functions`: those that the trace has."""
    graph = _Graph(CallGraph.names(functions), analysis=analysis)
    for procedure in analysis.program.procedures:
        graph.add(procedure)
    return graph.order()
