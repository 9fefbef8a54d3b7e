# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Fission of a loop: its statements that do not need a message become a loop of their own, which runs beside it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hocket.rewrite.affine import Condition, constant, unknown
from hocket.rewrite.analysis import Analysis
from hocket.rewrite.blocks import Block, Item, inner_blocks, line_barriers, statements_of
from hocket.rewrite.collector import Collector
from hocket.rewrite.dependences import conflict_of
from hocket.rewrite.effects import Effects
from hocket.rewrite.sets import have_common_element
from hocket.rewrite.splitting import keeps_bounds, needs_for_bounds, renamed, without
from hocket.rewrite.syntax import child_of
from hocket.rewrite.values import control_of


@dataclass(frozen=True)
class Fission:
    """Two loops in place of one, with the statements of its body in `early` and in `late`."""

    item: Item
    early: tuple[Item, ...]
    late: tuple[Item, ...]

    @property
    def claim(self) -> str:
        lines = ", ".join(f"line {one.line}" for one in self.early)
        return f"the statements in {lines} of the loop in line {self.item.line} do not need the message"

    @property
    def proof(self) -> str:
        return "no common element with the message in any iteration; none depends on a statement that stays (isl)"


def find_fission(
    item: Item, waited: Effects, analysis: Analysis, block: Block, private: Collection[str], changed: Collection[str]
) -> Fission | None:
    """None if the loop cannot be distributed, or nothing in it is independent."""
    control = control_of(item.node)
    inner = next(inner_blocks(block, item.node), None)
    if control is None or inner is None or child_of(item.node, "end_do_loop_statement") is None:
        return None
    if child_of(item.node, "block_label_start_expression") is not None or item.annotation("keep"):
        return None
    if needs_for_bounds(item.node, waited, block, analysis, private):
        return None
    name, lower, upper, step = control
    symbol = block.procedure.scope.variable(name)
    if symbol.alias != symbol.key or symbol.is_array:
        return None
    own = f"{name}@{item.node.start_byte}"
    statements = statements_of(inner)
    for one in statements:
        collector = Collector(block.procedure, analysis, analysis.facts(block.procedure), changed)
        collector.place = collector.place.inside(name, own, lower, upper, step)
        collector.statement(one.node, bool(one.annotation("pure")))
        one.effects = collector.effects
        if one.effects.barriers or one.effects.mpi or line_barriers(one, inner) or one.has_directive:
            return None
        if any(access.is_write and access.symbol.key == symbol.key for access in one.effects.accesses):
            return None
    if not all(keeps_bounds(symbol, (lower, upper, step), one.effects, block.procedure.scope) for one in statements):
        return None
    late = _late(statements, waited, own, analysis.private(inner) & set(private))
    early = [one for one in statements if one not in late]
    if not early or not _has_array(early):
        return None
    return Fission(item, tuple(early), tuple(late))


def _late(statements: list[Item], waited: Effects, own: str, private: Collection[str]) -> list[Item]:
    """Those that need the message, and those that depend on one of them."""
    late = [one for one in statements if conflict_of(waited, one.effects, private) is not None]
    while True:
        more = [
            one for one in statements if one not in late and any(_depends(one, other, own, private) for other in late)
        ]
        if not more:
            return [one for one in statements if one in late or one in more]
        late += more


def _depends(early: Item, late: Item, own: str, private: Collection[str]) -> bool:
    """Whether `early` would overtake an access of `late` that it conflicts with: of an earlier iteration, or of the
    same one if `late` stands before it."""
    same = late.line < early.line
    distance = unknown(own) - unknown(f"{own}'") - constant(0 if same else 1)
    for one in early.effects.accesses:
        for other in late.effects.accesses:
            if one.alias != other.alias or not (one.is_write or other.is_write):
                continue
            if one.alias in private and one.is_write and other.is_write:
                continue
            moved = without(renamed(other, own, f"{own}'"), f"{own}'")
            if have_common_element(without(one, own), moved, [Condition(distance)]):
                return True
    return False


def _has_array(statements: Sequence[Item]) -> bool:
    """Otherwise the loop would compute scalars for nobody."""
    return any(access.is_write and access.symbol.is_array for one in statements for access in one.effects.accesses)
