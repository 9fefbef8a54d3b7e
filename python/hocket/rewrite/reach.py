# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How procedures of Fortran may be called: which generic names stand for them, and where nothing is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hocket.rewrite.declarations import DECLARATORS
from hocket.rewrite.program import Program
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, child_of, text_of, walk


@dataclass
class Reach:
    """Of all given files."""

    program: Program
    generics: dict[str, list[Procedure]] = field(default_factory=dict)
    #: Why a procedure's callers are not known.
    unknown: dict[int, str] = field(default_factory=dict)
    called: set[int] = field(default_factory=set)
    namelists: dict[str, list[Node]] = field(default_factory=dict)
    _named: dict[str, list[Procedure]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for procedure in self.program.procedures:
            self._named.setdefault(procedure.name, []).append(procedure)
            if any(one.type == "language_binding" for one in walk(procedure.node.children[0])):
                self._is_unknown(procedure.name, "C code may call {}")
            if any(one.type == "entry_statement" for one in walk(procedure.node)):
                self._is_unknown(procedure.name, "{} has another entry")
        if self.program.unread:
            self._all_unknown(self.program.procedures, f"{self.program.unread} may call {{}}")
        for root in {id(one.source): one.source.root for one in self.program.procedures}.values():
            for node in walk(root):
                self._declaration(node)
        for procedure in self.program.procedures:
            for node in (one for top in procedure.body for one in walk(top)):
                if node.type == "identifier":
                    self._mention(node, procedure)
        for scope in [*self.program.modules.values(), *(one.scope for one in self.program.procedures)]:
            for use in scope.used:
                for own, its in use.names.items():
                    if own != its and its in self.generics:  # the new name is not followed
                        self._all_unknown(self.generics[its], "{} has a generic name, which is renamed")

    def candidates(self, name: str, caller: Procedure) -> list[Procedure]:
        """What a generic name may stand for; all ranks that run the same call get the same one."""
        return self.generics.get(name, []) if caller.scope.has_generic(name) else []

    def _declaration(self, node: Node) -> None:
        if node.type == "interface":
            self._interface(node)
        elif node.type == "derived_type_definition":
            for one in walk(node):
                is_other = _is_a_name(one) and not _is_component(one)
                self._is_unknown(text_of(one) if is_other else "", "{} is bound to a type")
        elif node.type in ("pointer_init_declarator", "data_statement"):
            for one in walk(node):
                self._is_unknown(text_of(one) if _is_a_name(one) else "", "a pointer may be {}")
        elif node.type == "namelist_statement":
            words = [text_of(one) for one in walk(node) if one.type == "name"]
            for word in words:
                self.namelists.setdefault(word, []).append(node)

    def _interface(self, node: Node) -> None:
        statement = child_of(node, "interface_statement")
        name = text_of(statement).removeprefix("abstract").removeprefix("interface") if statement is not None else ""
        inside = [one for part in node.children[1:] for one in walk(part) if _is_a_name(one)]
        found = [one for part in inside for one in self._named.get(text_of(part), ())]
        if name.startswith(("operator", "assignment", "read(", "write(")):
            self._all_unknown(found, "{} is an operator")
        elif name:
            self.generics.setdefault(name, []).extend(found)

    def _mention(self, node: Node, procedure: Procedure) -> None:
        name = text_of(node)
        if name not in self._named:
            return
        parent = node.parent
        is_callee = parent is not None and (
            (parent.type == "call_expression" and parent.children[0].id == node.id)
            or (parent.type == "subroutine_call" and any(one.id == node.id for one in parent.children[:2]))
        )
        known = self.program.find(name, procedure)
        if known is None:
            symbol = procedure.scope.find(name)
            if is_callee and (symbol is None or not symbol.is_array) and not procedure.scope.has_generic(name):
                self._is_unknown(name, "which {} is called is not certain")
        elif is_callee and not procedure.problem:
            self.called.add(id(known))
        elif not _is_result_of(name, procedure):
            self.unknown.setdefault(id(known), f"{name} is passed on in {procedure.name}")

    def _is_unknown(self, name: str, reason: str) -> None:
        self._all_unknown(self._named.get(name, ()), reason)

    def _all_unknown(self, procedures: Iterable[Procedure], reason: str) -> None:
        for one in procedures:
            self.unknown.setdefault(id(one), reason.format(one.name) + ": which ranks call it is not known")


def _is_a_name(node: Node) -> bool:
    return node.type in ("identifier", "name", "method_name", "binding_name") and node.is_named


def _is_result_of(name: str, procedure: Procedure) -> bool:
    return procedure.kind == "function" and name in (procedure.name, procedure.result)


def _is_component(node: Node) -> bool:
    """Whether a name in a type is that of a component which is declared there."""
    parent = node.parent
    if parent is not None and parent.type in DECLARATORS:
        return bool(parent.children[0].id == node.id)
    return parent is not None and parent.type == "variable_declaration"
