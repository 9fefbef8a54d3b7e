# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What statements of C read and write. What is not known to be harmless is a barrier."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hocket.rewrite.c_names import FRESH, OTHERS, Names, is_array, is_number, is_pointer, is_reference
from hocket.rewrite.c_source import (
    CFunction,
    CSource,
    Cursor,
    c_walk,
    functions_of,
    is_of_the_system,
    kind,
    operator_of,
)
from hocket.rewrite.effects import Barrier, Effects, MpiUse
from hocket.rewrite.mpi_procedures import MpiProcedure, mpi_procedures
from hocket.rewrite.sets import Access
from hocket.rewrite.symbols import Symbol

#: Functions of math.h (and stdlib.h) that use their arguments only. They may set errno, which only a call can read.
_MATHEMATICS = frozenset(
    "sqrt cbrt exp exp2 log log2 log10 pow sin cos tan asin acos atan atan2 sinh cosh tanh fabs floor ceil round trunc"
    " fmin fmax fmod hypot erf fma sqrtf expf logf powf sinf cosf fabsf floorf ceilf fminf fmaxf abs labs".split()
)
_LITERALS = frozenset(
    "INTEGER_LITERAL FLOATING_LITERAL CHARACTER_LITERAL CXX_BOOL_LITERAL_EXPR IMAGINARY_LITERAL".split()
)
PLAIN = frozenset("+ - * / % < > <= >= == != && || & | ^ << >> ,".split())
_MOST_LEVELS = 8


@dataclass(frozen=True)
class CSummary:
    """What a call of a function of the files does to what its pointer arguments point to: read, written."""

    parameters: tuple[tuple[bool, bool], ...]
    others: tuple[bool, bool]  # memory that other names may reach
    has_work: bool


@dataclass
class CProgram:
    """The functions of all files; those that may be another when linked are in `all` only."""

    sources: Sequence[CSource]
    all: list[CFunction] = field(default_factory=list)
    functions: dict[str, CFunction] = field(default_factory=dict)
    _summaries: dict[str, CSummary | None] = field(default_factory=dict)
    _known: frozenset[str] | None = None

    def __post_init__(self) -> None:
        self.all = [one for source in self.sources for one in functions_of(source)]
        names = Counter(one.name for one in self.all)
        self.functions = {one.name: one for one in self.all if names[one.name] == 1 and not one.may_be_replaced}

    @cached_property
    def defined(self) -> frozenset[str]:
        return frozenset(one.name for one in self.all)

    @property
    def known(self) -> frozenset[str]:
        """USRs of functions whose pointer parameters go nowhere."""
        if self._known is None:
            by_usr = {one.cursor.get_usr(): one for one in self.functions.values()}
            found = frozenset(usr for usr, one in by_usr.items() if not one.cursor.type.is_function_variadic())
            while True:
                kept = frozenset(usr for usr in found if self._keeps(by_usr[usr], found, self.defined))
                if kept == found:
                    break
                found = kept
            self._known = found
        return self._known

    @staticmethod
    def _keeps(function: CFunction, known: frozenset[str], defined: frozenset[str]) -> bool:
        unique = Names(function, as_summary=True, known=known, defined=defined).unique
        pointers = [one for one in function.parameters if not is_number(one) or is_pointer(one)]
        return all(is_pointer(one) and unique.get(one.get_usr()) == "pointee" for one in pointers)

    def summary(self, name: str, level: int = 0) -> CSummary | None:
        """None for a function that is not known well enough."""
        if name not in self.functions or level > _MOST_LEVELS:
            return None
        if self.functions[name].cursor.get_usr() not in self.known:
            return None
        if name not in self._summaries:
            self._summaries[name] = None  # where it calls itself
            self._summaries[name] = self._summarize(self.functions[name], level)
        return self._summaries[name]

    def _summarize(self, function: CFunction, level: int) -> CSummary | None:
        names = Names(function, as_summary=True, known=self.known, defined=self.defined)
        collector = CCollector(function, self, names, level + 1)
        if function.directive_line:
            return None
        for one in function.body.get_children():
            if kind(one) == "RETURN_STMT":
                for part in one.get_children():
                    collector.read(part)
            else:
                collector.statement(one)
        effects = collector.effects
        if effects.barriers or effects.mpi:
            return None
        keys = [f"*{one.get_usr()}" for one in function.parameters]
        parameters = tuple(_of(effects, key) for key in keys)
        return CSummary(parameters, _of(effects, OTHERS.key), effects.has_work)


