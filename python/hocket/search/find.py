# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Chooses order, algorithm and chunks of one collective by simulation."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hocket.errors import InvalidInput
from hocket.search.families import Family, families_of
from hocket.search.formulas import best_chunks
from hocket.search.found import Found
from hocket.search.orders import OrderFound, orders_for, slowest_first

if TYPE_CHECKING:
    from hocket import CostModel, Network, Schedule

# A simulation of more messages takes seconds.
MAX_MESSAGES = 100_000
# No chunk is made smaller: what costs a message beside its wire time is never known so well.
MIN_CHUNK_BYTES = 512
# By what share a finer cut must be faster to be taken.
_WORTH = 0.002
# How many of the (algorithm, order) pairs get their chunks tuned, after one simulation of each.
_REFINED = 2
# Orders of scatter and gather that are tried by moving ranks.
MAX_REORDERINGS = 300
# Of those within this factor of the best.
_HOPEFUL = 1.5


def find(
    collective: str,
    network: Network,
    size_bytes: int,
    members: Sequence[int] | None = None,
    root: int = 0,
    costs: CostModel | None = None,
    chunks: int | None = None,
    max_chunk_bytes: int | None = None,
    algorithms: Sequence[str] | None = None,
    seed: int = 1,
) -> Found:
    """The schedule predicted to be fastest.

    `members`: the communicator's network ranks in order, all by default; `root` and orders are positions in it.
    `size_bytes` as in `lower`. `costs`: of messages, `CostModel.usual()` if None. `chunks`:
    how fine to cut, if given; else chosen, with no chunk above `max_chunk_bytes`. `algorithms`: names of families to
    choose from.
    """
    from hocket import CostModel, wire_limit_s

    began = time.perf_counter()
    members = list(range(network.num_ranks) if members is None else members)
    costs = costs or CostModel.usual()
    # Refuses wrong members and sizes.
    lower_bound_s = wire_limit_s(collective, network, members, size_bytes, root, costs.burst_bytes, costs.burst_s)
    families = families_of(collective, network, members, root, seed)
    if algorithms is not None:
        known = [family.name for family in families]
        families = [family for family in families if family.name in algorithms]
        if not families:
            raise InvalidInput(f"no algorithm of {collective} is named {', '.join(algorithms)}", f"known: {known}")
    if chunks is not None and chunks > 1:
        families = [family for family in families if family.pipelines]
        if not families:
            raise InvalidInput(f"no schedule of {collective} sends blocks in chunks", "leave out the number of chunks")
    search = _Search(collective, network, size_bytes, members, root, costs, chunks, max_chunk_bytes, seed)
    best = search.best_of(families)
    return Found(
        collective=collective,
        schedule=best.family.build(best.order.order, best.chunks),
        predicted_s=best.time_s,
        lower_bound_s=lower_bound_s,
        chunks=best.chunks,
        order=best.order.order,
        search_s=time.perf_counter() - began,
        how=best.text,
        tried=search.tried,
    )


@dataclass(frozen=True)
class _Attempt:
    time_s: float
    chunks: int
    family: Family
    order: OrderFound

    @property
    def text(self) -> str:
        cut = f" in {self.chunks} chunks" if self.chunks > 1 else ""
        order = f", {self.order.how}" if self.family.walk else ""
        return f"{self.family.name}{cut}{order}"


