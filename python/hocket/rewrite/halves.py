# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Windows over procedures: a procedure that communicates as two, which start and finish the communication.

The procedure itself stays for other callers. Where it is called, its first half takes the place of the start and its
second half that of the wait.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hocket.rewrite.analysis import Analysis
from hocket.rewrite.blocks import Item
from hocket.rewrite.buffers import refusal_of_actual
from hocket.rewrite.collector import Collector
from hocket.rewrite.dependences import conflict_of
from hocket.rewrite.effects import Effects
from hocket.rewrite.mpi_arguments import BoundArguments
from hocket.rewrite.symbols import Procedure, Symbol
from hocket.rewrite.syntax import Node, child_of, children, named, text_of, walk

REQUEST = "hocket_request"


@dataclass(frozen=True)
class Halves:
    """`before` and the starts of `calls`; the waits for them and `after`."""

    procedure: Procedure
    before: tuple[Item, ...]
    calls: tuple[tuple[Item, BoundArguments], ...]
    after: tuple[Item, ...]
    dummies: frozenset[str]  # that MPI accesses until the second half
    others: frozenset[str]  # the same of variables of the module

    @property
    def requests(self) -> list[str]:
        """The names of the dummy arguments for them."""
        count = sum(len(bound.procedure.starts) for _, bound in self.calls)
        return [REQUEST if i == 0 else f"{REQUEST}_{i + 1}" for i in range(count)]

    def claims(self) -> list[tuple[str, str]]:
        name = self.procedure.name
        return [
            (
                f"{name}_start and {name}_finish do together what {name} does",
                "they have its statements in their order; no local variable carries a value from one to the other",
            )
        ]


#: Whether a blocking call may become non-blocking, whatever its window is.
Check = Callable[[Procedure, Sequence[Item], int, BoundArguments], bool]


def find_halves(procedure: Procedure, analysis: Analysis, check: Check) -> Halves | None:
    """None if the procedure cannot be divided, or has no blocking communication."""
    if procedure.kind != "subroutine" or not procedure.has_explicit_interface or procedure.inner:
        return None
    facts, scope = analysis.facts(procedure), procedure.scope
    if analysis.problem(procedure) or facts.has_jumps or procedure.qualifiers:
        return None
    if child_of(procedure.node.children[0], "language_binding") is not None:
        return None  # a name outside of Fortran is that of one procedure
    binding = scope.mpi()
    if binding is None or binding.binding_only is not None:
        return None  # names would have to be added to the copies of `use`
    items, _ = analysis.root_items(procedure)
    if items and items[-1].node.type == "keyword_statement" and text_of(items[-1].node) == "return":
        items = items[:-1]
    blocking = {one.node.id: one for one in facts.calls if one.procedure.role == "blocking" and one.procedure.starts}
    places = [i for i, one in enumerate(items) if one.effects.mpi]
    if not places or places != list(range(places[0], places[-1] + 1)) or any(one.effects.barriers for one in items):
        return None
    calls = [(items[i], blocking.get(items[i].node.id)) for i in places]
    known = [(item, bound) for item, bound in calls if bound is not None]
    if len(known) < len(calls) or not all(check(procedure, items, i, blocking[items[i].node.id]) for i in places):
        return None
    for i, (item, _) in enumerate(known):
        if any(conflict_of(item.effects, other.effects, ()) is not None for other, _ in known[i + 1 :]):
            return None
    before, after = items[: places[0]], items[places[-1] + 1 :]
    if not _are_apart(procedure, analysis, [*before, *(one for one, _ in known)], after) or not _may_pass(procedure):
        return None
    buffers = [_kept(procedure, bound) for _, bound in known]
    own = f"{scope.name}::"
    symbols = {one.name: one for some in buffers for one in some}
    if any(one.key.startswith(own) and not one.is_dummy for one in symbols.values()):
        return None
    dummies = frozenset(name for name, one in symbols.items() if one.is_dummy and one.key.startswith(own))
    others = frozenset(symbols) - dummies
    return Halves(procedure, tuple(before), tuple(known), tuple(after), dummies, others)


