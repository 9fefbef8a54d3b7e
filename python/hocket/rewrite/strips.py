# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Strip-mined collectives [Nanri]: a message goes in parts, and a loop over it computes one part beside the next one.

The iterations of the loop keep their order. So the only thing to prove is which rows of the message an iteration
touches: with the largest row i + d, the iterations up to h - d can run as soon as the rows up to h are complete.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hocket.rewrite.affine import Affine, Condition, constant, unknown
from hocket.rewrite.blocks import Item
from hocket.rewrite.dependences import conflict_of
from hocket.rewrite.effects import Effects
from hocket.rewrite.mpi_arguments import BoundArguments
from hocket.rewrite.part_counts import num_parts
from hocket.rewrite.rows import Rows, rows_of
from hocket.rewrite.sets import Access, Range, have_common_element
from hocket.rewrite.splitting import Loop, Splitter, without
from hocket.rewrite.values import Place
from hocket.rewrite.windows import nest_depth

#: The unknown for the last row of the parts that are complete.
_COMPLETE = "(complete rows)"


@dataclass(frozen=True)
class StripLoop:
    """A loop that runs in parts: the iterations up to h - `distance` belong to the rows up to h."""

    item: Item
    loop: Loop
    distance: str  # as text; empty: 0
    needs_value: bool


@dataclass(frozen=True)
class Strip:
    """A collective in parts. `between` stand before or behind it, and touch nothing of the message."""

    rows: Rows
    above: StripLoop | None
    between_above: tuple[Item, ...]
    between_below: tuple[Item, ...]
    below: StripLoop | None

    @property
    def depth(self) -> int:
        return max(nest_depth(one.item.node) for one in (self.above, self.below) if one is not None)

    def claims(self) -> list[tuple[str, str]]:
        found = [
            (
                "all ranks cut the message in the same parts",
                "count and datatype are the same on all ranks, which run the same call (MPI 4.1, 6.1)",
            )
        ]
        for one, what in ((self.above, "makes"), (self.below, "needs")):
            if one is not None:
                shift = f" {one.distance}" if one.distance.startswith("-") else f" + {one.distance}"
                row = f"{one.loop.name}{shift}" if one.distance else one.loop.name
                line = one.item.line
                if what == "needs":
                    claim = f"iteration {one.loop.name} of the loop in line {line} touches no row behind {row}"
                else:
                    claim = f"iteration {one.loop.name} of the loop in line {line} touches no row before {row}"
                found.append(
                    (claim, "no common element for any number of complete rows (isl); iterations stay in order")
                )
        return found


def find_strip(
    items: list[Item],
    index: int,
    bound: BoundArguments,
    started: Effects,
    waited: Effects,
    place: Place,
    splitter: Splitter,
    written: set[str],
    part_bytes: int,
) -> Strip | str:
    """Of the call `items[index]`; why there is none, as text."""
    rows = rows_of(bound, splitter.block.procedure, place, written)
    if isinstance(rows, str):
        return rows
    above, before = _loop_beside(items[:index][::-1], started, rows, splitter, is_above=True)
    # Without a loop above, the later parts start in the loop below.
    ends = waited if above is not None else Effects([*started.accesses, *waited.accesses])
    below, after = _loop_beside(items[index + 1 :], ends, rows, splitter, is_above=False)
    if above is None and below is None:
        return "no loop beside the call goes through the message in its order"
    if rows.size_bytes is not None and num_parts(rows.size_bytes, part_bytes, above is not None) < 2:
        return "the message is too short for parts"
    if below is None:
        after = ()
    if above is None:
        before = ()
    return Strip(rows, above, tuple(before[::-1]), tuple(after), below)


def _loop_beside(
    items: list[Item], message: Effects, rows: Rows, splitter: Splitter, is_above: bool
) -> tuple[StripLoop | None, tuple[Item, ...]]:
    """The next loop that touches the message, and what stands before it."""
    between: list[Item] = []
    for item in items:
        if item.effects.barriers or item.effects.mpi or item.has_directive:
            break
        if conflict_of(message, item.effects, splitter.private) is None:
            between.append(item)
            continue
        found = _strip_loop(item, message, rows, splitter, is_above)
        return found, tuple(between) if found is not None else ()
    return None, ()


def _strip_loop(item: Item, message: Effects, rows: Rows, splitter: Splitter, is_above: bool) -> StripLoop | None:
    if item.node.type != "do_loop" or item.annotation("keep"):
        return None
    loop = splitter.loop(item.node)
    if loop is None:
        return None
    aliases = {one.symbol.alias for one in rows.buffers}
    if any(one.alias not in aliases and _meet(one, loop.body) for one in message.accesses):
        return None
    complete = unknown(_COMPLETE)
    limits = (None, complete) if is_above else (complete + constant(1), None)
    parts = [
        Access(one.symbol, is_write, item.line, one.symbol.name, one.rows(*limits))
        for one in rows.buffers
        for is_write in ([False, True] if one.is_written else [False])
    ]
    at = unknown(loop.own)
    for distance in _distances(loop, rows, is_above):
        text = "" if distance.number() == 0 else splitter.as_text(distance)
        if text is None:
            continue
        # Above the call: the iterations behind h - distance do not touch the rows up to h.
        edge = at - complete + distance
        here = [Condition(edge - constant(1) if is_above else edge * -1)]
        if not any(_touches(one, parts, loop, here) for one in loop.body.accesses):
            return StripLoop(item, loop, text, loop.symbol.key not in splitter.private)
    return None


def _touches(access: Access, parts: Iterable[Access], loop: Loop, here: list[Condition]) -> bool:
    return any(
        (access.is_write or part.is_write)
        and access.alias == part.alias
        and have_common_element(without(access, loop.own), part, here)
        for part in parts
    )


def _meet(access: Access, body: Effects) -> bool:
    return any(
        one.alias == access.alias and (one.is_write or access.is_write) and have_common_element(one, access)
        for one in body.accesses
    )


def _distances(loop: Loop, rows: Rows, is_above: bool) -> list[Affine]:
    """Of the rows that an iteration touches from its own number, those with most overlap first."""
    found: list[Affine] = []
    for buffer in rows.buffers:
        for access in loop.body.accesses:
            if access.symbol is not buffer.symbol or access.subscripts is None:
                continue
            edge: Range = access.subscripts[buffer.dimension]
            bound = edge.lower if is_above else edge.upper
            if bound is None or dict(bound.terms).get(loop.own) != 1:
                continue
            distance = bound - unknown(loop.own) - buffer.first + constant(1)
            if not distance.unknowns() & {loop.own, *access.loops} and distance not in found:
                found.append(distance)
    return sorted(found, key=lambda one: -one.constant if is_above else one.constant)