@dataclass
class _Search:
    collective: str
    network: Network
    size_bytes: int
    members: list[int]
    root: int
    costs: CostModel
    chunks: int | None
    max_chunk_bytes: int | None
    seed: int
    tried: int = 0
    known_orders: dict[str, list[OrderFound]] = field(default_factory=dict)
    known_messages: dict[str, int] = field(default_factory=dict)

    def best_of(self, families: Sequence[Family]) -> _Attempt:
        first = self.first_attempts(families)
        hopeful = [
            attempt for attempt in first if attempt.time_s <= _HOPEFUL * first[0].time_s and self.can_cut(attempt)
        ]
        refined = [self.refined(attempt) for attempt in hopeful[:_REFINED]]
        best = min([*refined, *first], key=_by_time)
        return self.reordered(best) if self.collective in ("scatter", "gather") else best

    def first_attempts(self, families: Sequence[Family]) -> list[_Attempt]:
        """One of each family and order, the fastest first; what is not hopeful is not simulated to the end."""
        pairs = [(family, order) for family in families for order in self.orders(family)]
        found: dict[int, _Attempt] = {}
        limit_s = float("inf")
        # Few messages are simulated soon, and limit what many may take.
        for number in sorted(range(len(pairs)), key=lambda number: self.messages(pairs[number][0])):
            family, order = pairs[number]
            found[number] = self.attempt(family, order, self.first_chunks(family), limit_s)
            limit_s = min(limit_s, _HOPEFUL * found[number].time_s)
        return sorted((found[number] for number in range(len(pairs))), key=_by_time)

    def orders(self, family: Family) -> list[OrderFound]:
        if family.walk is None:
            return [OrderFound(family.order, "depth first")]
        if family.walk not in self.known_orders:
            self.known_orders[family.walk] = orders_for(self.network, self.members, self.root, family.walk, self.seed)
        orders = self.known_orders[family.walk]
        orders = orders[: max(1, MAX_MESSAGES // 8 // self.messages(family))]
        if self.collective in ("scatter", "gather"):
            orders = [slowest_first(self.network, self.members, self.root, self.size_bytes), *orders]
        return list({order.order: order for order in reversed(orders)}.values())[::-1]

    def attempt(self, family: Family, order: OrderFound, chunks: int, limit_s: float) -> _Attempt:
        self.tried += 1
        return _Attempt(self.time_s(family.build(order.order, chunks), limit_s), chunks, family, order)

    def time_s(self, schedule: Schedule, limit_s: float) -> float:
        """By simulation; where it is above the limit, it may be infinite."""
        from hocket import lower, simulate
        from hocket._core import place

        def goes_on(done: int, total: int, simulated_s: float) -> bool:
            return simulated_s <= limit_s

        program = place(lower(schedule, self.size_bytes), self.members, self.network.num_ranks)
        timeline = simulate(program, self.network, self.costs, on_progress=goes_on)
        return timeline.makespan_s if timeline.completed else float("inf")

    def first_chunks(self, family: Family) -> int:
        least, most = self.limits(family)
        if least == most:
            return least
        wire_s, latency_s = self.hop()
        guess = best_chunks(wire_s / family.cuts, len(self.members), latency_s, most)
        return min(max(guess, least), most)

    def limits(self, family: Family) -> tuple[int, int]:
        """Fewest and most chunks to consider."""
        if not family.pipelines:
            return 1, 1
        if self.chunks is not None:
            return self.chunks, self.chunks
        block = max(1, self.size_bytes // family.cuts)
        most = max(1, min(block // MIN_CHUNK_BYTES, MAX_MESSAGES // self.messages(family)))
        least = 1 if self.max_chunk_bytes is None else -(-block // self.max_chunk_bytes)
        return min(least, most), most

    def eager_chunks(self, family: Family) -> int:
        """So many that none waits for its receiver, where a message is one of them."""
        block = -(-self.size_bytes // family.cuts)
        return -(-block // max(1, self.costs.rendezvous_limit_bytes - 1))

    def messages(self, family: Family) -> int:
        """In one piece."""
        if family.name not in self.known_messages:
            schedule = family.build(family.order, 1)
            ops = (op for rank in range(schedule.num_ranks) for op in schedule.ops(rank))
            self.known_messages[family.name] = max(1, sum(op.kind == "send" for op in ops))
        return self.known_messages[family.name]

    def hop(self) -> tuple[float, float]:
        """Time of the whole message on a typical way between neighbours, and the latency of a message there."""
        links = self.network.links
        route = [links[link] for link in self.network.route(self.members[0], self.members[-1])]
        slowest = min((link.bandwidth_bytes_per_s for link in route), default=float("inf"))
        latency_s = sum(link.latency_s for link in route)
        return self.size_bytes / slowest, latency_s + self.costs.send_overhead_s + self.costs.receive_overhead_s

    def can_cut(self, attempt: _Attempt) -> bool:
        least, most = self.limits(attempt.family)
        return least < most

    def refined(self, start: _Attempt) -> _Attempt:
        """Climbs to better numbers of chunks, in steps that shrink; more chunks must be worth their messages."""
        least, most = self.limits(start.family)
        best = start
        seen = {start.chunks}  # none twice, so that it ends
        eager = self.eager_chunks(start.family)
        if max(least, start.chunks + 1) <= eager <= most:  # a step in the time, which climbing would not get over
            seen.add(eager)
            other = self.attempt(start.family, start.order, eager, best.time_s)
            best = other if other.time_s < best.time_s * (1 - _WORTH) else best
        for factor in (4.0, 2.0, 2**0.5):
            moved = True
            while moved:
                moved = False
                for chunks in (round(best.chunks / factor), round(best.chunks * factor)):
                    chunks = min(max(chunks, least), most)
                    if chunks in seen:
                        continue
                    seen.add(chunks)
                    other = self.attempt(start.family, start.order, chunks, best.time_s)
                    worth = _WORTH if chunks > best.chunks else -_WORTH
                    if other.time_s < best.time_s * (1 - worth):
                        best, moved = other, True
                        break
        return best

    def reordered(self, best: _Attempt) -> _Attempt:
        """Moves one rank at a time to another place in the order, as long as that is faster."""
        places = range(1, len(self.members))
        left = min(MAX_REORDERINGS, MAX_MESSAGES // self.messages(best.family))
        moved = True
        while moved:
            moved = False
            for old, new in itertools.permutations(places, 2):
                if left == 0:
                    return best
                left -= 1
                order = list(best.order.order)
                order.insert(new, order.pop(old))
                other = self.attempt(
                    best.family, OrderFound(tuple(order), "order by local search"), best.chunks, best.time_s
                )
                if other.time_s < best.time_s * (1 - 1e-9):
                    best, moved = other, True
        return best


def _by_time(attempt: _Attempt) -> tuple[float, int]:
    return attempt.time_s, attempt.chunks
