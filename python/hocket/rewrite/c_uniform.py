# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Whether all ranks run a call of C: no condition around it, or around a call of its function, may differ.

A non-blocking collective never matches a blocking one. So a call must not become non-blocking if another rank may be at
another call meanwhile. What is the same on all ranks: literals, parameters that get such values at all calls, variables
that are assigned such values only, where all ranks are, what MPI_Comm_size and MPI_Allreduce give to a scalar.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from hocket.rewrite.c_effects import PLAIN, CProgram
from hocket.rewrite.c_names import is_number, is_pointer
from hocket.rewrite.c_skew import CSkew
from hocket.rewrite.c_source import (
    CFunction,
    CSource,
    Cursor,
    around,
    c_walk,
    first_child,
    is_of_the_system,
    kind,
    operator_of,
)

_SAME_EVERYWHERE = {"MPI_Comm_size": 1, "MPI_Bcast": 0, "MPI_Allreduce": 1}  # the argument that it sets
_BRANCHES = ("IF_STMT", "SWITCH_STMT", "CONDITIONAL_OPERATOR", "FOR_STMT", "WHILE_STMT", "DO_STMT")
_JUMPS = (
    "RETURN_STMT",
    "GOTO_STMT",
    "BREAK_STMT",
    "CONTINUE_STMT",
    "CXX_THROW_EXPR",
    "CXX_TRY_STMT",
    "INDIRECT_GOTO_STMT",
)


