# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Calls that only some ranks may run. There a collective may meet another call of the same collective, which has to
stay of the same kind: a blocking collective never matches a non-blocking one (MPI 4.1, 6.12)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hocket.rewrite.intrinsics import CO_PROCEDURES, intrinsics
from hocket.rewrite.mpi_arguments import bind
from hocket.rewrite.mpi_procedures import mpi_procedures
from hocket.rewrite.program import Program
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, child_of, children, identifiers, line_of, named, text_of, walk

#: They give the same values to all ranks of their communicator, or values that do not matter here.
_SAME_ON_ALL = frozenset(
    "mpi_comm_size mpi_bcast mpi_ibcast mpi_allreduce mpi_iallreduce mpi_allgather mpi_iallgather mpi_allgatherv "
    "mpi_iallgatherv mpi_init mpi_init_thread mpi_finalize mpi_initialized mpi_comm_dup mpi_barrier mpi_wait "
    "mpi_waitall mpi_type_commit mpi_type_contiguous mpi_type_vector mpi_type_free mpi_op_create".split()
)
_CONDITIONS = frozenset({"parenthesized_expression", "selector"})
_BRANCHES = frozenset({"if_statement", "elseif_clause", "else_clause", "case_statement"})
#: What is read from files: the same on all ranks, if they open files by the same names.
_INPUT = "(input)"
#: All ranks are started with the same words and environment.
_OF_THE_COMMAND = frozenset({"get_command_argument", "get_command", "get_environment_variable", "getarg", "getenv"})
_ALONE = frozenset({"exit", "abort"})  # a rank takes no part any more
_LEAVES = frozenset({"return", "goto", "exit", "cycle"})


