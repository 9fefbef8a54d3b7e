# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Software pipelining: the communication of an iteration runs beside the computation of the one before and behind it.

The statements up to the call are the first stage, those behind it the second. The second stage of iteration i runs
behind the first stage and the start of iteration i + 1. What one stage hands to the other, and what is on its way, has
two copies, which take turns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hocket.rewrite.affine import Condition, constant, unknown
from hocket.rewrite.analysis import Analysis
from hocket.rewrite.blocks import Block, Item, line_barriers, statements_of
from hocket.rewrite.collector import Collector
from hocket.rewrite.coverage import is_covered
from hocket.rewrite.effects import Effects
from hocket.rewrite.mpi_arguments import BoundArguments
from hocket.rewrite.rows import rows_of
from hocket.rewrite.sets import Access, have_common_element
from hocket.rewrite.splitting import keeps_bounds, renamed, without
from hocket.rewrite.symbols import Procedure, Symbol
from hocket.rewrite.syntax import Node, child_of, identifiers, source_of, text_of, walk
from hocket.rewrite.values import control_of

#: What they give is written on every rank, whatever the message is.
_SURE = frozenset({"MPI_Allreduce", "MPI_Scan"})


@dataclass(frozen=True)
class Pipeline:
    """The loop `item` in two stages; `doubled` are the variables with two copies."""

    item: Item
    variable: str
    lower: str
    upper: str
    first: tuple[Item, ...]
    second: tuple[Item, ...]
    doubled: tuple[Symbol, ...]
    needs_value: bool

    def claims(self) -> list[tuple[str, str]]:
        line = self.item.line
        found = [
            (
                f"in the loop in line {line} the second stage of an iteration and the first one of the next do not "
                "depend on each other",
                "no common element in two iterations that follow each other (isl)",
            )
        ]
        if self.doubled:
            names = ", ".join(one.name for one in self.doubled)
            found.append(
                (
                    f"each iteration may have its own copy of {names}",
                    "it reads only elements that it has written before, whatever its number is (isl); only the loop "
                    "uses it",
                )
            )
        return found


def find_pipeline(bound: BoundArguments, block: Block, analysis: Analysis) -> Pipeline | None:
    """Of the loop around a blocking call; None if its stages depend on each other."""
    loop, procedure = block.owner, block.procedure
    facts = analysis.facts(procedure)
    if loop is None or loop.type != "do_loop" or block.parent is None or facts.has_jumps:
        return None
    if len(bound.procedure.starts) != 1 or bound.actual("status") is not None:
        return None  # a receive need not write all of its buffer
    control = _control(loop)
    if control is None:
        return None
    name, lower, upper = control
    outer, _ = analysis.items(block.parent)
    item = next(one for one in outer if one.node.id == loop.id)
    symbol = procedure.scope.variable(name)
    if item.effects.barriers or item.has_directive or item.annotation("keep"):
        return None
    if symbol.alias != symbol.key or symbol.type != "integer" or symbol.kind or symbol.is_array or symbol.is_dummy:
        return None
    own = f"{name}@{loop.start_byte}"
    statements = _statements(block, analysis, name, own, lower, upper)
    index = next((i for i, one in enumerate(statements) if one.node.id == bound.node.id), None)
    if index is None or any(one.effects.barriers or line_barriers(one, block) for one in statements):
        return None
    first, call, second = statements[:index], statements[index], statements[index + 1 :]
    if any(one.effects.mpi or one.has_directive for one in [*first, *second]) or not second:
        return None
    whole = Effects([access for one in statements for access in one.effects.accesses])
    if not keeps_bounds(symbol, (lower, upper), whole, procedure.scope):
        return None
    if any(one.is_write and one.symbol.key == symbol.key for one in whole.accesses):
        return None
    if not any(one.effects.has_work for one in [*first, *second]):
        return None
    private = analysis.private(block) & analysis.private(block.parent)
    # The first stage and the start overtake the second stage; the operation is still on its way then.
    conflicts = _conflicts([*second, call], [*first, call], own, private)
    doubled = list({id(one): one for one in conflicts}.values())
    sure = _sure_writes(bound, procedure, call, analysis, statements)
    steps: list[tuple[Item, list[Access] | None]] = [(one, None) for one in first]
    steps.append((call, sure))
    steps += [(one, None) for one in second]
    written = analysis.root_items(procedure)[1]
    place = Collector(procedure, analysis, facts, written).place  # of what keeps the value that it had on entry
    for symbol_of in doubled:
        if not _may_double(symbol_of, procedure, loop) or not is_covered(symbol_of, steps, own, place):
            return None
    low, high = source_of(lower), source_of(upper)
    if "&" in low + high:
        return None
    needs_value = symbol.key not in analysis.private(block.parent)
    return Pipeline(item, name, low, high, tuple(first), tuple(second), tuple(doubled), needs_value)


