# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""All files together: their modules and procedures, with what each name stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hocket.rewrite.declarations import declare, is_specification, symbol_in, type_of
from hocket.rewrite.symbols import Procedure, Scope, Unseen
from hocket.rewrite.syntax import UNITS, Node, Source, child_of, error_in, line_of, named, source_of, text_of, walk
from hocket.rewrite.use_association import resolve_uses


@dataclass
class Program:
    """The procedures of the given files."""

    procedures: list[Procedure] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    modules: dict[str, Scope] = field(default_factory=dict)
    module_procedures: dict[str, dict[str, Procedure]] = field(default_factory=dict)
    external: dict[str, Procedure] = field(default_factory=dict)
    ambiguous: set[str] = field(default_factory=set)
    unread: str = ""  # an included file with procedures
    _inner_of: dict[int, dict[str, Procedure]] = field(default_factory=dict)

    def find(self, name: str, caller: Procedure) -> Procedure | None:
        """The procedure that `name` means in `caller`; None if it is not among the files, or not certain."""
        symbol = caller.scope.find(name)
        if symbol is not None and (symbol.is_dummy or "pointer" in symbol.attributes):
            return None
        if caller.scope.has_generic(name):
            return None
        for scope in caller.scope.chain():
            if name in (inner := self._inner(scope)):
                return inner[name]
            if name in scope.procedures:
                return scope.procedures[name]
            if scope.hides(name):
                return None  # a module that is not among the files may have a procedure of this name
            known = scope.symbols.get(name)
            if known is not None and known.is_declared and name not in (caller.name, caller.result):
                break  # an external procedure
        return None if name in self.ambiguous else self.external.get(name)

    def _inner(self, scope: Scope) -> dict[str, Procedure]:
        """The procedures behind the `contains` of a scope."""
        if len(self._inner_of) < len(self.procedures):
            self._inner_of = {id(one.scope): one.inner for one in self.procedures}
            self._inner_of |= {id(one): self.module_procedures.get(name, {}) for name, one in self.modules.items()}
        return self._inner_of.get(id(scope), {})


def build_program(sources: Sequence[Source]) -> Program:
    program = Program(sources=list(sources))
    for source in sources:
        for node in source.root.children:
            if node.type in ("module", "submodule"):
                _add_module(program, node, source)
            elif node.type in UNITS:
                procedure = _add_procedure(program, node, source, None)
                if procedure.name in program.external:
                    program.ambiguous.add(procedure.name)
                program.external[procedure.name] = procedure
    for procedure in program.procedures:
        included = procedure.source.included
        if included.unread:
            reason = f"{included.unread} is not found beside the file or by --compile -I"
            procedure.problem = procedure.problem or reason
        if included.with_units:
            procedure.scope.unseen.append(Unseen(f"{included.with_units}, whose procedures are not read"))
            program.unread = included.with_units
    resolved: set[int] = set()
    for scope in [*program.modules.values(), *(one.scope for one in program.procedures)]:
        resolve_uses(program.modules, scope, (), resolved)
    return program


def _add_module(program: Program, node: Node, source: Source) -> None:
    statement = node.children[0]
    name_node = child_of(statement, "name")
    name = text_of(name_node) if name_node is not None else ""
    scope = Scope(f"{source.path}::{name}", is_module=True)
    declare(scope, [child for child in node.children if is_specification(child)], source)
    if node.type == "submodule":
        scope.unseen.append(Unseen(f"the parent of submodule {name}"))
    if name in program.modules:
        scope.problem = f"module {name} is in two files"
    program.modules[name] = scope
    own = program.module_procedures.setdefault(name, {})
    for inner in _inside(node):
        procedure = _add_procedure(program, inner, source, scope)
        own[procedure.name] = procedure
    scope.procedures.update(own)


def _inside(node: Node) -> list[Node]:
    part = child_of(node, "internal_procedures")
    return [child for child in part.children if child.type in UNITS] if part is not None else []


def _add_procedure(program: Program, node: Node, source: Source, parent: Scope | None) -> Procedure:
    statement = node.children[0]
    has_statement = statement.type == f"{node.type}_statement"  # a main program may begin without
    name_node = child_of(statement, "name") if has_statement else None
    name = text_of(name_node) if name_node is not None else "(main)"
    scope = Scope(f"{parent.name if parent else source.path}::{name}", parent)
    inside = [child for child in node.children if child is not statement or not has_statement]
    inside = [child for child in inside if not child.type.startswith("end_") and child.type != "internal_procedures"]
    first = next((i for i, child in enumerate(inside) if not is_specification(child)), len(inside))
    # Comments directly before the first statement belong to it.
    while first > 0 and inside[first - 1].type == "comment":
        first -= 1
    declare(scope, inside[:first], source)
    parameters = child_of(statement, "parameters") if has_statement else None
    dummies = [text_of(one) for one in parameters.children if one.type == "identifier"] if parameters else []
    for dummy in dummies:
        symbol_in(scope, dummy).is_dummy = True
    result = ""
    if node.type == "function":
        result_node = child_of(statement, "function_result")
        result = text_of(named(result_node)[0]) if result_node is not None else name
        symbol = symbol_in(scope, result)
        type_name, kind = type_of(statement)
        if type_name:
            symbol.type, symbol.kind = type_name, kind
    last = inside[first - 1] if first > 0 else statement
    end = int(last.end_point[0]) + (1 if last.end_point[1] > 0 else 0)  # an interface has the end of its line
    if first == 0 and not has_statement:
        end = int(node.start_point[0])
    procedure = Procedure(
        name,
        node.type,
        node,
        source,
        scope,
        dummies,
        result,
        inside[first:],
        end,
        frozenset(text_of(one) for one in statement.children if one.type == "procedure_qualifier"),
        parent is not None,
    )
    _find_statement_functions(procedure)
    _find_problems(procedure)
    program.procedures.append(procedure)
    for inner in _inside(node):
        one = _add_procedure(program, inner, source, scope)
        procedure.inner[one.name] = one
    return procedure


def _find_statement_functions(procedure: Procedure) -> None:
    """They look like assignments to elements of what is no array."""
    for node in procedure.body:
        left = named(node)[0] if node.type == "assignment_statement" else node
        if left.type != "call_expression" or left.children[0].type != "identifier":
            continue
        arguments = child_of(left, "argument_list")
        is_section = arguments is not None and any(one.type == "extent_specifier" for one in named(arguments))
        symbol = procedure.scope.find(text_of(left.children[0]))
        if symbol is not None and not symbol.is_array and not is_section:
            symbol.attributes.add("procedure")


def _find_problems(procedure: Procedure) -> None:
    wrong = error_in(procedure.node)
    if wrong is not None:
        procedure.problem = f"line {line_of(wrong)}: the syntax is not understood"
    for node in procedure.body:
        for at in walk(node):
            if at.type in ("entry_statement", "assign_statement", "include_statement", "preproc_include"):
                procedure.problem = procedure.problem or f"line {line_of(at)}: {at.type.replace('_', ' ')}"
            elif at.type == "comment" and source_of(at).startswith("!$ "):
                procedure.problem = procedure.problem or f"line {line_of(at)}: conditional compilation (!$)"
            elif at.type in ("use_statement", "variable_declaration") and not _in_block(at):
                procedure.problem = procedure.problem or f"line {line_of(at)}: a declaration behind statements"


def _in_block(node: Node) -> bool:
    at = node.parent
    while at is not None and at.type not in UNITS:
        if at.type == "block_construct":
            return True
        at = at.parent
    return False
