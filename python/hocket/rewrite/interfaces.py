# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which variables can get the attribute asynchronous: that of a dummy argument belongs to the procedure's interface."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hocket.rewrite.buffers import Refusal, has_vector, is_contiguous
from hocket.rewrite.program import Program
from hocket.rewrite.symbols import Procedure, Symbol
from hocket.rewrite.syntax import Node, Source, child_of, children, line_of, named, source_of, text_of, walk

_EXTERNAL = "a dummy argument of an external procedure"
_EXTERNAL_HINT = "put the procedure into a module, or --trust-compiler assumes that no access is moved over the wait"
_SAME_HINT = "declare it asynchronous in all of these places, or --trust-compiler"
_GAP_HINT = "pass an array of its own, or --trust-compiler"


@dataclass(frozen=True)
class Use:
    """A name where it stands for a procedure, perhaps."""

    source: Source
    node: Node

    def place(self, source: Source) -> str:
        """As messages about `source` say it."""
        return f"line {line_of(self.node)}" if self.source is source else str(self.source.path)


@dataclass
class Interfaces:
    """Of the procedures of a program. Answers are kept."""

    program: Program
    _fixed: dict[int, str] = field(default_factory=dict)

    def refusals(self, names: Sequence[str], procedure: Procedure) -> dict[str, Refusal]:
        """Those of the variables that cannot be made asynchronous in `procedure`, and why."""
        found: dict[str, Refusal] = {}
        for name in names:
            if procedure.scope.has_attribute(name, "asynchronous"):
                continue
            refusal = self._of_dummy(name, procedure) if procedure.scope.variable(name).is_dummy else None
            refusal = refusal or self._of_actual(name, procedure)
            if refusal is not None:
                found[name] = refusal
        return found

    def _of_dummy(self, name: str, procedure: Procedure) -> Refusal | None:
        """Fortran 2018, 15.4.2.2: an asynchronous dummy argument needs an explicit interface."""
        if not procedure.has_explicit_interface:
            return Refusal("external", _EXTERNAL, _EXTERNAL_HINT)
        if name not in procedure.dummies:
            return None  # of the host, whose interface stays
        key = id(procedure)
        if key not in self._fixed:
            self._fixed[key] = self._why_fixed(procedure)
        if self._fixed[key]:
            return Refusal("interface", self._fixed[key], _SAME_HINT)
        for use, actual in self._actuals(name, procedure):
            reason = f"{use.place(procedure.source)} passes {source_of(actual)}, which is not contiguous"
            return Refusal("interface", f"{reason} (Fortran 2018, 15.5.2.4)", _GAP_HINT)
        return None

    def _why_fixed(self, procedure: Procedure) -> str:
        """Fortran 2018, 15.3.2.2: the attribute is a characteristic, which has to be the same in all interfaces."""
        if "module" in procedure.qualifiers or procedure.kind == "module_procedure":
            return f"the interface of {procedure.name} stands in an interface block"
        for use in self._uses(procedure.name):
            what = _what_needs_the_interface(use.node)
            if what and not _is_own_result(use, procedure):
                return f"the interface of {procedure.name} has to fit others: {use.place(procedure.source)} {what}"
        return ""

    def _uses(self, name: str) -> Iterator[Use]:
        pattern = re.compile(rb"(?i)\b" + re.escape(name.encode()) + rb"\b")
        for source in self.program.sources:
            for found in pattern.finditer(source.text):
                node = source.root.descendant_for_byte_range(*found.span())
                if node is not None and (text_of(node) == name or node.type == "preproc_arg"):
                    yield Use(source, node)

    def _actuals(self, dummy: str, procedure: Procedure) -> Iterator[tuple[Use, Node]]:
        """Where calls pass what an asynchronous dummy argument does not take."""
        names = [procedure.name, *self._generic_names(procedure.name)]
        for use in (one for name in names for one in self._uses(name)):
            call, caller = _call_of(use.node), self._procedure_at(use)
            if call is None or caller is None:
                continue
            if self.program.find(text_of(use.node), caller) not in (None, procedure):
                continue
            for name, actual in _bound(call, procedure.dummies):
                if name not in (dummy, "") or not _base_name(actual):
                    continue
                if _has_vector_subscript(actual, caller) or (_is_kept(actual, caller) and _has_gaps(actual, caller)):
                    yield use, actual

    def _generic_names(self, name: str) -> Iterator[str]:
        for use in self._uses(name):
            block = _around(use.node, "interface")
            statement = child_of(block, "interface_statement") if block is not None else None
            found = child_of(statement, "name") if statement is not None else None
            if found is not None and use.node.type == "method_name":
                yield text_of(found)

    def _procedure_at(self, use: Use) -> Procedure | None:
        inside = [
            one
            for one in self.program.procedures
            if one.source is use.source and one.node.start_byte <= use.node.start_byte < one.node.end_byte
        ]
        return max(inside, key=lambda one: int(one.node.start_byte), default=None)

    def _of_actual(self, name: str, procedure: Procedure) -> Refusal | None:
        """An asynchronous array with gaps is not passed for an asynchronous argument."""
        for node in walk(procedure.node):
            if node.type not in ("subroutine_call", "call_expression"):
                continue
            if not any(_base_name(one) == name and _has_gaps(one, procedure) for _, one in _bound(node, ())):
                continue
            callee = children(node)[1 if node.type == "subroutine_call" else 0]
            known = self.program.find(text_of(callee), procedure) if callee.type == "identifier" else None
            is_open = callee.type != "identifier" or procedure.scope.has_generic(text_of(callee))
            for dummy, actual in _bound(node, known.dummies if known is not None else ()):
                if _base_name(actual) != name or not _has_gaps(actual, procedure):
                    continue
                if is_open or (known is not None and known.scope.has_attribute(dummy, "asynchronous")):
                    reason = f"line {line_of(node)} passes {source_of(actual)}, which is not contiguous"
                    return Refusal("interface", f"{reason} (Fortran 2018, 15.5.2.4)", _GAP_HINT)
        return None