def _of(effects: Effects, key: str) -> tuple[bool, bool]:
    some = [one for one in effects.accesses if one.symbol.key == key]
    return any(not one.is_write for one in some), any(one.is_write for one in some)


def _declared(variable: Cursor) -> Symbol:
    """A declaration writes it, and what needs it reads it."""
    return Symbol(variable.spelling, f"declaration of {variable.get_usr()}")


@dataclass
class CCollector:
    """Of statements of one function."""

    function: CFunction
    program: CProgram
    names: Names
    level: int = 0
    effects: Effects = field(default_factory=Effects)
    loops: int = 0

    def barrier(self, code: str, cursor: Cursor, reason: str, hint: str = "") -> None:
        self.effects.barriers.append(Barrier(code, reason, hint, int(cursor.extent.start.line)))

    def access(self, symbol: Symbol, is_write: bool, cursor: Cursor) -> None:
        text = " ".join(self.function.source.of(cursor).split()) or symbol.name
        self.effects.accesses.append(Access(symbol, is_write, int(cursor.extent.start.line), text))
        spelling = str(cursor.type.get_canonical().spelling)
        if "volatile" in spelling or "_Atomic" in spelling:
            self.barrier("volatile", cursor, f"{text} is volatile or atomic")

    # Statements

    def statement(self, cursor: Cursor) -> None:
        name, parts = kind(cursor), list(cursor.get_children())
        if name == "COMPOUND_STMT":
            for one in parts:
                self.statement(one)
        elif name == "DECL_STMT":
            for one in parts:
                self._declaration(one)
        elif name in ("FOR_STMT", "WHILE_STMT", "DO_STMT"):
            self.effects.has_work = True
            self.loops += 1
            for one in parts:
                self._part(one)
            self.loops -= 1
        elif name == "IF_STMT":
            for one in parts:
                self._part(one)
        elif name in ("BREAK_STMT", "CONTINUE_STMT"):
            if not self.loops:
                self.barrier("early-exit", cursor, "it leaves the statements around it")
        elif name in ("RETURN_STMT", "GOTO_STMT"):
            self.barrier("early-exit", cursor, f"{name.split('_')[0].lower()} leaves the statements around it")
        elif name != "NULL_STMT":
            self.read(cursor)

    def _part(self, cursor: Cursor) -> None:
        if kind(cursor).endswith("_STMT"):
            self.statement(cursor)
        else:
            self.read(cursor)

    def _declaration(self, cursor: Cursor) -> None:
        if kind(cursor) != "VAR_DECL":
            self.barrier("unknown", cursor, "this declaration is not analysed")
            return
        element = cursor.type.get_canonical()
        while str(element.kind.name) == "CONSTANTARRAY":
            element = element.element_type
        is_plain = element.is_pod() and str(element.kind.name) not in ("VARIABLEARRAY", "INCOMPLETEARRAY")
        if not is_plain or is_reference(cursor) or str(cursor.storage_class.name) != "NONE":
            self.barrier("unknown", cursor, "the declaration of something else than plain numbers and arrays")
            return
        for one in cursor.get_children():
            if kind(one) not in ("TYPE_REF", "NAMESPACE_REF") and not (is_array(cursor) and kind(one) in _LITERALS):
                self.read(one)
        usr = cursor.get_usr()
        own = self.names.unique.get(usr) == "variable" or is_pointer(cursor)
        self.access(Symbol(cursor.spelling, usr) if own else OTHERS, True, cursor)
        self.access(_declared(cursor), True, cursor)

    # Expressions

    def read(self, cursor: Cursor) -> None:
        """The value, and all that computing it does."""
        name, parts = kind(cursor), list(cursor.get_children())
        if name in _LITERALS or name in ("CXX_NULL_PTR_LITERAL_EXPR", "TYPE_REF"):
            return
        if name == "CXX_UNARY_EXPR":
            self._size(cursor)
            return
        if name == "DECL_REF_EXPR":
            self._name(cursor)
        elif name in ("UNEXPOSED_EXPR", "PAREN_EXPR", "CSTYLE_CAST_EXPR"):
            inner = [one for one in parts if kind(one) not in ("TYPE_REF", "NAMESPACE_REF")]
            if any("va_list" in str(one.type.get_canonical().spelling) for one in inner):
                self.barrier("unknown", cursor, "a list of arguments")
            elif len(inner) == 1 and (is_number(cursor) or is_array(cursor) or str(cursor.type.kind.name) == "VOID"):
                self.read(inner[0])
            else:  # nothing inside: a default argument, for one
                self.barrier("unknown", cursor, "this expression is not analysed")
        elif name == "ARRAY_SUBSCRIPT_EXPR" and len(parts) == 2:
            self._address(cursor)
            if not is_array(cursor):
                self.access(self.names.object(cursor), False, cursor)
        elif name == "BINARY_OPERATOR" and len(parts) == 2:
            self._binary(cursor, parts)
        elif name == "COMPOUND_ASSIGNMENT_OPERATOR" and len(parts) == 2:
            self.read(parts[1])
            self.read(parts[0])
            self.write(parts[0])
        elif name == "UNARY_OPERATOR" and len(parts) == 1:
            self._unary(cursor, parts[0])
        elif name == "CONDITIONAL_OPERATOR" or name == "INIT_LIST_EXPR":
            for one in parts:
                self.read(one)
        elif name == "CALL_EXPR":
            self._call(cursor, parts)
        else:
            self.barrier("unknown", cursor, f"{name.lower().replace('_', ' ')} is not analysed")

    def _name(self, cursor: Cursor) -> None:
        found = cursor.referenced
        what = kind(found) if found is not None else ""
        if what == "ENUM_CONSTANT_DECL":
            return
        if what not in ("VAR_DECL", "PARM_DECL"):
            self.barrier("unknown", cursor, f"{cursor.spelling} is not a variable")
        elif not is_array(found) or kind(found) == "PARM_DECL":  # an array stands for its address
            self.access(self.names.variable(cursor), False, cursor)

    def _size(self, cursor: Cursor) -> None:
        """It needs the declarations of variables, and the values of those that count the elements of a type."""
        text = self.function.source.of(cursor)
        if not text.startswith(("sizeof", "alignof", "_Alignof")):
            self.barrier("unknown", cursor, "a macro makes this sizeof, or it is not analysed")
        for one in c_walk(self.function.cursor):
            if kind(one) in ("VAR_DECL", "PARM_DECL") and re.search(rf"\b{one.spelling}\b", text):
                self.access(_declared(one), False, cursor)
                if is_number(one) and self.names.unique.get(one.get_usr()) == "variable":
                    self.access(Symbol(one.spelling, one.get_usr()), False, cursor)
                elif is_number(one) and not is_pointer(one):
                    self.access(OTHERS, False, cursor)

    def _binary(self, cursor: Cursor, parts: Sequence[Cursor]) -> None:
        operation = operator_of(self.function.source, cursor)
        if operation == "=" and is_number(cursor):
            self.read(parts[1])
            self.write(parts[0])
        elif operation in PLAIN:
            for one in parts:
                self.read(one)
        else:
            self.barrier("unknown", cursor, f"this operation is not analysed: {operation or 'a macro makes it'}")

    def _unary(self, cursor: Cursor, inner: Cursor) -> None:
        operation = operator_of(self.function.source, cursor)
        if operation in ("++", "--"):
            self.read(inner)
            self.write(inner)
        elif operation == "*":
            self.read(inner)
            if not is_array(cursor):
                self.access(self.names.object(cursor), False, cursor)
        elif operation == "&":
            self._address(inner)
        elif operation in ("-", "+", "!", "~"):
            self.read(inner)
        else:
            self.barrier("unknown", cursor, "this operation is not analysed")

    def _address(self, cursor: Cursor) -> None:
        """What computing the place of an object reads."""
        name, parts = kind(cursor), list(cursor.get_children())
        if name == "DECL_REF_EXPR":
            return
        if name == "PAREN_EXPR" and len(parts) == 1:
            self._address(parts[0])
        elif name == "ARRAY_SUBSCRIPT_EXPR" and len(parts) == 2:
            self.read(parts[0])
            self.read(parts[1])
        elif name == "UNARY_OPERATOR" and operator_of(self.function.source, cursor) == "*":
            self.read(parts[0])
        else:
            self.barrier("unknown", cursor, "the address of this is not analysed")

    def write(self, cursor: Cursor) -> None:
        if not is_number(cursor):
            self.barrier("unknown", cursor, "an assignment of something else than a number or a pointer")
            return
        self._address(cursor)
        self.access(self.names.object(cursor), True, cursor)

    # Calls

    def _call(self, cursor: Cursor, parts: Sequence[Cursor]) -> None:
        name, arguments = str(cursor.spelling), list(cursor.get_arguments())
        called = cursor.referenced
        is_function = called is not None and kind(called) == "FUNCTION_DECL"
        mpi = mpi_procedures().get(name.lower())
        if is_function and name.startswith("MPI_"):
            self._mpi(cursor, mpi, arguments)
        elif is_function and name in _MATHEMATICS and self._is_of_the_system(called):
            for one in arguments:
                self.read(one)
        elif is_function and name in (*FRESH, "free") and self._is_of_the_system(called):
            for one in arguments:
                self.read(one)
            if name == "free":
                self.access(self.names.pointee(arguments[0]), True, cursor)
        elif is_function and (summary := self._summary(called)) is not None:
            self._known(cursor, summary, arguments)
        else:
            code = "io" if "print" in name or "scan" in name else "unknown-call"
            self.barrier(code, cursor, f"{name or 'a function'} may do anything", "add its file, or move the call")
        self.effects.has_work = True

    def _is_of_the_system(self, called: Cursor) -> bool:
        """A program may define a function of the C library itself."""
        return called.spelling not in self.program.defined and is_of_the_system(called)

    def _summary(self, called: Cursor) -> CSummary | None:
        """Not of an instance of a template with the same name."""
        name = str(called.spelling)
        known = self.program.functions.get(name)
        is_it = known is not None and known.cursor.get_usr() == called.get_usr()
        return self.program.summary(name, self.level) if is_it else None

    def _known(self, cursor: Cursor, summary: CSummary, arguments: Sequence[Cursor]) -> None:
        for one in arguments:
            self.read(one)
        for one, uses in zip(arguments, summary.parameters, strict=False):
            if is_pointer(one) or is_array(one):
                self._uses(self.names.pointee(one), uses, cursor)
        if len(arguments) != len(summary.parameters):
            self.barrier("unknown-call", cursor, "it has another number of arguments")
        self._uses(OTHERS, summary.others, cursor)

    def _uses(self, symbol: Symbol, uses: tuple[bool, bool], cursor: Cursor) -> None:
        for is_write, does in zip((False, True), uses, strict=True):
            if does:
                self.access(symbol, is_write, cursor)

    def _mpi(self, cursor: Cursor, procedure: MpiProcedure | None, arguments: Sequence[Cursor]) -> None:
        name, line = str(cursor.spelling), int(cursor.extent.start.line)
        if procedure is None or procedure.name != name or len(arguments) != len(procedure.arguments):
            self.barrier("communication", cursor, f"{name} is not analysed")
            return
        # A wait orders accesses of buffers that stand in another call: no statement but a start or a wait crosses it.
        if procedure.role != "local":
            self.effects.mpi.append(MpiUse(name, procedure.role, line))
        for argument, actual in zip(procedure.arguments, arguments, strict=True):
            self.read_value(actual)
            if is_pointer(actual) and not self.is_constant(actual):
                uses = (
                    argument.use in ("in", "inout", "kept", "request"),
                    argument.use in ("out", "inout", "set", "request"),
                )
                self._uses(self.names.pointee(actual), uses, actual)

    def read_value(self, cursor: Cursor) -> None:
        """Of an argument of MPI. Constants such as MPI_DOUBLE are macros, whose text is MPI's."""
        if not self.is_constant(cursor):
            self.read(cursor)

    def is_constant(self, cursor: Cursor) -> bool:
        text = self.function.source.of(cursor)
        used = [one.referenced for one in c_walk(cursor) if kind(one) == "DECL_REF_EXPR"]
        return (
            text.startswith("MPI_")
            and text.isidentifier()
            and all(
                one is not None and one.location.file is not None and Path(one.location.file.name).name == "mpi.h"
                for one in used
            )
        )