def _control(loop: Node) -> tuple[str, Node, Node] | None:
    """Variable and bounds of a loop without a step, a label or a name."""
    control = control_of(loop)
    if control is None or control[3] is not None or child_of(loop, "end_do_loop_statement") is None:
        return None
    return None if child_of(loop, "block_label_start_expression") is not None else control[:3]


def _statements(block: Block, analysis: Analysis, name: str, own: str, lower: Node, upper: Node) -> list[Item]:
    """Of the loop's body, with their effects in one iteration."""
    facts, statements = analysis.facts(block.procedure), statements_of(block)
    changed = analysis.items(block)[1]
    for one in statements:
        collector = Collector(block.procedure, analysis, facts, changed)
        collector.place = collector.place.inside(name, own, lower, upper, None)
        collector.statement(one.node, bool(one.annotation("pure")))
        one.effects = collector.effects
    return statements


def _conflicts(stays: Sequence[Item], moves: Sequence[Item], own: str, private: Collection[str]) -> list[Symbol]:
    """Variables for which an iteration of `stays` depends on the next iteration of `moves`."""
    is_next = [Condition(unknown(f"{own}'") - unknown(own) - constant(1), "=")]
    found = []
    for one in (access for item in stays for access in item.effects.accesses):
        for other in (access for item in moves for access in item.effects.accesses):
            if one.alias != other.alias or not (one.is_write or other.is_write):
                continue
            if one.alias in private and one.is_write and other.is_write:
                continue
            moved = without(renamed(other, own, f"{own}'"), f"{own}'")
            if have_common_element(without(one, own), moved, is_next):
                found.append(one.symbol)
    return found


def _sure_writes(
    bound: BoundArguments, procedure: Procedure, call: Item, analysis: Analysis, statements: Sequence[Item]
) -> list[Access]:
    """What the operation writes on every rank."""
    if bound.procedure.name not in _SURE:
        return []
    facts = analysis.facts(procedure)
    written = {alias for one in statements for alias in one.effects.written}
    place = Collector(procedure, analysis, facts, written).place
    scalars = [
        access for access in call.effects.accesses if access.is_write and not access.symbol.is_array
    ]  # of a count of one or more
    rows = rows_of(bound, procedure, place, written)
    if isinstance(rows, str) or place.affine(bound.actuals["count"]) is None:
        return scalars
    count = place.affine(bound.actuals["count"]) if not rows.units else None
    if count is None:
        return scalars
    sure = [one.rows(constant(1), count) for one in rows.buffers]
    return scalars + [
        Access(one.symbol, True, call.line, one.symbol.name, ranges)
        for one, ranges in zip(rows.buffers, sure, strict=True)
        if one.is_written
    ]


def _may_double(symbol: Symbol, procedure: Procedure, loop: Node) -> bool:
    """A local variable of known extents that only the loop uses."""
    if not procedure.has_alone(symbol):
        return False
    if symbol.attributes - {"asynchronous"} or symbol.is_derived or symbol.type in ("character", "", "class"):
        return False
    if symbol.is_array and any(upper is None for _, upper in symbol.bounds or ()):
        return False
    if procedure.scope.saves_all or symbol.name == procedure.result or symbol.conflict or symbol.is_coarray:
        return False
    if any(symbol.name in identifiers(one) for one in walk(procedure.node) if one.type == "namelist_statement"):
        return False
    inside = range(loop.start_byte, loop.end_byte)
    has_lower_bounds = any(lower is not None for lower, _ in symbol.bounds or ())
    for node in [*procedure.body, *(one.node for one in procedure.inner.values())]:
        for one in walk(node):
            if one.type != "identifier" or text_of(one) != symbol.name:
                continue
            parent = one.parent.type if one.parent is not None else ""
            if one.start_byte not in inside or parent in ("keyword_argument", "loop_control_expression"):
                return False
            if has_lower_bounds and _asks_for_bounds(one):
                return False
    return True


def _asks_for_bounds(name: Node) -> bool:
    """A copy is a section of an array, whose lower bounds are 1."""
    call = name.parent.parent if name.parent is not None and name.parent.type == "argument_list" else None
    return call is not None and text_of(call.children[0]) in ("lbound", "ubound")
