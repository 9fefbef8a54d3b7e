# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""In which order the functions of C and C++ files may call MPI. Where a way is not certain, it is taken as possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from hocket.rewrite.c_effects import CProgram
from hocket.rewrite.c_source import CFunction, Cursor, children_of, kind
from hocket.rewrite.call_order import CallGraph, CallOrder

LOOPS = frozenset(("FOR_STMT", "WHILE_STMT", "DO_STMT", "CXX_FOR_RANGE_STMT"))
_CASES = ("CASE_STMT", "DEFAULT_STMT")


def body_of(loop: Cursor) -> Cursor:
    parts = children_of(loop)
    return parts[0] if kind(loop) == "DO_STMT" else parts[-1]


def called_function(call: Cursor, program: CProgram) -> CFunction | None:
    """None for a function of no file, or of two."""
    known = program.functions.get(str(call.spelling))
    called = call.referenced
    is_it = known is not None and called is not None and known.cursor.get_usr() == called.get_usr()
    return known if is_it else None


@dataclass
class _Graph(CallGraph):
    program: CProgram = field(kw_only=True)

    def build(self, procedure: CFunction) -> None:
        _Body(self, procedure).build()


@dataclass
class _Body:
    graph: _Graph
    function: CFunction
    breaks: list[int] = field(default_factory=list)  # the places behind the loops and switches around, the inner last
    continues: list[int] = field(default_factory=list)  # the first places of the loops around
    switches: list[int] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)

    def build(self) -> None:
        first, last = self.graph.ends[id(self.function)]
        self._edge(self.statement(self.function.body, first), last)

    def _edge(self, start: int, end: int) -> None:
        self.graph.edges[start].add(end)

    def _behind(self, *places: int) -> int:
        """A place behind all of these."""
        found = self.graph.place()
        for place in places:
            self._edge(place, found)
        return found

    def statements(self, some: Iterable[Cursor], at: int) -> int:
        for one in some:
            at = self.statement(one, at)
        return at

    def statement(self, cursor: Cursor, at: int) -> int:
        """The place behind it. Of an expression, too."""
        name, parts = kind(cursor), children_of(cursor)
        if name in LOOPS:
            return self._loop(cursor, parts, at)
        if name in _CASES:
            at = self._behind(at, *self.switches[-1:])
            return self.statements(parts, at)
        if name in _STATEMENTS:
            return _STATEMENTS[name](self, cursor, parts, at)
        if name == "CALL_EXPR":
            return self._call(cursor, self.statements(parts, at))
        may_stop = name in ("CONDITIONAL_OPERATOR", "BINARY_OPERATOR")  # such as `&&`, or one side of `? :`
        for number, one in enumerate(parts):
            behind = self.statement(one, at)
            at = self._behind(at, behind) if may_stop and number and behind != at else behind
        return at

    def _loop(self, loop: Cursor, parts: Sequence[Cursor], at: int) -> int:
        begin, end, body = self._behind(at), self.graph.place(), body_of(loop)
        heads = [one for one in parts if one != body]
        self.breaks.append(end)
        self.continues.append(begin)
        middle = self._behind(begin, self.statements(heads, begin))  # what begins a `for` runs once
        self._edge(self.statement(body, middle), begin)
        self._edge(middle, end)
        self.breaks.pop()
        self.continues.pop()
        return end

    def _if(self, _: Cursor, parts: Sequence[Cursor], at: int) -> int:
        """Two branches, if there are two, or the parts of a head of C++, which then may be skipped."""
        at = self.statement(parts[0], at)
        return self._behind(at, *(self.statement(one, at) for one in parts[1:]))

    def _switch(self, _: Cursor, parts: Sequence[Cursor], at: int) -> int:
        begin, end = self.statements(parts[:-1], at), self.graph.place()
        self.switches.append(begin)
        self.breaks.append(end)
        self._edge(self.statement(parts[-1], self.graph.place()), end)
        self._edge(begin, end)
        self.breaks.pop()
        self.switches.pop()
        return end

    def _try(self, _: Cursor, parts: Sequence[Cursor], at: int) -> int:
        """A handler may begin behind any call of the block."""
        before = len(self.graph.edges)
        end = self.statement(parts[0], at)
        caught = self._behind(at, *range(before, len(self.graph.edges)))
        return self._behind(end, *(self.statement(one, caught) for one in parts[1:]))

    def _lambda(self, _: Cursor, parts: Sequence[Cursor], at: int) -> int:
        """It may run here."""
        return self._behind(at, self.statements(parts, at))

    def _break(self, _: Cursor, parts: Sequence[Cursor], at: int) -> int:
        return self._jump(at, self.breaks[-1:])

    def _continue(self, _: Cursor, parts: Sequence[Cursor], at: int) -> int:
        return self._jump(at, self.continues[-1:])

    def _return(self, _: Cursor, parts: Sequence[Cursor], at: int) -> int:
        return self._jump(self.statements(parts, at), [self.graph.ends[id(self.function)][1]])

    def _goto(self, cursor: Cursor, parts: Sequence[Cursor], at: int) -> int:
        return self._jump(at, [self._label(str(one.spelling)) for one in parts])

    def _labelled(self, cursor: Cursor, parts: Sequence[Cursor], at: int) -> int:
        place = self._label(str(cursor.spelling))
        self._edge(at, place)
        return self.statements(parts, place)

    def _jump(self, at: int, targets: Sequence[int]) -> int:
        for target in targets:
            self._edge(at, target)
        return self.graph.place()

    def _label(self, name: str) -> int:
        return self.labels.setdefault(name, self.graph.place())

    def _call(self, call: Cursor, at: int) -> int:
        name = str(call.spelling)
        if name.startswith("MPI_"):
            site = self.function.source.path, int(call.extent.start.line)
            return self.graph.call(site, name, at)
        known = called_function(call, self.graph.program)
        if known is None:
            return at
        return self.graph.call_known(known, at)


_STATEMENTS: dict[str, Callable[[_Body, Cursor, Sequence[Cursor], int], int]] = {
    "IF_STMT": _Body._if,
    "SWITCH_STMT": _Body._switch,
    "BREAK_STMT": _Body._break,
    "CONTINUE_STMT": _Body._continue,
    "RETURN_STMT": _Body._return,
    "GOTO_STMT": _Body._goto,
    "LABEL_STMT": _Body._labelled,
    "CXX_TRY_STMT": _Body._try,
    "LAMBDA_EXPR": _Body._lambda,
}


def c_call_order(program: CProgram, functions: Iterable[str]) -> CallOrder:
    """Of all functions of the files. `functions`: those that the trace has."""
    graph = _Graph(CallGraph.names(functions), program=program)
    for function in program.all:
        graph.add(function)
    return graph.order()
