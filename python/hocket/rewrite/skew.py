# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Whether calls that all ranks run match each other: collectives match in their order, not by their place in the text.

Where rank 0 makes one collective more before a call, and the others one more behind it, rank 0's second matches their
first. So there are two places, or two times, at which only some ranks make a collective of this communicator. They are
looked for in the procedure of the call, by the communicator's name; that other procedures leave no rank ahead is
assumed. Branches with as many collectives each, one of which runs, move no rank ahead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hocket.rewrite.mpi_arguments import BoundArguments, bind, is_collective
from hocket.rewrite.mpi_procedures import mpi_procedures
from hocket.rewrite.same_flow import SameFlow
from hocket.rewrite.sameness import ALL
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, child_of, children, identifiers, line_of, text_of, walk

_Places = dict[tuple[str, ...], str]  # by the conditions under which a collective runs there
_BRANCHES = ("elseif_clause", "else_clause")


@dataclass
class Skew:
    """Of a program. `flow` knows which calls all ranks run."""

    flow: SameFlow
    _places: dict[int, dict[str, _Places]] = field(default_factory=dict)  # by procedure and communicator

    def reason(self, call: BoundArguments, procedure: Procedure) -> str:
        """Why a call may match another one; empty if it does not."""
        key = id(procedure)
        if key not in self._places:
            self._places[key] = {}
            for bound in _collectives(procedure.body):
                if self.flow.runs.get(bound.node.id, (ALL, ""))[0] != ALL and not _is_stated(bound.node):
                    self._add(bound, procedure, self._places[key].setdefault(_communicator(bound), {}))
        places = list(self._places[key].get(_communicator(call), {}).values())
        if len(places) < 2:
            return ""
        where = f"{places[0]} and {places[1]}"
        return f"in {where} only some ranks may run collectives of this communicator, which match in their order"

    def _add(self, bound: BoundArguments, procedure: Procedure, places: _Places) -> None:
        guards, again = list[str](), False
        at, place = bound.node, f"line {line_of(bound.node)}"
        while at.parent is not None and at.id != procedure.node.id:
            inside, at = at, at.parent
            if at.type == "if_statement":
                if _is_balanced(at, _communicator(bound)):
                    return
                guards.append(_guard(at, inside))
            elif at.type == "do_loop":
                names = {name for one in guards for name in one.split()}
                again = again or bool(names & _changed(at))
            elif at.type.endswith(("_construct", "case_statement")):
                guards.append(f"line {line_of(inside)}")
        if not guards:  # the conditions stand in a caller, or ranks may have left before
            guards.append(self.flow.runs[bound.node.id][1])
        places.setdefault(tuple(guards), place)
        if again:
            places.setdefault((*guards, "again"), "another iteration")


def _collectives(nodes: list[Node]) -> Iterator[BoundArguments]:
    for node in (one for statement in nodes for one in walk(statement)):
        known = mpi_procedures().get(text_of(children(node)[1])) if node.type == "subroutine_call" else None
        bound = bind(known, node) if known is not None and known.role in ("blocking", "start") else None
        if bound is not None and is_collective(bound):
            yield bound


def _communicator(bound: BoundArguments) -> str:
    comm = bound.actual("comm")
    return text_of(comm) if comm is not None else ""


def _is_stated(node: Node) -> bool:
    before = node.prev_sibling
    return before is not None and before.type == "comment" and text_of(before).startswith("!$hocket uniform")


def _guard(branch: Node, inside: Node) -> str:
    """The names in the conditions, and which part it is of."""
    conditions = [child_of(one, "parenthesized_expression") for one in (branch, inside)]
    texts = [" ".join([text_of(one), *identifiers(one)]) for one in conditions if one is not None]
    return " ".join([*texts, inside.type if inside.type in _BRANCHES else "then"])


def _changed(loop: Node) -> set[str]:
    """Names of what changes in a loop, as far as assignments and calls show."""
    found: set[str] = set()
    for node in walk(loop):
        if node.type in ("assignment_statement", "loop_control_expression"):
            found.update(list(identifiers(node))[:1])
        elif node.type in ("subroutine_call", "read_statement"):
            found.update(identifiers(node))
    return found


def _is_balanced(branch: Node, communicator: str) -> bool:
    """Whether each of its parts, one of which always runs, makes as many collectives, outside of loops and branches."""
    clauses = [one for one in branch.children if one.type in _BRANCHES]
    if not clauses or clauses[-1].type != "else_clause":
        return False
    first = [one for one in branch.children if one.type not in _BRANCHES]
    counts = set()
    for part in [first, *(one.children for one in clauses)]:
        made = [one for one in _collectives(list(part)) if _communicator(one) == communicator]
        if any(
            one.node.parent is None or one.node.parent.id not in {branch.id, *(c.id for c in clauses)} for one in made
        ):
            return False
        counts.add(len(made))
    return len(counts) == 1
