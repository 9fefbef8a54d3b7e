# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Collects the effects of statements. What is not known to be harmless is a barrier."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from hocket.rewrite.calls import Calls
from hocket.rewrite.facts import Facts
from hocket.rewrite.recorder import Recorder, Summaries
from hocket.rewrite.symbols import TARGETS, Procedure, Symbol
from hocket.rewrite.syntax import Node, child_of, children, named, text_of, walk
from hocket.rewrite.values import loop_control, triplet

_INPUT_OUTPUT = frozenset(
    "print_statement write_statement read_statement open_statement close_statement inquire_statement "
    "file_position_statement rewind_statement backspace_statement flush_statement format_statement".split()
)
_LITERALS = frozenset("number_literal string_literal boolean_literal null_literal complex_literal".split())
_OPERATIONS = frozenset(
    "math_expression unary_expression relational_expression logical_expression parenthesized_expression "
    "concatenation_expression array_literal".split()
)


class Collector(Recorder):
    """Of statements of one procedure that are visited one after another."""

    def __init__(
        self,
        procedure: Procedure,
        summaries: Summaries,
        facts: Facts,
        changed: Collection[str] | None = None,
        earlier: Iterable[Node] = (),
    ) -> None:
        super().__init__(procedure, summaries, facts, changed, earlier)
        self.exit_depth = 0  # of loops inside the statement that may be left by exit and cycle
        self.calls = Calls(self)

    # Statements

    def specification(self) -> None:
        """What the declarations read on entry: bounds of arrays and lengths of texts."""
        for symbol in list(self.procedure.scope.symbols.values()):
            for bound in (one for pair in symbol.bounds or () for one in pair if one is not None):
                self.read(bound)
            for name in re.findall(r"[a-z]\w*", symbol.kind) if symbol.type == "character" else ():
                if self.procedure.scope.find(name) is not None:
                    self._access(self.procedure.scope.variable(name), False, self.procedure.node)

    def statements(self, nodes: Iterable[Node]) -> None:
        pure = False
        for node in nodes:
            if node.type == "comment":
                pure = pure or text_of(node).lower().startswith("!$hocket pure")
                if is_directive(node):
                    self.barrier("directive", node, "a directive of the compiler or of OpenMP")
                    self.directive(node)
                continue
            self.statement(node, pure)
            pure = False

    def statement(self, node: Node, says_pure: bool = False) -> None:
        before, self.says_pure = self.says_pure, says_pure or self.says_pure
        macros = self.procedure.source.macros
        if macros and any(text_of(one) in macros for one in walk(node) if one.type in ("identifier", "name")):
            self.barrier("preprocessor", node, "it uses a macro of the preprocessor")
        visit = getattr(self, f"_{node.type}", None)
        if visit is not None:
            visit(node)
        elif node.type in _INPUT_OUTPUT:
            self.barrier("io", node, "input or output")
        elif node.type not in ("comment", ";", "statement_label"):
            self.barrier("unknown", node, f"{node.type.replace('_', ' ')} is not analysed")
        self.says_pure = before

    def _assignment_statement(self, node: Node) -> None:
        left, right = named(node)[0], named(node)[-1]
        self.read(right)
        symbol = self.base(left)
        is_derived = self.is_derived_valued(left) or self.is_derived_valued(right)
        if is_derived or self.procedure.scope.has_generic("assignment(=)"):
            self.barrier("derived-type", node, "this assignment may be a call of the program's own procedure")
        if symbol is not None and (symbol.is_array or symbol.is_derived) and _is_array_valued(left, symbol):
            self.effects.has_work = True
        self.write(left)
        if left.type == "identifier" and symbol is not None and not symbol.is_array and symbol.alias == symbol.key:
            self.defined.add(symbol.key)

    def _pointer_association_statement(self, node: Node) -> None:
        for part in named(node):
            self.read(part)
        self._access(Symbol(TARGETS, TARGETS, attributes={"target"}), True, node)

    def _subroutine_call(self, node: Node) -> None:
        self.calls.subroutine(node)

    def _if_statement(self, node: Node) -> None:
        outer, before = self.place, set(self.defined)
        ends: list[set[str]] = []
        condition: Node | None = None
        body: list[Node] = []
        has_else = False

        def finish() -> None:
            nonlocal condition
            if condition is not None:
                self.read(condition)
                otherwise = self.place.where(condition, False)
                self.place = self.place.where(condition, True)
            else:
                otherwise = self.place
            kept = set(self.defined)
            self.statements(body)
            ends.append(self.defined)
            self.defined, self.place = kept, otherwise

        for part in node.children:
            if part.type in ("elseif_clause", "else_clause"):
                finish()
                condition, has_else = child_of(part, "parenthesized_expression"), part.type == "else_clause"
                body = [one for one in part.children if one.is_named and one is not condition]
                if part.type == "else_clause":
                    condition = None
            elif part.type == "parenthesized_expression" and condition is None and not body:
                condition = part
            elif part.is_named and part.type not in ("end_if_statement", "&", "block_label_start_expression"):
                body.append(part)
        finish()
        self.place = outer
        self.defined = set.intersection(*ends) if has_else else before

    def _do_loop(self, node: Node) -> None:
        statement = child_of(node, "do_statement")
        assert statement is not None
        body = loop_body(node)
        self.effects.has_work = True
        control_node = child_of(statement, "loop_control_expression")
        control = loop_control(control_node) if control_node is not None else None
        outer, before = self.place, set(self.defined)
        if control is not None:
            variable, lower, upper, step = control
            symbol = self.procedure.scope.variable(variable)
            for bound in (lower, upper, step):
                if bound is not None:
                    self.read(bound)
            self._access(symbol, True, node)
            own = f"{variable}@{node.start_byte}"
            if symbol.alias == symbol.key and not symbol.is_array:
                self.place = outer.inside(variable, own, lower, upper, step)
            before.add(symbol.key)
        elif (condition := child_of(statement, "while_statement")) is not None:
            self.read(named(condition)[0])
        elif len(named(statement)) > 0:
            self.barrier("unknown", node, "this form of do is not analysed")
        self.exit_depth += 1
        self.statements(body)
        self.exit_depth -= 1
        self.place, self.defined = outer, before

    def _keyword_statement(self, node: Node) -> None:
        words = [text_of(part) for part in children(node)]
        if words[0] == "continue":
            return
        is_inside = words[0] in ("exit", "cycle") and len(words) == 1 and self.exit_depth > 0
        if not is_inside:
            self.barrier("early-exit", node, f"{words[0]} leaves the statements around it")

    def _stop_statement(self, node: Node) -> None:
        self.barrier("early-exit", node, "stop ends the program")

    def _select_case_statement(self, node: Node) -> None:
        ends = []
        for part in node.children:
            if part.type == "selector":
                for one in named(part):
                    self.read(one)
            elif part.type == "case_statement":
                kept = set(self.defined)
                inside = [one for one in part.children if one.is_named]
                self.statements([one for one in inside if one.type not in ("case_value_range_list", "default")])
                ends.append(self.defined)
                self.defined = kept

    def _where_statement(self, node: Node) -> None:
        self.effects.has_work = True
        for part in named(node):
            if part.type == "parenthesized_expression":
                self.read(part)
            elif part.type == "elsewhere_clause":
                self._where_statement(part)
            elif part.type != "end_where_statement":
                self.statement(part)

    def _allocate_statement(self, node: Node) -> None:
        for part in named(node):
            if part.type == "sized_allocation":
                self._write_name(part)
                for size in part.children[1:]:
                    for one in walk(size):
                        if one.type == "identifier":
                            self.read(one)
            elif part.type == "identifier":
                self._write_name(part)
            else:
                self.barrier("unknown", part, "allocate with options is not analysed")

    def _deallocate_statement(self, node: Node) -> None:
        for part in named(node):
            if part.type == "identifier":
                self._write_name(part)
            else:
                self.barrier("unknown", part, "deallocate with options is not analysed")

    def _write_name(self, node: Node) -> None:
        name = node if node.type == "identifier" else named(node)[0]
        if name.type != "identifier":
            self.barrier("unknown", node, "allocation of a component is not analysed")
            return
        self._access(self.procedure.scope.variable(text_of(name)), True, node)

    # Expressions

    def read(self, node: Node) -> None:
        if node.type in _LITERALS or not node.is_named:
            return
        if node.type == "identifier":
            self._access(self.procedure.scope.variable(text_of(node)), False, node)
        elif node.type == "call_expression":
            self.calls.expression(node)
        elif node.type == "derived_type_member_expression":
            self.component(node, False)
        elif node.type == "extent_specifier":
            for part in triplet(node):
                if part is not None:
                    self.read(part)
        elif node.type == "keyword_argument":
            self.read(named(node)[-1])
        elif node.type in _OPERATIONS:
            if node.type not in ("parenthesized_expression", "array_literal") and self._is_own_operation(node):
                self.barrier("unknown-call", node, "an operator of the program's own")
            for part in named(node):
                if part.type == "user_defined_operator":
                    self.barrier("unknown-call", node, "an operator of the program's own")
                else:
                    self.read(part)
        elif node.type == "implied_do_loop_expression":
            self._implied_do(node)
        elif node.type == "coarray_expression":
            self.barrier("coarray", node, "it accesses another image")
        else:
            self.barrier("unknown", node, f"{node.type.replace('_', ' ')} is not analysed")

    def is_derived_valued(self, node: Node) -> bool:
        """Whether a value is of a derived type, or may be."""
        if node.type == "call_expression":
            function = node.children[0]
            known = self.summaries.procedure(text_of(function), self.procedure) if is_name(function) else None
            if known is not None:
                return known.scope.variable(known.result).is_derived
            is_constructor = is_name(function) and self.procedure.scope.find_type(text_of(function)) is not None
            return is_constructor or self.is_derived_valued(function)
        if node.type == "identifier":
            return self.procedure.scope.variable(text_of(node)).is_derived
        if node.type in _OPERATIONS:
            return any(self.is_derived_valued(part) for part in named(node))
        if node.type != "derived_type_member_expression":
            return False
        base = self.base(node)
        types = [base.type] if base is not None else []
        for member in (one for one in walk(node) if one.type == "type_member"):
            found = self.procedure.scope.find_type(types[-1].partition("(")[2].rstrip(")")) if types else None
            component = found.components.get(text_of(member)) if found is not None else None
            if component is None:
                return not types or not types[-1].startswith("type(mpi_")
            types.append(component.type)
        return not types or types[-1].startswith(("type(", "class("))

    def _is_own_operation(self, node: Node) -> bool:
        scopes = self.procedure.scope.chain()
        has_own = any(name.startswith("operator(") for scope in scopes for name in scope.generics)
        return has_own or any(self.is_derived_valued(part) for part in named(node))

    def _implied_do(self, node: Node) -> None:
        control_node = child_of(node, "loop_control_expression")
        control = loop_control(control_node) if control_node is not None else None
        if control is None:
            self.barrier("unknown", node, "this implied do is not analysed")
            return
        outer = self.place
        for bound in control[1:]:
            if bound is not None:
                self.read(bound)
        self.place = outer.inside(control[0], f"{control[0]}@{node.start_byte}", *control[1:])
        for part in named(node):
            if part is not control_node:
                self.read(part)
        self.place = outer

    def write(self, node: Node) -> None:
        """`node` is a variable, an element, a section or a component."""
        if node.type == "identifier":
            self._access(self.procedure.scope.variable(text_of(node)), True, node)
        elif node.type == "call_expression":
            designator, arguments = node.children[0], child_of(node, "argument_list")
            for part in named(arguments) if arguments is not None else []:
                self.read(part)
            if designator.type == "derived_type_member_expression":
                self.component(designator, True)
                return
            symbol = self.procedure.scope.variable(text_of(designator)) if designator.type == "identifier" else None
            if symbol is None or not (symbol.is_array or symbol.type == "character"):
                self.barrier("unknown", node, "this is neither an array nor a component")
                return
            self._access(symbol, True, node, arguments)
        elif node.type == "derived_type_member_expression":
            self.component(node, True)
        elif node.type == "coarray_expression":
            self.barrier("coarray", node, "it accesses another image")
        else:
            self.barrier("unknown", node, f"a write to {node.type.replace('_', ' ')} is not analysed")

    def component(self, node: Node, is_write: bool) -> None:
        """The whole variable stands for its components; what a pointer among them points to is among all targets."""
        base, path = node, list[str]()
        while base.type in ("derived_type_member_expression", "call_expression"):
            if base.type == "call_expression":
                arguments = child_of(base, "argument_list")
                for part in named(arguments) if arguments is not None else []:
                    self.read(part)
            else:
                member = child_of(base, "type_member")
                path.insert(0, text_of(member) if member is not None else "")
            base = base.children[0]
        symbol = self.procedure.scope.variable(text_of(base)) if base.type == "identifier" else None
        if symbol is None or not symbol.is_derived:
            self.barrier("unknown", node, "a component of something else than a variable")
            return
        type_name = symbol.type.partition("(")[2].rstrip(")")
        is_of_mpi = type_name.startswith("mpi_") and self.procedure.scope.find_type(type_name) is None
        for name in path if not is_of_mpi else ():
            found = self.procedure.scope.find_type(type_name)
            component = found.components.get(name) if found is not None else None
            if component is None:
                self.barrier("derived-type", node, f"the component {name} of {symbol.name} is not known")
                return
            if component.is_procedure:
                self.barrier("unknown-call", node, f"the component {name} of {symbol.name} is a procedure")
                return
            if "pointer" in component.attributes:
                self._access(Symbol(TARGETS, TARGETS, attributes={"target"}), is_write, node)
            type_name = component.type.partition("(")[2].rstrip(")")
        self._access(symbol, is_write, node)


def is_name(node: Node) -> bool:
    return node.type == "identifier"


def is_directive(node: Node) -> bool:
    """A comment that the compiler reads."""
    text = text_of(node).lower()
    return text.startswith(("!$omp", "!$acc", "!dir$", "!dec$", "!gcc$", "!ibm*", "!$ "))


def loop_body(node: Node) -> list[Node]:
    """The statements of a do loop. With a label its end may be one of them."""
    inside = [
        part
        for part in node.children
        if part.is_named
        and part.type not in ("do_statement", "end_do_loop_statement", "block_label_start_expression", "&")
    ]
    found = []
    for part in inside:
        if part.type == "end_do_label_loop_statement":
            found += [one for one in part.children if one.is_named and one.type != "statement_label"]
        else:
            found.append(part)
    return found


def _is_array_valued(node: Node, symbol: Symbol) -> bool:
    if node.type == "identifier":
        return symbol.is_array
    return any(one.type == "extent_specifier" for one in walk(node))
