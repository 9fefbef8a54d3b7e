# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How much work statements are, next to others: the measured time of a stretch of the program is shared out by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from hocket.rewrite.affine import known_value
from hocket.rewrite.analysis import Analysis
from hocket.rewrite.blocks import Item
from hocket.rewrite.collector import Collector, loop_body
from hocket.rewrite.costs import USUAL_COUNT
from hocket.rewrite.fission import Fission
from hocket.rewrite.splitting import Split
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, child_of, children, named, text_of, walk
from hocket.rewrite.values import Place, control_of


@dataclass
class Weights:
    """In operations, roughly. Only their ratios within a procedure matter."""

    analysis: Analysis
    _of_procedures: dict[tuple[object, ...], float] = field(default_factory=dict)
    _places: dict[int, Place] = field(default_factory=dict)
    _arguments: dict[str, float] = field(default_factory=dict)  # values of dummies in the call that is looked at

    def of(self, part: Item | Split | Fission, procedure: Procedure) -> float:
        """Of what runs beside communication."""
        if isinstance(part, Fission):
            whole = [*part.early, *part.late]
            return self.of(part.item, procedure) * self._share(part.early, whole, procedure)
        if isinstance(part, Split):  # all iterations but a few
            return self.of(part.item, procedure)
        return self.statement(part.node, procedure)

    def _share(self, some: Iterable[Item], whole: Iterable[Item], procedure: Procedure) -> float:
        total = sum(self.of(one, procedure) for one in whole)
        return sum(self.of(one, procedure) for one in some) / total if total else 0.0

    def statement(self, node: Node, procedure: Procedure) -> float:
        if node.type == "do_loop":
            return self._iterations(node, procedure) * sum(self.statement(one, procedure) for one in loop_body(node))
        if node.type in ("comment", "statement_label", ";"):
            return 0.0
        if node.type == "subroutine_call":
            return self._call(text_of(children(node)[1]), procedure, node) + self._operations(node, procedure)
        inner = [one for one in node.children if one.is_named]
        if node.type in ("if_statement", "elseif_clause", "else_clause", "select_case_statement", "case_statement"):
            return 1.0 + sum(self.statement(one, procedure) for one in inner)
        if node.type == "assignment_statement" and self._is_array(node, procedure):
            return USUAL_COUNT * self._operations(node, procedure)
        return self._operations(node, procedure)

    def _operations(self, node: Node, procedure: Procedure) -> float:
        total = 1.0
        for one in walk(node):
            if one.type in ("math_expression", "unary_expression", "relational_expression"):
                total += 1.0
            elif one.type == "call_expression":
                name = one.children[0]
                symbol = procedure.scope.find(text_of(name)) if name.type == "identifier" else None
                is_element = name.type != "identifier" or (symbol is not None and symbol.is_array)
                total += 1.0 if is_element else self._call(text_of(name), procedure, one, 10.0)
        return total

    def _call(self, name: str, caller: Procedure, node: Node, unknown: float = USUAL_COUNT) -> float:
        known = self.analysis.procedure(name, caller)
        if known is None:
            return 1.0 if name.startswith("mpi_") else unknown
        values = self._values(known, caller, node)
        key = (id(known), *sorted(values.items()))
        if key not in self._of_procedures:
            self._of_procedures[key] = unknown  # where it calls itself
            outer, self._arguments = self._arguments, values
            self._of_procedures[key] = 1.0 + sum(self.statement(one, known) for one in known.body)
            self._arguments = outer
        return self._of_procedures[key]

    def _values(self, known: Procedure, caller: Procedure, node: Node) -> dict[str, float]:
        """Of its dummies, those that are numbers in the call `node`: the bounds of its loops may be among them."""
        arguments = child_of(node, "argument_list")
        actuals = named(arguments) if arguments is not None else []
        found = {}
        for dummy, actual in zip(known.dummies, actuals, strict=False):
            if actual.type == "keyword_argument":
                break
            value = self._number(actual, caller)
            if value is not None:
                found[known.scope.variable(dummy).key] = value
        return found

    def _iterations(self, node: Node, procedure: Procedure) -> float:
        control = control_of(node)
        if control is None:
            return USUAL_COUNT
        ends = [self._number(one, procedure) for one in control[1:3]]
        if ends[0] is None or ends[1] is None:
            return USUAL_COUNT
        return max(0.0, ends[1] - ends[0] + 1)

    def _is_array(self, node: Node, procedure: Procedure) -> bool:
        left = named(node)[0]
        if left.type == "identifier":
            return procedure.scope.variable(text_of(left)).is_array
        return any(one.type == "extent_specifier" for one in walk(left))

    def _number(self, node: Node, procedure: Procedure) -> float | None:
        """None if it is known only when the program runs."""
        key = id(procedure)
        if key not in self._places:
            place = Collector(procedure, self.analysis, self.analysis.facts(procedure)).place
            self._places[key] = replace(place, changed=())  # an estimate: names keep the values that they begin with
        found = self._places[key].affine(node)
        if found is None:
            return None
        values = [(times, self._arguments.get(name, known_value(name))) for name, times in found.terms]
        if any(value is None for _, value in values):
            return None
        return float(found.constant + sum(times * (value or 0) for times, value in values))