@dataclass
class Uniform:
    """Of all files. Answers are kept."""

    program: CProgram
    _variables: dict[str, frozenset[str]] = field(default_factory=dict)
    _calls: dict[str, list[tuple[CFunction, Cursor]]] = field(default_factory=dict)
    _running: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for function in self.program.all:
            for one in c_walk(function.body):
                found = one.referenced if kind(one) == "DECL_REF_EXPR" else None
                if found is not None and kind(found) == "FUNCTION_DECL":
                    self._calls.setdefault(one.spelling, []).append((function, one))

    def reason(self, function: CFunction, cursor: Cursor) -> str:
        """Why only some ranks may run a call, or why it may match another one; empty if all do, and it does not."""
        return self._reason(function, cursor) or self._skew.reason(function, cursor)

    @cached_property
    def _skew(self) -> CSkew:
        return CSkew(self.program, self._is_divergent)

    def _is_divergent(self, function: CFunction, cursor: Cursor) -> bool:
        return self._condition(function, cursor, self.variables(function)) is not None

    def _reason(self, function: CFunction, cursor: Cursor) -> str:
        """Why only some ranks may run what stands at `cursor`; empty if all do."""
        if function.includes_text:
            return f"the text of {function.name} stands in several files"
        variables = self.variables(function)
        for one in c_walk(function.body):
            if kind(one) == "INDIRECT_GOTO_STMT" or (
                kind(one) in _JUMPS and self._condition(function, one, variables) is not None
            ):
                line = one.extent.start.line
                return f"line {line}: only some ranks may leave the statements there"
        condition = self._condition(function, cursor, variables)
        if condition is not None:
            return f"the condition in line {condition.extent.start.line} may differ between ranks"
        return self._reason_of_calls(function)

    def _reason_of_calls(self, function: CFunction) -> str:
        name = function.name
        if name == "main":
            return ""
        if "main" not in self.program.functions and str(function.cursor.linkage.name) != "INTERNAL":
            return f"callers of {name} are not among the files"
        if self._mentions(name):
            return f"{name} is named where it is not known to be called"
        unknown = self._unknown_function
        if unknown and str(function.cursor.linkage.name) != "INTERNAL":
            return f"{unknown}, which is not among the files, may call {name}"
        if name in self._running:
            return f"{name} calls itself"
        self._running.add(name)
        try:
            for caller, call in self._calls.get(name, ()):
                if not self._is_called(caller, call):
                    return f"{name} is passed on in line {call.extent.start.line}"
                if reason := self._reason(caller, call):
                    return f"{name} is called in line {call.extent.start.line}: {reason}"
        finally:
            self._running.discard(name)
        return ""

    def _is_called(self, caller: CFunction, reference: Cursor) -> bool:
        """Whether a function's name stands there to be called."""
        return any(kind(one) == "CALL_EXPR" and _stands_for(one, reference) for one in c_walk(caller.body))

    def variables(self, function: CFunction) -> frozenset[str]:
        """USRs of the variables that are the same on all ranks."""
        if function.name not in self._variables:
            self._variables[function.name] = frozenset()  # where it calls itself
            self._variables[function.name] = self._find(function)
        return self._variables[function.name]

    def _find(self, function: CFunction) -> frozenset[str]:
        found = {
            one.get_usr()
            for one in c_walk(function.cursor)
            if kind(one) == "VAR_DECL"
            and is_number(one)
            and not is_pointer(one)
            and str(one.storage_class.name) == "NONE"
        }
        for place, one in enumerate(function.parameters):
            if is_number(one) and not is_pointer(one) and self._gets_the_same(function, place):
                found.add(one.get_usr())
        while True:
            kept = {usr for usr in found if self._stays(function, usr, frozenset(found))}
            if kept == found:
                return frozenset(found)
            found = kept

    def _gets_the_same(self, function: CFunction, place: int) -> bool:
        if function.name == "main":
            return True  # the command line
        if self._reason_of_calls(function):
            return False
        for caller, reference in self._calls.get(function.name, ()):
            for call in c_walk(caller.body):  # several, where a macro makes them
                if kind(call) == "CALL_EXPR" and _stands_for(call, reference):
                    arguments = list(call.get_arguments())
                    if place >= len(arguments) or not self._is_same(caller, arguments[place], self.variables(caller)):
                        return False
        return True

    def _stays(self, function: CFunction, usr: str, variables: frozenset[str]) -> bool:
        """Whether all that is assigned is the same on all ranks, and assigned by all of them."""
        for one, value in self._assignments(function, usr):
            if value is None or not self._is_same(function, value, variables):
                return False
            if self._condition(function, one, variables) is not None:
                return False
        return True

    def _assignments(self, function: CFunction, usr: str) -> Iterator[tuple[Cursor, Cursor | None]]:
        """Where a variable may change, and its new value; None: not known."""
        for one in c_walk(function.body):
            name, parts = kind(one), list(one.get_children())
            if name == "VAR_DECL" and one.get_usr() == usr:
                values = [part for part in parts if kind(part) != "TYPE_REF"]
                if values:
                    yield one, values[-1]
            elif name in ("LAMBDA_EXPR", "CXX_FOR_RANGE_STMT"):
                yield one, None
            elif name == "PAREN_EXPR" or not any(_is(part, usr) for part in parts):
                continue
            elif _is(parts[0], usr) and (
                name == "COMPOUND_ASSIGNMENT_OPERATOR"
                or (name == "BINARY_OPERATOR" and operator_of(function.source, one) == "=")
            ):
                yield one, parts[1]
            elif name == "UNARY_OPERATOR":
                operation = operator_of(function.source, one)
                is_known = operation in ("++", "--") or (operation == "&" and self._is_set_everywhere(function, one))
                yield one, parts[0] if is_known else None
            elif name not in ("UNEXPOSED_EXPR", "CXX_UNARY_EXPR") and not name.endswith("_STMT"):
                yield one, None  # used as an object, such as by reference in C++

    def _is_set_everywhere(self, function: CFunction, address: Cursor) -> bool:
        """`&x` as an argument of MPI that gives all ranks the same, or only reads it."""
        for one in c_walk(function.body):
            if kind(one) != "CALL_EXPR":
                continue
            for place, argument in enumerate(one.get_arguments()):
                if argument.extent.start == address.extent.start and argument.extent.end == address.extent.end:
                    name, others = str(one.spelling), [function.source.of(part) for part in one.get_arguments()]
                    if name not in _SAME_EVERYWHERE or "MPI_COMM_WORLD" not in (others[0], others[-1]):
                        return False
                    return place == _SAME_EVERYWHERE[name] or (name == "MPI_Allreduce" and place == 0)
        return False

    def _is_same(self, function: CFunction, cursor: Cursor, variables: frozenset[str]) -> bool:
        name, parts = kind(cursor), list(cursor.get_children())
        if name == "DECL_REF_EXPR":
            found = cursor.referenced
            if found is None:
                return False
            is_function = kind(found) == "FUNCTION_DECL" and self._is_plain(cursor.spelling)
            return is_function or kind(found) == "ENUM_CONSTANT_DECL" or found.get_usr() in variables
        if name == "ARRAY_SUBSCRIPT_EXPR" and function.name == "main" and len(function.parameters) > 1:
            words = function.parameters[1].get_usr()  # the command line
            while kind(parts[0]) == "UNEXPOSED_EXPR":
                parts = [first_child(parts[0]), parts[1]]
            is_it = _is(parts[0], words) and not self._is_written(function, words)
            return is_it and self._is_same(function, parts[1], variables)
        if name == "CALL_EXPR" and not self._is_plain(str(cursor.spelling)):
            return False
        if name not in _VALUES and not name.endswith("LITERAL"):
            return False
        if name == "UNEXPOSED_EXPR" and not parts:
            return False  # a default argument, for one
        return all(self._is_same(function, one, variables) for one in parts)

    def _is_written(self, function: CFunction, usr: str) -> bool:
        """Whether a pointer, or what it points to, is assigned."""
        targets = [
            next(one.get_children())
            for one in c_walk(function.body)
            if kind(one) == "COMPOUND_ASSIGNMENT_OPERATOR"
            or (kind(one) == "BINARY_OPERATOR" and operator_of(function.source, one) not in PLAIN)
        ]
        return any(_is(part, usr) for one in targets for part in c_walk(one))

    def _is_plain(self, name: str) -> bool:
        return name in ("atoi", "atof", "strtol", "sqrt", "pow", "log2") and name not in self.program.functions

    def _condition(self, function: CFunction, cursor: Cursor, variables: frozenset[str]) -> Cursor | None:
        """The outermost condition around a place that may differ between ranks."""
        for one in around(function.body, cursor):
            name = kind(one)
            if name in ("CXX_FOR_RANGE_STMT", "CXX_TRY_STMT"):
                return one
            if name == "UNEXPOSED_EXPR" and len(list(one.get_children())) > 1:  # GNU's x ?: y
                return one
            if name == "BINARY_OPERATOR" and operator_of(function.source, one) in ("&&", "||", ""):
                controls = list(one.get_children())[:1]
            else:
                controls = _controls(function, one) if name in _BRANCHES else []
            if not all(self._is_same(function, part, variables) for part in controls):
                return one
        return None

    def _mentions(self, name: str) -> bool:
        """Whether the files name a function elsewhere than where they declare or call it."""
        count = known = 0
        for source in self.program.sources:
            text = re.sub(rb"/\*.*?\*/|//[^\n]*", b" ", source.text, flags=re.DOTALL)
            count += len(re.findall(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)", text))
            known += sum(one.spelling == name and source.has(one) for one in self._declared(source))
        calls = len(self._calls.get(name, ()))
        return name in self._in_headers or count > known + calls or self._references[name] > calls

    @staticmethod
    def _declared(source: CSource) -> list[Cursor]:
        own = [one for one in source.unit.cursor.get_children() if source.has(one)]
        return [one for top in own for one in c_walk(top) if kind(one) == "FUNCTION_DECL"]

    @cached_property
    def _references(self) -> Counter[str]:
        """How often the files use each name, also in constructors and destructors, and as macros make it."""
        own = [one for source in self.program.sources for one in source.unit.cursor.get_children() if source.has(one)]
        return Counter(str(one.spelling) for top in own for one in c_walk(top) if kind(one) == "DECL_REF_EXPR")

    @cached_property
    def _in_headers(self) -> frozenset[str]:
        """Functions that code in headers uses."""
        found: set[str] = set()
        for source in self.program.sources:
            for one in source.unit.cursor.get_children():
                if not source.has(one) and not is_of_the_system(one):
                    found |= {str(part.spelling) for part in c_walk(one) if kind(part) == "DECL_REF_EXPR"}
        return frozenset(found)

    @cached_property
    def _unknown_function(self) -> str:
        """One that is used, is in none of the files, and belongs to neither MPI nor the system; empty: none."""
        for source in self.program.sources:
            for top in (one for one in source.unit.cursor.get_children() if not is_of_the_system(one)):
                for one in c_walk(top):
                    called = one.referenced if kind(one) == "DECL_REF_EXPR" else None
                    if called is None or kind(called) not in ("FUNCTION_DECL", "CXX_METHOD"):
                        continue
                    is_known = called.spelling in self.program.defined or called.get_definition() is not None
                    if not is_known and not is_of_the_system(called):
                        return str(called.spelling)
        return ""


_VALUES = (
    "UNEXPOSED_EXPR", "PAREN_EXPR", "CSTYLE_CAST_EXPR", "BINARY_OPERATOR", "UNARY_OPERATOR", "CONDITIONAL_OPERATOR",
    "COMPOUND_ASSIGNMENT_OPERATOR", "DECL_STMT", "VAR_DECL", "TYPE_REF", "CALL_EXPR", "CXX_UNARY_EXPR",
)  # fmt: skip


def _stands_for(call: Cursor, reference: Cursor) -> bool:
    return bool(call.spelling == reference.spelling and call.extent.start == reference.extent.start)


def _is(cursor: Cursor, usr: str) -> bool:
    while kind(cursor) == "PAREN_EXPR":
        cursor = first_child(cursor)
    return kind(cursor) == "DECL_REF_EXPR" and cursor.referenced is not None and cursor.referenced.get_usr() == usr


def _controls(function: CFunction, branch: Cursor) -> list[Cursor]:
    """The parts of a branch or loop that decide what runs."""
    parts = list(branch.get_children())
    if kind(branch) in ("IF_STMT", "SWITCH_STMT") and function.is_cxx:
        between = function.source.text[parts[0].extent.end.offset : parts[1].extent.start.offset]
        if not between.lstrip().startswith(b")"):  # `if (int x = 1; x == y)`
            return parts
    if kind(branch) in ("IF_STMT", "SWITCH_STMT", "CONDITIONAL_OPERATOR"):
        return parts[:1]
    if kind(branch) == "DO_STMT":
        return parts[1:]
    return parts[:-1]
