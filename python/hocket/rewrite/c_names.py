# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which names of a C function reach memory that no other name reaches.

A local variable whose address goes nowhere, memory from malloc that one pointer has, and what a `restrict` parameter
points to (C17, 6.7.3.1) are such; so is what `// hocket restrict` names. All else is one object to the analysis.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from hocket.rewrite.c_source import CFunction, Cursor, c_walk, first_child, is_of_the_system, kind, operator_of
from hocket.rewrite.mpi_procedures import mpi_procedures
from hocket.rewrite.symbols import TARGETS, Symbol

FRESH = frozenset({"malloc", "calloc"})
_SAME = frozenset({"UNEXPOSED_EXPR", "PAREN_EXPR", "CSTYLE_CAST_EXPR"})
_ARITHMETIC = frozenset({"+", "-"})
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||", "!"})
_HARMLESS = frozenset({"*", "-", "+", "!", "~", "++", "--"})  # of operators before or behind a pointer
OTHERS = Symbol(TARGETS, TARGETS, attributes={"target"})


def is_pointer(cursor: Cursor) -> bool:
    return str(cursor.type.get_canonical().kind.name) == "POINTER"


def is_array(cursor: Cursor) -> bool:
    return str(cursor.type.get_canonical().kind.name) in ("CONSTANTARRAY", "VARIABLEARRAY", "INCOMPLETEARRAY")


def is_reference(cursor: Cursor) -> bool:
    return str(cursor.type.get_canonical().kind.name) in ("LVALUEREFERENCE", "RVALUEREFERENCE")


def is_number(cursor: Cursor) -> bool:
    """Of an arithmetic type, a pointer or an enumeration: no class, whose copies may be calls."""
    names = "BOOL CHAR_U UCHAR USHORT UINT ULONG ULONGLONG CHAR_S SCHAR SHORT INT LONG LONGLONG FLOAT DOUBLE LONGDOUBLE"
    found = cursor.type.get_canonical()
    return str(found.kind.name) in (*names.split(), "COMPLEX", "POINTER", "ENUM")