def merged(found: dict[str, Refusal]) -> list[Refusal]:
    """One for all variables that have the same."""
    names: dict[Refusal, list[str]] = {}
    for name, refusal in found.items():
        names.setdefault(refusal, []).append(name)
    return [
        Refusal(one.code, f"{', '.join(some)} cannot be asynchronous: {one.reason}", one.hint)
        for one, some in names.items()
    ]


def _what_needs_the_interface(node: Node) -> str:
    """What a statement does with a procedure, other than to call it; empty if its interface may change."""
    parent = node.parent
    if parent is None or node.type == "type_member":
        return ""
    if _around(node, "ERROR") is not None or node.type == "preproc_arg":
        return "is not understood"
    if node.type == "name" and parent.type.endswith("_statement") and parent.type != "interface_statement":
        unit = parent.parent
        return "has it in an interface block" if unit is not None and _around(unit, "interface") is not None else ""
    if node.type == "procedure_interface":
        return "declares procedures with it"
    if node.type == "method_name":
        return "" if _around(node, "interface") is not None else "binds it to a type"
    before = node.prev_sibling
    if before is not None and before.type == "=>":
        return "gives it another name"
    if parent.type == "keyword_argument":
        return "passes it on" if named(parent)[-1].id == node.id else ""
    return "passes it on" if parent.type == "argument_list" else ""


def _is_own_result(use: Use, procedure: Procedure) -> bool:
    """The name of a function is in it that of its result."""
    inside = procedure.node.start_byte <= use.node.start_byte < procedure.node.end_byte
    return procedure.result == procedure.name and use.source is procedure.source and inside


def _around(node: Node, kind: str) -> Node | None:
    at = node.parent
    while at is not None and at.type != kind:
        at = at.parent
    return at


def _call_of(node: Node) -> Node | None:
    """The call of the procedure whose name `node` is."""
    parent = node.parent
    if parent is None or parent.type not in ("subroutine_call", "call_expression"):
        return None
    callee = children(parent)[1 if parent.type == "subroutine_call" else 0]
    return parent if callee.id == node.id else None


def _bound(call: Node, dummies: Sequence[str]) -> Iterator[tuple[str, Node]]:
    """Dummy and actual arguments; an empty name for what is not known."""
    arguments = child_of(call, "argument_list")
    parts = [one for one in children(arguments) if one.type not in ("(", ")", ",")] if arguments is not None else []
    for position, part in enumerate(parts):
        if part.type == "keyword_argument":
            yield text_of(named(part)[0]), named(part)[-1]
        else:
            yield dummies[position] if position < len(dummies) else "", part


def _base_name(node: Node) -> str:
    while node.type in ("call_expression", "derived_type_member_expression"):
        node = node.children[0]
    return text_of(node) if node.type == "identifier" else ""


def _has_vector_subscript(actual: Node, caller: Procedure) -> bool:
    symbol = caller.scope.variable(_base_name(actual))
    return (symbol.is_array or symbol.is_derived) and any(
        has_vector(one, caller) for part in _subscripts(actual) for one in part if one.type != "extent_specifier"
    )


def _has_gaps(actual: Node, caller: Procedure) -> bool:
    """Whether an array may not be simply contiguous (Fortran 2018, 9.5.4)."""
    sections = [one for one in _subscripts(actual) if any(part.type == "extent_specifier" for part in one)]
    if actual.type == "call_expression" and not sections:
        return False  # an element
    symbol = caller.scope.variable(_base_name(actual))
    return not all(map(is_contiguous, sections)) or _may_have_gaps(symbol)


def _is_kept(actual: Node, caller: Procedure) -> bool:
    """Whether what an actual argument is part of may be accessed while others run."""
    name = _base_name(actual)
    return any(caller.scope.has_attribute(name, one) for one in ("asynchronous", "volatile"))


def _subscripts(actual: Node) -> list[list[Node]]:
    return [named(one.children[1]) for one in walk(actual) if one.type == "call_expression"]


def _may_have_gaps(symbol: Symbol) -> bool:
    if symbol.bounds is None or "contiguous" in symbol.attributes or "allocatable" in symbol.attributes:
        return False
    is_assumed_shape = symbol.is_dummy and any(upper is None for _, upper in symbol.bounds)
    return "pointer" in symbol.attributes or (is_assumed_shape and "assumed-size" not in symbol.attributes)
