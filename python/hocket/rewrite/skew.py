# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Whether calls that all ranks run match each other: collectives match in their order, not by their place in the text.

Where rank 0 makes one collective more before a call, and the others one more behind it, rank 0's second matches their
first. So there are two places, or two times, at which only some ranks make a collective of this communicator. They are
looked for in the procedure of the call; that its callers leave no rank ahead is assumed. Two names of communicators are
taken for one communicator unless MPI has made both, and the program assigns neither.
Branches with as many collectives each, one of which runs, move no rank ahead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hocket.rewrite.mpi_arguments import BoundArguments, bind, is_collective
from hocket.rewrite.mpi_procedures import mpi_procedures
from hocket.rewrite.program import Program
from hocket.rewrite.same_flow import SameFlow
from hocket.rewrite.sameness import ALL
from hocket.rewrite.symbols import TARGETS, Procedure
from hocket.rewrite.syntax import Node, child_of, children, line_of, named, text_of, walk

_BRANCHES = ("elseif_clause", "else_clause")
_ANY = ""  # the communicator of a procedure's collectives
_MAKERS = frozenset(
    "mpi_comm_dup mpi_comm_idup mpi_comm_dup_with_info mpi_comm_split mpi_comm_split_type mpi_comm_create "
    "mpi_comm_create_group mpi_cart_create mpi_cart_sub mpi_graph_create mpi_dist_graph_create "
    "mpi_dist_graph_create_adjacent mpi_intercomm_create mpi_intercomm_merge".split()
)


@dataclass
class Skew:
    """Of a program. `flow` knows which calls all ranks run."""

    program: Program
    flow: SameFlow
    _places: dict[int, list[tuple[str, str]]] = field(default_factory=dict)  # by procedure: communicator and place
    _communicates: dict[int, bool] = field(default_factory=dict)
    _made: set[str] | None = None

    def reason(self, call: BoundArguments, procedure: Procedure) -> str:
        """Why a call may match another one; empty if it does not."""
        key = id(procedure)
        if key not in self._places:
            self._places[key] = list(self._find(procedure))
        own = _communicator(call)
        places = [place for one, place in self._places[key] if not self._are_apart(one, own, procedure)]
        if len(places) < 2:
            return ""
        where = f"{places[0]} and {places[1]}"
        return f"in {where} only some ranks may run collectives of this communicator, which match in their order"

    def _are_apart(self, one: str, other: str, procedure: Procedure) -> bool:
        """Whether two communicators cannot be the same."""
        if self._made is None:
            self._made = _made_by_mpi(self.program)
        return one != other and all(
            name in self._made and name not in procedure.dummies and procedure.scope.variable(name).alias != TARGETS
            for name in (one, other)
        )

    def _find(self, procedure: Procedure) -> Iterator[tuple[str, str]]:
        for node, communicator in self._calls(procedure):
            if self.flow.runs.get(node.id, (ALL, ""))[0] == ALL or _is_stated(node):
                continue
            around = list(_around(node, procedure))
            if not any(one.type == "if_statement" and self._is_balanced(one, procedure) for one in around):
                yield communicator, f"line {line_of(node)}"
                if any(one.type == "do_loop" for one in around):
                    yield communicator, "another iteration"

    def _calls(self, procedure: Procedure) -> Iterator[tuple[Node, str]]:
        """Collectives, and calls of procedures that make some, with the communicator."""
        for node in (one for statement in procedure.body for one in walk(statement)):
            if node.type not in ("subroutine_call", "call_expression"):
                continue
            name = text_of(children(node)[1 if node.type == "subroutine_call" else 0])
            if (bound := _collective(name, node)) is not None:
                yield node, _communicator(bound)
            elif (known := self.program.find(name, procedure)) is not None and self._makes_some(known):
                yield node, _ANY

    def _makes_some(self, procedure: Procedure) -> bool:
        key = id(procedure)
        if key not in self._communicates:
            self._communicates[key] = False  # where it calls itself
            self._communicates[key] = next(self._calls(procedure), None) is not None
        return self._communicates[key]

    def _is_balanced(self, branch: Node, procedure: Procedure) -> bool:
        """Whether each part, one of which always runs, makes the same collectives, outside of loops and branches."""
        clauses = [one for one in branch.children if one.type in _BRANCHES]
        if not clauses or clauses[-1].type != "else_clause":
            return False
        made: dict[int, list[str]] = {one.id: [] for one in (branch, *clauses)}
        for node, communicator in self._calls(procedure):
            if not branch.start_byte <= node.start_byte < branch.end_byte:
                continue
            if node.parent is None or node.parent.id not in made or communicator == _ANY:
                return False
            made[node.parent.id].append(communicator)
        return len({tuple(one) for one in made.values()}) == 1


def _made_by_mpi(program: Program) -> set[str]:
    """Constants, and variables that only procedures of MPI set."""
    made, assigned = {"mpi_comm_world", "mpi_comm_self"}, set[str]()
    for node in (one for procedure in program.procedures for one in walk(procedure.node)):
        if node.type == "subroutine_call" and text_of(children(node)[1]) in _MAKERS:
            arguments = child_of(node, "argument_list")
            made |= {text_of(one) for one in (named(arguments)[1:] if arguments else []) if one.type == "identifier"}
        elif node.type in ("assignment_statement", "pointer_association_statement", "init_declarator"):
            assigned.add(text_of(named(node)[0]))
    return made - assigned


def _collective(name: str, node: Node) -> BoundArguments | None:
    known = mpi_procedures().get(name) if node.type == "subroutine_call" else None
    bound = bind(known, node) if known is not None and known.role in ("blocking", "start") else None
    return bound if bound is not None and is_collective(bound) else None


def _communicator(bound: BoundArguments) -> str:
    comm = bound.actual("comm")
    return text_of(comm) if comm is not None else _ANY


def _around(node: Node, procedure: Procedure) -> Iterator[Node]:
    at = node.parent
    while at is not None and at.id != procedure.node.id:
        yield at
        at = at.parent


def _is_stated(node: Node) -> bool:
    before = node.prev_sibling
    return before is not None and before.type == "comment" and text_of(before).startswith("!$hocket uniform")
