# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Finds for a blocking call how far its start can go up and its wait can go down, and what runs between them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from hocket.rewrite.blocks import Item
from hocket.rewrite.dependences import Conflict, Proofs, conflict_of, first_conflict
from hocket.rewrite.effects import Effects
from hocket.rewrite.fission import Fission, find_fission
from hocket.rewrite.splitting import Split, Splitter
from hocket.rewrite.syntax import Node, walk

Parts = Split | Fission


@dataclass(frozen=True)
class Stop:
    """What ends a window on one side."""

    code: str  # "dependence", "end", or that of a barrier
    reason: str
    hint: str = ""
    lines: range = range(0)  # of the statement with a call of MPI


@dataclass
class Window:
    """The statements around a call, in their new order: before, start, inside, wait, after."""

    before: list[Item | Parts] = field(default_factory=list)
    inside_above: list[Item | Parts] = field(default_factory=list)
    inside_below: list[Item | Parts] = field(default_factory=list)
    after: list[Item | Parts] = field(default_factory=list)
    above: Stop = Stop("end", "the statements begin here")
    below: Stop = Stop("end", "the statements end here")
    proofs: Proofs = field(default_factory=Proofs)

    @property
    def has_work(self) -> bool:
        return any(not isinstance(one, Item) or one.effects.has_work for one in self.inside)

    @property
    def depth(self) -> int:
        """Of the deepest nest of loops inside, as a first guess of the work: 0 where there is none."""
        return max((_depth_of(one) for one in self.inside), default=0) if self.has_work else 0

    @property
    def inside(self) -> list[Item | Parts]:
        return [*self.inside_above, *self.inside_below]


def _depth_of(one: Item | Parts) -> int:
    if isinstance(one, Fission):
        return 1 + max(map(_depth_of, one.early))
    if isinstance(one, Split):
        return nest_depth(one.item.node)
    # An array operation is a loop; a call of a procedure may be anything.
    has_call = any(node.type == "subroutine_call" for node in walk(one.node))
    return max(nest_depth(one.node), int(one.effects.has_work)) + has_call


def nest_depth(node: Node) -> int:
    """How many loops are in each other."""
    inside = max(map(nest_depth, node.children), default=0) if node.type in _WITH_LOOPS else 0
    return inside + (node.type == "do_loop")


_WITH_LOOPS = frozenset(
    "do_loop if_statement elseif_clause else_clause select_case_statement case_statement block_construct".split()
)


def find_window(
    items: list[Item],
    index: int,
    started: Effects,
    waited: Effects,
    private: Collection[str],
    splitter: Splitter,
    first: int = 0,
) -> Window:
    """`started` and `waited` are the effects of the non-blocking call and of the wait for it.

    The start goes up to the statement `first` at most.
    """
    window = Window()
    _look_up(window, items[first:index], started, private, None)
    _look_down(window, items[index + 1 :], waited, private, splitter)
    if not window.has_work:  # loops before the call are split only if nothing else can be done
        again = Window(inside_below=window.inside_below, after=window.after, below=window.below, proofs=window.proofs)
        _look_up(again, items[first:index], started, private, splitter)
        return again
    return window


def find_window_below(items: list[Item], waited: Effects, private: Collection[str], splitter: Splitter) -> Window:
    """For a call in a branch, whose wait goes behind the branch: `items` are the statements there."""
    window = Window()
    _look_down(window, items, waited, private, splitter)
    return window


def _look_up(
    window: Window, items: list[Item], started: Effects, private: Collection[str], splitter: Splitter | None
) -> None:
    """Statements that the call does not need run behind its start; those in `before` stay before it."""
    for item in reversed(items):
        stop = _barrier_of(item) or _mpi_above(item)
        if stop is not None:
            window.above = stop
            break
        found = conflict_of(item.effects, started, private, window.proofs)
        stays = [item_of(one).effects for one in window.before]
        crossed = first_conflict(item.effects, stays, private, window.proofs)
        if found is not None and window.above.code == "end":
            window.above = _dependence(found)
        if found is None and crossed is None and (item.effects.has_work or not window.before):
            window.inside_above.insert(0, item)
            continue
        split = None
        if found is not None and crossed is None and splitter is not None and not item.has_directive:
            split = splitter.split(item, started, is_above=True)
        if split is not None:
            window.inside_above.insert(0, split)
        window.before.insert(0, item if split is None else split)
    # What stays before everything that moves is not touched.
    first = min((item_of(one).line for one in window.inside_above), default=None)
    while window.before and (first is None or item_of(window.before[0]).line < first):
        window.before.pop(0)


def item_of(one: Item | Parts) -> Item:
    return one if isinstance(one, Item) else one.item


def _mpi_above(item: Item) -> Stop | None:
    if not item.effects.mpi:
        return None
    return Stop("order", f"line {item.line}: {item.effects.mpi[0].name}: calls of MPI keep their order")


def _barrier_of(item: Item) -> Stop | None:
    if not item.effects.barriers:
        return None
    first = item.effects.barriers[0]
    return Stop(first.code, str(first), first.hint)


def _dependence(found: Conflict) -> Stop:
    return Stop("dependence", str(found))


def _look_down(
    window: Window, items: list[Item], waited: Effects, private: Collection[str], splitter: Splitter
) -> None:
    delayed: list[Effects] = []
    # What others send later may reach a third rank before what this one sends without having received.
    keeps_order = bool(waited.written) and splitter.sees_order
    for item in items:
        stop = _barrier_of(item) or _mpi_below(item, bool(delayed) or keeps_order)
        if stop is not None:
            window.below = stop if window.below.code == "end" else window.below
            break
        independent = item.annotation("independent")
        found = None if independent else conflict_of(waited, item.effects, private, window.proofs)
        blocking = first_conflict(item.effects, delayed, private, window.proofs)
        if found is None and blocking is None and (item.effects.has_work or not delayed):
            window.inside_below.append(item)
            continue
        if window.below.code == "end" and found is not None:
            window.below = _dependence(found)
        if blocking is None and not item.has_directive:
            parts: Parts | None = splitter.split(item, waited)
            if parts is None and not independent:
                parts = find_fission(
                    item, waited, splitter.analysis, splitter.block, splitter.private, splitter.changed
                )
            if parts is not None:
                window.inside_below.append(parts)
                window.after.append(parts)
                delayed.append(item.effects)
                continue
        delayed.append(item.effects)
        window.after.append(item)
    last = max((i for i, one in enumerate(window.after) if _is_moved(window, one)), default=-1)
    del window.after[last + 1 :]


def _is_moved(window: Window, item: Item | Parts) -> bool:
    """Whether something behind it goes before it, or it is in both parts."""
    return not isinstance(item, Item) or any(item_of(one).line > item.line for one in window.inside_below)


def _mpi_below(item: Item, has_delayed: bool) -> Stop | None:
    uses = item.effects.mpi
    if not uses:
        return None
    if has_delayed or any(use.role not in ("start", "wait") for use in uses):
        reason = f"line {item.line}: {uses[0].name}: calls of MPI keep their order"
        return Stop("order", reason, lines=range(item.line, item.last_line + 2))
    return None