@dataclass
class Divergence:
    """Which variables may differ between ranks, and so which branches: for all given files.

    The order of statements is not looked at. A variable differs if anything that is assigned to it may, or if it is
    assigned in a branch that may. What a broadcast or an allreduce gives to a scalar is the same on all ranks; so is
    an array that one rank has read or set before it was broadcast.
    """

    program: Program
    #: What differs if one of the others does: values that it gets, and conditions under which it gets them.
    _flows: list[tuple[str, frozenset[str], frozenset[str]]] = field(default_factory=list)
    _differs: set[str] = field(default_factory=set)
    _same: set[str] = field(default_factory=set)
    _broadcast: set[str] = field(default_factory=set)
    _branches: dict[int, tuple[frozenset[str], int]] = field(default_factory=dict)  # call -> conditions around, line
    _callers: dict[int, list[tuple[Procedure, Node]]] = field(default_factory=dict)
    _leaves: dict[int, list[tuple[frozenset[str], int]]] = field(default_factory=dict)  # of a procedure

    def __post_init__(self) -> None:
        for procedure in self.program.procedures:
            stack = [(node, frozenset[str](), 0) for node in procedure.body]
            while stack:
                stack += self._visit(*stack.pop(), procedure)
        self._differs = self._differs - self._same
        is_new = True
        while is_new:
            is_new = False
            for target, values, around in self._flows:
                sources = values if target in self._broadcast else values | around
                if target not in self._differs and target not in self._same and sources & self._differs:
                    self._differs.add(target)
                    is_new = True

    def reason(self, call: Node, procedure: Procedure, busy: frozenset[int] = frozenset()) -> str:
        """Why not all ranks may run a call; empty if they do."""
        around, line = self._branches.get(call.id, (frozenset(), 0))
        if around & self._differs:
            return f"the branch in line {line} may differ between ranks"
        for conditions, at in self._leaves.get(id(procedure), ()):
            if conditions & self._differs:
                return f"line {at}: some ranks may leave the statements around it"
        for caller, node in self._callers.get(id(procedure), ()) if id(procedure) not in busy else ():
            if found := self.reason(node, caller, busy | {id(procedure)}):
                return f"{procedure.name} is called in {caller.name}: {found}"
        return ""

    def _visit(
        self, node: Node, around: frozenset[str], line: int, procedure: Procedure
    ) -> list[tuple[Node, frozenset[str], int]]:
        """What is inside, with the conditions around it and the line of the innermost."""
        kind = node.type
        if kind in ("assignment_statement", "pointer_association_statement"):
            target = self._base(named(node)[0], procedure)
            self._flows.append((target, self._names([named(node)[-1]], procedure), around))
        elif kind == "subroutine_call":
            self._branches[node.id] = (around, line)
            self._call(node, procedure, around)
            return [(one, around, line) for one in node.children[2:]]
        elif kind == "call_expression" and node.children[0].type == "identifier":
            self._call(node, procedure, around)
        elif kind == "read_statement":
            self._reading(node, procedure, around)
        elif kind == "open_statement":
            self._flows.append((_INPUT, self._names([node], procedure), frozenset()))
        elif kind == "keyword_statement" and around and self._leaves_others(node, procedure):
            self._leaves.setdefault(id(procedure), []).append((around, line_of(node)))
        elif kind in ("if_statement", "select_case_statement"):
            clauses = [node, *(one for one in node.children if one.type == "elseif_clause")]
            conditions = [one for clause in clauses for one in clause.children if one.type in _CONDITIONS]
            around, line = around | self._names(conditions, procedure), line_of(node)
        return [(one, around, line) for one in node.children]

    def _reading(self, node: Node, procedure: Procedure, around: frozenset[str]) -> None:
        """From a text, the values are as different as the text; from a file, as different as the names of files."""
        unit, *targets = [*identifiers(node)] or [""]
        found = procedure.scope.find(unit)
        is_text = found is not None and found.type == "character"
        source = found.alias if found is not None and is_text else _INPUT
        for name in targets if is_text else [unit, *targets]:
            self._flows.append((_alias(name, procedure), frozenset({source}), around))

    def _leaves_others(self, node: Node, procedure: Procedure) -> bool:
        """Whether ranks that leave here may meet the others' collectives with calls of their own: in the branch that
        leaves, or behind the label that they go to. Those that take no part any more harm nobody."""
        word = text_of(children(node)[0])
        if word not in _LEAVES:
            return False
        branch = node.parent
        while branch is not None and branch.type not in _BRANCHES:
            branch = branch.parent
        if branch is not None and any(_may_communicate(one) for one in _own_statements(branch)):
            return True
        if word != "goto":
            return False
        target = text_of(children(node)[-1])
        labels = [one for one in walk(procedure.node) if _is_label(one) and text_of(one) == target]
        return not labels or any(
            _may_communicate(one) for one in walk(procedure.node) if one.start_byte > labels[0].start_byte
        )

    def _call(self, node: Node, procedure: Procedure, around: frozenset[str]) -> None:
        name_node = node.children[0] if node.type == "call_expression" else children(node)[1]
        name, arguments = text_of(name_node), child_of(node, "argument_list")
        parts = [one for one in children(arguments) if one.type not in ("(", ")", ",")] if arguments is not None else []
        known = self.program.find(name, procedure)
        if known is not None:
            self._callers.setdefault(id(known), []).append((procedure, node))
            if node.type == "call_expression":
                self._branches.setdefault(node.id, (around, line_of(node)))
            for position, part in enumerate(parts):
                is_keyword = part.type == "keyword_argument"
                dummy = text_of(named(part)[0]) if is_keyword else (known.dummies[position : position + 1] or [""])[0]
                inside = _alias(dummy, known) if dummy else ""
                value = named(part)[-1] if is_keyword else part
                self._flows.append((inside, self._names([value], procedure), around))
                if base := self._base(value, procedure):
                    self._flows.append((base, frozenset({inside}), around))
        elif node.type == "subroutine_call" and name.startswith(("mpi_", "pmpi_")):
            self._mpi(name, node, procedure, around)
        elif node.type == "subroutine_call" and name in CO_PROCEDURES:
            self._broadcast |= {self._base(part, procedure) for part in parts[:1]}
        elif node.type == "subroutine_call" and name not in intrinsics() and name not in _OF_THE_COMMAND:
            self._differs |= {self._base(part, procedure) for part in parts} - {""}

    def _mpi(self, name: str, node: Node, procedure: Procedure, around: frozenset[str]) -> None:
        table = mpi_procedures().get(name)
        bound = bind(table, node) if table is not None else None
        if bound is None:
            if name not in _SAME_ON_ALL:
                arguments = child_of(node, "argument_list")
                parts = named(arguments)[:-1] if arguments is not None else []
                self._differs |= {self._base(part, procedure) for part in parts} - {""}
            return
        for argument, actual in bound.pairs():
            if argument.use not in ("out", "inout", "set"):
                continue
            base = self._base(actual, procedure)
            if name not in _SAME_ON_ALL:
                self._differs.add(base)
                continue
            self._broadcast.add(base)
            if actual.type == "identifier" and not procedure.scope.variable(text_of(actual)).is_array and not around:
                self._same.add(base)

    def _base(self, node: Node, procedure: Procedure) -> str:
        while node.type != "identifier":
            if not node.children:
                return ""
            node = node.children[0]
        return _alias(text_of(node), procedure)

    def _names(self, nodes: Iterable[Node], procedure: Procedure) -> frozenset[str]:
        """What the value of expressions depends on: variables, and results of functions."""
        found = set[str]()
        for node in nodes:
            for name in identifiers(node):
                known = self.program.find(name, procedure)
                if known is not None and known.result:
                    found.add(_alias(known.result, known))
                else:
                    found.add(_alias(name, procedure))
        return frozenset(found)


def _alias(name: str, procedure: Procedure) -> str:
    """As `Scope.variable` has it, but a name that is not declared, such as that of an intrinsic, stays unknown."""
    found = procedure.scope.find(name)
    if found is not None:
        return found.alias
    scope = procedure.scope
    outermost = [one for one in scope.chain() if not one.is_module or one is scope][-1]
    return f"{outermost.name}::{name}"


def _own_statements(branch: Node) -> Iterable[Node]:
    """Of a branch, without its `else`."""
    stack = [one for one in branch.children if one.type not in ("elseif_clause", "else_clause")]
    while stack:
        one = stack.pop()
        yield one
        stack += one.children


def _is_label(node: Node) -> bool:
    is_reference = node.parent is not None and node.parent.type == "statement_label_reference"
    return node.type == "statement_label" and node.is_named and not is_reference


def _may_communicate(node: Node) -> bool:
    """Whether it is a collective that may become non-blocking, or may contain one."""
    if node.type != "subroutine_call":
        return False
    name = text_of(children(node)[1])
    if not name.startswith("mpi_"):
        return name not in _ALONE
    known = mpi_procedures().get(name)
    return known is not None and bool(known.starts) and not {one.name for one in known.arguments} & {"dest", "source"}