def _kept(procedure: Procedure, bound: BoundArguments) -> list[Symbol]:
    found = []
    for argument, actual in bound.pairs():
        name = next((text_of(node) for node in walk(actual) if node.type == "identifier"), "")
        if (argument.is_buffer or argument.use == "kept") and name and not procedure.scope.is_of_mpi(name):
            found.append(procedure.scope.variable(name))
    return found


def _are_apart(procedure: Procedure, analysis: Analysis, first: Sequence[Item], second: Sequence[Item]) -> bool:
    """Whether no local variable has to keep its value between the halves, and no extent changes."""
    own = f"{procedure.scope.name}::"
    collector = Collector(procedure, analysis, analysis.facts(procedure))
    collector.statements([one.node for one in second])
    later: Effects = collector.effects
    for access in [*(one for item in first for one in item.effects.accesses), *later.accesses]:
        symbol = access.symbol
        if not symbol.key.startswith(own) or symbol.is_dummy:
            continue
        if procedure.is_saved(symbol) or symbol.alias != symbol.key:
            return False
    early = {access.symbol.key for item in first for access in item.effects.accesses}
    for access in later.accesses:
        symbol = access.symbol
        is_local = symbol.key.startswith(own) and not symbol.is_dummy
        if is_local and symbol.key in early and (symbol.is_array or symbol.key in later.exposed):
            return False
    written = {access.symbol.name for item in first for access in item.effects.accesses if access.is_write}
    integers = {name for name in procedure.dummies if procedure.scope.variable(name).type == "integer"}
    return not any(not procedure.scope.variable(name).is_array for name in written & integers)


def _may_pass(procedure: Procedure) -> bool:
    """Whether the dummy arguments can be passed twice."""
    bad = {"optional", "value", "allocatable", "pointer", "target", "procedure", "external", "volatile"}
    symbols = [procedure.scope.variable(name) for name in procedure.dummies]
    return not any(one.attributes & bad or one.is_derived or one.type == "character" for one in symbols) and not any(
        procedure.scope.find(f"{REQUEST}{end}") is not None for end in ("", "_2", "_3", "_4")
    )


def calls_of_halves(
    procedure: Procedure, analysis: Analysis, halves_of: Callable[[Procedure], Halves | None]
) -> Iterator[tuple[Node, Halves]]:
    """The calls in a procedure that could be halved, as far as the procedure that is called goes."""
    for node in (one for statement in procedure.body for one in walk(statement)):
        if node.type != "subroutine_call" or children(node)[1].type != "identifier":
            continue
        known = analysis.procedure(text_of(children(node)[1]), procedure)
        if known is None or known is procedure or known.source is not procedure.source:
            continue
        if _sees_neighbours(procedure, known) and (halves := halves_of(known)) is not None:
            yield node, halves


def _sees_neighbours(caller: Procedure, known: Procedure) -> bool:
    """Whether names beside `known` mean the same in `caller`."""
    home = known.scope.parent
    if home is None:
        return False
    if any(one is home for one in caller.scope.chain()):
        return True
    module = home.name.rpartition("::")[2]
    uses = [one for scope in caller.scope.chain() for one in scope.used if one.module == module]
    is_open = re.search(rb"(?im)^\s*private\b", known.source.text) is None
    return bool(uses) and is_open and not any(one.has_only or one.names for one in uses)


def actuals_of(node: Node, halves: Halves) -> dict[str, Node] | None:
    """The actual arguments for the buffers; None if they cannot be found."""
    arguments = child_of(node, "argument_list")
    parts = [one for one in children(arguments) if one.type not in ("(", ")", ",")] if arguments is not None else []
    found: dict[str, Node] = {}
    for position, part in enumerate(parts):
        if part.type == "keyword_argument":
            found[text_of(named(part)[0])] = named(part)[-1]
        elif position < len(halves.procedure.dummies):
            found[halves.procedure.dummies[position]] = part
        else:
            return None
    return {name: found[name] for name in halves.dummies} if halves.dummies <= set(found) else None


def may_stay_in_use(actuals: dict[str, Node], caller: Procedure) -> bool:
    """Whether the actual arguments are passed without a copy, and have no other name."""
    return all(refusal_of_actual(node, caller) is None for node in actuals.values())