@dataclass
class Names:
    """Of one function. `as_summary`: what each pointer parameter points to is an object of its own, as for a caller
    that passes memory which no other name reaches."""

    function: CFunction
    as_summary: bool = False
    known: frozenset[str] = frozenset()  # USRs of functions whose parameters go nowhere
    defined: frozenset[str] = frozenset()  # names of the program's own functions
    stated: dict[str, int] = field(default_factory=dict)  # USR of a parameter or local -> line of `// hocket restrict`

    def __post_init__(self) -> None:
        first = self.function.cursor.extent.start.line
        own: dict[str, list[str]] = {}  # other functions may use a global by its name
        for one in c_walk(self.function.cursor):
            if kind(one) in ("VAR_DECL", "PARM_DECL") and str(one.storage_class.name) == "NONE":
                own.setdefault(str(one.spelling), []).append(one.get_usr())
        lines = self.function.source.lines[max(0, first - 2) : self.function.cursor.extent.end.line]
        for i, line in enumerate(lines):
            found = re.match(rb"\s*(?://|/\*)\s*hocket\s+restrict\s+([\w\s,]+)", line)
            for name in re.findall(rb"\w+", found[1]) if found else ():
                for usr in own.get(name.decode(), ()):
                    self.stated[usr] = max(0, first - 2) + i + 1

    @cached_property
    def unique(self) -> dict[str, str]:
        """USR of a variable -> "variable" or "pointee": whether it, or what it points to, is reached by it only."""
        declared = {
            one.get_usr(): one for one in c_walk(self.function.cursor) if kind(one) in ("VAR_DECL", "PARM_DECL")
        }
        uses: dict[str, list[list[Cursor]]] = {usr: [] for usr in declared}
        self._collect([self.function.body], uses)
        found = {}
        for usr, cursor in declared.items():
            own = cursor.type.get_canonical()
            if is_reference(cursor) or own.is_volatile_qualified() or "_Atomic" in own.spelling:
                continue
            storage = str(cursor.storage_class.name)
            is_parameter = kind(cursor) == "PARM_DECL"
            if storage in ("STATIC", "EXTERN"):
                continue
            if is_array(cursor) and not is_parameter:
                if all(self._stays(path) for path in uses[usr]):
                    found[usr] = "variable"
            elif is_pointer(cursor) or is_array(cursor):
                if self._is_sole(cursor, is_parameter, uses[usr]):
                    found[usr] = "pointee"
            elif is_number(cursor) and all(self._stays_scalar(path) for path in uses[usr]):
                found[usr] = "variable"
        return found

    def _collect(self, path: list[Cursor], uses: dict[str, list[list[Cursor]]]) -> None:
        """The path from the body to each use of a variable."""
        cursor = path[-1]
        if kind(cursor) == "DECL_REF_EXPR" and cursor.referenced is not None:
            usr = cursor.referenced.get_usr()
            if usr in uses:
                uses[usr].append(path)
        for one in cursor.get_children():
            self._collect([*path, one], uses)

    def _is_sole(self, cursor: Cursor, is_parameter: bool, uses: list[list[Cursor]]) -> bool:
        """Whether nothing but this pointer leads to its memory."""
        assigned = [path for path in uses if self._is_assigned(path)]
        if is_parameter:
            wanted = self.as_summary or cursor.type.is_restrict_qualified()
            return wanted and not assigned and all(self._stays(path) for path in uses)
        values = [one for one in cursor.get_children() if kind(one).endswith(("_EXPR", "LITERAL"))]
        if any(kind(path[-2]) == "UNARY_OPERATOR" for path in assigned):
            return False
        values += [list(path[-2].get_children())[1] for path in assigned]
        return (
            bool(values)
            and not self.defined & FRESH
            and all(_is_fresh(one) for one in values)
            and all(self._stays(path) for path in uses if path not in assigned)
        )

    def _is_assigned(self, path: list[Cursor]) -> bool:
        if len(path) < 2:
            return False
        parent = path[-2]
        if kind(parent) == "BINARY_OPERATOR" and operator_of(self.function.source, parent) == "=":
            return bool(first_child(parent) == path[-1])
        return kind(parent) == "COMPOUND_ASSIGNMENT_OPERATOR" or (
            kind(parent) == "UNARY_OPERATOR" and operator_of(self.function.source, parent) in ("++", "--")
        )

    def _stays(self, path: list[Cursor]) -> bool:
        """Whether a pointer's value, or an array's address, is used here only to reach its elements."""
        at = len(path) - 1
        while at > 0:
            one, parent = path[at], path[at - 1]
            name = kind(parent)
            if name in _SAME:
                if not (is_pointer(parent) or is_array(parent)):
                    return is_number(parent) and name == "UNEXPOSED_EXPR"
                at -= 1
            elif name == "ARRAY_SUBSCRIPT_EXPR":
                if first_child(parent) != one:
                    return False
                if is_number(parent) and not is_pointer(parent):
                    return self._stays_scalar(path[:at])
                if not is_array(parent):
                    return False
                at -= 1
            elif name == "UNARY_OPERATOR":
                operation = operator_of(self.function.source, parent)
                if operation == "!":
                    return True
                if operation != "*" or not is_number(parent) or is_pointer(parent):
                    return False
                return self._stays_scalar(path[:at])
            elif name == "BINARY_OPERATOR":
                operation = operator_of(self.function.source, parent)
                if operation in _COMPARISONS:
                    return True
                if operation not in _ARITHMETIC or not is_pointer(parent):
                    return False
                at -= 1
            elif name == "CALL_EXPR":
                return self._goes_to_known(parent)
            else:
                return name == "CXX_UNARY_EXPR"  # sizeof
        return False

    def _stays_scalar(self, path: list[Cursor]) -> bool:
        """Whether a variable or an element is read, written, or passed by its address to MPI or a known function."""
        at = len(path) - 1
        if at == 0:
            return False
        parent = path[at - 1]
        while kind(parent) == "PAREN_EXPR" and at > 1:
            at -= 1
            parent = path[at - 1]
        name = kind(parent)
        if name == "UNARY_OPERATOR":
            operation = operator_of(self.function.source, parent)
            if operation != "&":
                return operation in ("++", "--", "-", "+", "!", "~") and not self._is_an_object(path[:at])
            return self._stays(path[:at])
        if name == "UNEXPOSED_EXPR":  # its value
            return is_number(parent)
        if name in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR"):
            return not self._is_an_object(path[:at])
        return name in ("COMPOUND_STMT", "CXX_UNARY_EXPR")

    def _is_an_object(self, path: list[Cursor]) -> bool:
        """Whether a result may be used as its operand itself, as in `&(x = 1)` and `int& r = ++x` of C++."""
        if not self.function.is_cxx:
            return False
        around = next(
            (one for one in path[-2::-1] if kind(one) not in ("PAREN_EXPR", "BINARY_OPERATOR")), self.function.body
        )
        return not (kind(around).endswith("_STMT") or kind(around) == "UNEXPOSED_EXPR")

    def _goes_to_known(self, call: Cursor) -> bool:
        name, called = str(call.spelling), call.referenced
        if called is None or kind(called) != "FUNCTION_DECL":
            return False
        mpi = mpi_procedures().get(name.lower())
        return (
            (mpi is not None and mpi.name == name)
            or (name == "free" and name not in self.defined and is_of_the_system(called))
            or called.get_usr() in self.known
        )

    # What an expression reaches

    def variable(self, cursor: Cursor) -> Symbol:
        """Of a DECL_REF_EXPR, itself."""
        found = cursor.referenced
        if found is None:
            return OTHERS
        usr = found.get_usr()
        is_own = self.unique.get(usr) == "variable" or (
            usr in self._plain_pointers and not (is_array(found) and kind(found) != "PARM_DECL")
        )
        if is_own or (usr in self.stated and is_array(found)):
            return Symbol(found.spelling, usr)
        return OTHERS

    @cached_property
    def _plain_pointers(self) -> set[str]:
        """Pointers whose own address is not taken: their value changes only where they are assigned."""
        variables = [one for one in c_walk(self.function.cursor) if kind(one) in ("VAR_DECL", "PARM_DECL")]
        if any(map(is_reference, variables)):
            return set()
        declared = {one.get_usr() for one in variables if is_pointer(one) and str(one.storage_class.name) == "NONE"}
        for one in c_walk(self.function.body):
            if kind(one) == "UNARY_OPERATOR" and operator_of(self.function.source, one) not in _HARMLESS:
                declared -= {
                    part.referenced.get_usr()
                    for part in c_walk(one)
                    if kind(part) == "DECL_REF_EXPR" and part.referenced is not None
                }
        return declared

    def pointee(self, cursor: Cursor) -> Symbol:
        """What an expression with a pointer's or an array's value points to."""
        name = kind(cursor)
        parts = list(cursor.get_children())
        if name == "DECL_REF_EXPR" and cursor.referenced is not None:
            found = cursor.referenced
            usr = found.get_usr()
            if is_array(found) and kind(found) != "PARM_DECL":
                return self.variable(cursor)
            if self.unique.get(usr) == "pointee" or usr in self.stated:
                return Symbol(f"*{found.spelling}", f"*{usr}")
            return OTHERS
        if name in _SAME and parts:
            return self.pointee(parts[-1])
        if name == "BINARY_OPERATOR" and len(parts) == 2:
            operation = operator_of(self.function.source, cursor)
            pointers = [one for one in parts if is_pointer(one) or is_array(one)]
            return self.pointee(pointers[0]) if operation in _ARITHMETIC and len(pointers) == 1 else OTHERS
        if name == "UNARY_OPERATOR" and len(parts) == 1 and operator_of(self.function.source, cursor) == "&":
            return self.object(parts[0])
        if name == "ARRAY_SUBSCRIPT_EXPR" and is_array(cursor):
            return self.object(cursor)
        return OTHERS

    def object(self, cursor: Cursor) -> Symbol:
        """What an expression that can be assigned to stands in."""
        name = kind(cursor)
        parts = list(cursor.get_children())
        if name == "DECL_REF_EXPR":
            return self.variable(cursor)
        if name in ("PAREN_EXPR", "UNEXPOSED_EXPR") and len(parts) == 1:
            return self.object(parts[0])
        if name == "ARRAY_SUBSCRIPT_EXPR" and len(parts) == 2:
            return self.pointee(parts[0])
        if name == "UNARY_OPERATOR" and len(parts) == 1 and operator_of(self.function.source, cursor) == "*":
            return self.pointee(parts[0])
        return OTHERS


def _is_fresh(cursor: Cursor) -> bool:
    """A call of malloc or calloc."""
    while kind(cursor) in _SAME:
        parts = list(cursor.get_children())
        if not parts:
            return False
        cursor = parts[-1]
    called = cursor.referenced if kind(cursor) == "CALL_EXPR" and str(cursor.spelling) in FRESH else None
    return called is not None and is_of_the_system(called)
