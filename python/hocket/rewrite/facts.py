# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What holds in a whole procedure: which requests stand for what, which error codes nobody looks at."""

from __future__ import annotations

from dataclasses import dataclass, field

from hocket.rewrite.mpi_arguments import BoundArguments, bind
from hocket.rewrite.mpi_procedures import mpi_procedures
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, child_of, children, named, text_of, walk


@dataclass
class Facts:
    """Of one procedure."""

    calls: list[BoundArguments] = field(default_factory=list)
    starts: dict[str, list[BoundArguments]] = field(default_factory=dict)  # by the name of the request's variable
    foreign_requests: set[str] = field(default_factory=set)  # that something else than a start and a wait accesses
    read_errors: set[str] = field(default_factory=set)  # variables for error codes that something reads
    read_statuses: set[str] = field(default_factory=set)  # the same of statuses
    has_jumps: bool = False  # goto: an order of statements that the text does not show
    exposed: dict[int, set[str]] = field(default_factory=dict)  # block -> keys of scalars whose earlier value is read


def facts_of(procedure: Procedure) -> Facts:
    """Without `exposed`, which needs the effects of statements."""
    facts = Facts()
    table = mpi_procedures()
    request_nodes: set[int] = set()
    error_nodes: set[int] = set()
    statuses: dict[int, str] = {}
    requests: set[str] = set()
    for node in walk(procedure.node):
        if node.type == "arithmetic_if_statement" or (
            node.type == "keyword_statement" and text_of(node).startswith("goto")
        ):
            facts.has_jumps = True
        if node.type == "statement_label" and node.is_named and _may_be_a_target(node):
            facts.has_jumps = True
        if node.type == "assignment_statement" and text_of(named(node)[-1]) == "mpi_request_null":
            request_nodes |= {one.id for one in walk(named(node)[0])}  # no operation
        if node.type != "subroutine_call":
            continue
        name = children(node)[1]
        known = table.get(text_of(name)) if name.type == "identifier" else None
        bound = bind(known, node) if known is not None else None
        if bound is None:
            arguments = child_of(node, "argument_list")
            if text_of(name).startswith("mpi_") and arguments is not None and named(arguments):
                error_nodes.add(named(arguments)[-1].id)  # of a procedure that the table does not have
            continue
        facts.calls.append(bound)
        if bound.error is not None:
            error_nodes.add(bound.error.id)
        for argument, actual in bound.pairs():
            base = base_identifier(actual)
            if argument.use == "set" and "status" in argument.name and base is not None:
                statuses[base.id] = text_of(base)
            if argument.use == "request" and base is not None:
                request_nodes.add(base.id)
                requests.add(text_of(base))
                if bound.procedure.role == "start":
                    facts.starts.setdefault(text_of(base), []).append(bound)
    errors = {text_of(one.error) for one in facts.calls if one.error is not None}
    names_of_statuses = set(statuses.values())
    own = [(one, frozenset[str]()) for one in procedure.body]
    for statement, hidden in [*own, *((one.node, frozenset(one.scope.symbols)) for one in procedure.inner.values())]:
        for node in walk(statement):
            name_text = text_of(node) if node.type == "identifier" else ""
            if not name_text or name_text in hidden:
                continue
            if name_text in errors and node.id not in error_nodes:
                facts.read_errors.add(name_text)
            if name_text in names_of_statuses and node.id not in statuses:
                facts.read_statuses.add(name_text)
            if name_text in requests and node.id not in request_nodes:
                facts.foreign_requests.add(name_text)
    return facts


def _may_be_a_target(label: Node) -> bool:
    """Input and output jump too, with `end=` and `err=`. The end of a loop is a target of goto only."""
    if label.parent is not None and label.parent.type in ("end_do_label_loop_statement", "statement_label_reference"):
        return False
    behind = label.next_sibling
    return behind is None or behind.type != "format_statement"


def base_identifier(node: Node) -> Node | None:
    while node.type != "identifier":
        inside = named(node)
        if not inside:
            return None
        node = inside[0]
    return node
