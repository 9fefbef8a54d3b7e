# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The schedules to choose from for one collective: family, rank order, number of segments."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hocket.errors import InvalidInput
from hocket.plan import PlanEntry
from hocket.search.families import Family, one_segment_families, searched_families, sparing_families, textbook_families
from hocket.search.formulas import best_segments
from hocket.search.limits import Limits
from hocket.search.orders import OrderFound, orders_for, slowest_first
from hocket.search.predict import MOST_SIMULATED, Call

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hocket import CostModel, Network, Schedule


@dataclass(frozen=True)
class Candidate:
    family: Family
    order: tuple[int, ...]
    segments: int = 1
    segment_bytes: int | None = None  # at most so many give these segments, of an algorithm with a name that pipelines
    ordered_how: str = field(default="", compare=False)

    @property
    def algorithm(self) -> str:
        return self.family.name

    @property
    def is_carried(self) -> bool:
        """No algorithm with a name gives it: a plan carries it whole, for one root."""
        return self.family.algorithm is None

    @property
    def label(self) -> str:
        return self.algorithm + (f" in {self.segments} segments" if self.segments > 1 else "")

    @property
    def how(self) -> str:
        if self.family.starts:
            behind = "slow links" if self.family.name == "uneven_ring" else "other nodes"
            return f"{self.label}, spares {len(self.family.starts)} {behind}"
        return self.label + (f", {self.ordered_how}" if self.family.walk and self.ordered_how else "")

    def at(self, size_bytes: int) -> Candidate:
        """For messages of another size: segments keep their bytes; a schedule that is carried whole stays as it is."""
        if self.segment_bytes is None:
            return self
        return replace(self, segments=self.family.segments_of(size_bytes, self.segment_bytes))

    def schedule(self, root: int) -> Schedule:
        return self.family.build(self.order, self.segments, root)

    def num_messages(self, root: int) -> int:
        return self.segments * _messages_of_a_segment(self.family, self.order, root)

    def entry(self, call: Call) -> PlanEntry | None:
        if self.is_carried:
            return None
        size = call.size_bytes
        segments = 1 if self.segment_bytes else self.segments
        return PlanEntry(
            call.collective, call.members, size, size, self.algorithm, segments,
            segment_bytes=self.segment_bytes, order=self.order, starts=self.family.starts,
        )  # fmt: skip


class Candidates:
    """For calls of any size of one collective on one communicator; what does not depend on the size is kept."""

    def __init__(
        self,
        network: Network,
        costs: CostModel,
        collective: str,
        members: Sequence[int],
        roots: Sequence[int] = (0,),
        limits: Limits | None = None,
        seed: int = 1,
    ) -> None:
        """`roots`: that each schedule must serve. With several, all are of algorithms with a name."""
        self.network = network
        self.costs = costs
        self.collective = collective
        self.members = list(members)
        self.limits = limits or Limits()
        self.seed = seed
        self.root = roots[0]
        self._is_for_one = len(roots) == 1 and self.limits.carried_messages != 0
        self._orders: dict[str, list[OrderFound]] = {}
        self._messages: dict[str, int] = {}
        families = textbook_families(collective, network, members, self.root)
        if len(members) <= MOST_SIMULATED or self.limits.families is not None:
            families += sparing_families(collective, network, members, self.root)
            if self._is_for_one:
                families += searched_families(collective, network, members, self.root, seed)
        self.families = self._allowed(families)

    def _allowed(self, families: list[Family]) -> list[Family]:
        names, segments = self.limits.families, self.limits.segments
        if names is not None:
            known = [family.name for family in families]
            families = [family for family in families if family.name in names]
            if not families:
                raise InvalidInput(
                    f"no algorithm of {self.collective} is named {', '.join(names)}", f"known: {', '.join(known)}"
                )
        if segments is not None and segments > 1:
            families = [family for family in families if family.pipelines]
            if not families:
                raise InvalidInput(
                    f"no schedule of {self.collective} sends blocks in segments", "leave out the number of segments"
                )
        return families

    def starts(self, size_bytes: int) -> list[Candidate]:
        """Of each family and order that of the segments that the formula gives, and that of the fewest: the formula is
        for chains, and elsewhere may be so far off that the family would seem hopeless."""
        families = list(self.families)
        if self._is_for_one and self.limits.one_segment_s > 0 and self.limits.segments in (None, 1):
            families += one_segment_families(
                self.collective, self.network, size_bytes, self.root, self.members, self.limits.one_segment_s
            )
        found = []
        for family in families:
            counts = self.counts(family, size_bytes)
            if counts:
                guess = nearest(counts, self._guess(family, size_bytes, counts[-1]))
                tried = sorted({counts[0], guess})
                orders = self._orders_of(family, size_bytes)
                found += [self._candidate(family, order, count, size_bytes) for order in orders for count in tried]
        if self.limits.waiting_exchanges:
            return found
        return without_waiting_exchanges(found, self.root, size_bytes, self.costs.rendezvous_limit_bytes)

    def counts(self, family: Family, size_bytes: int) -> Sequence[int]:
        """The numbers of segments to choose from, in increasing order."""
        limits, messages = self.limits, self.messages(family)
        most = max(1, limits.messages // messages)
        if family.algorithm is None and limits.carried_messages is not None:
            most = min(most, limits.carried_messages // messages)
        if not family.pipelines:
            return range(1, min(most, 1) + 1)
        if limits.segments is not None:
            return (limits.segments,)
        if limits.segment_bytes:
            every = sorted({family.segments_of(size_bytes, size) for size in limits.segment_bytes})
            fewest = every[:1] if family.algorithm and every[0] * len(self.members) <= limits.messages else []
            return [count for count in every if count <= most] or fewest
        block = max(1, size_bytes // family.parts)
        most = min(max(1, block // limits.least_segment_bytes), most)
        least = 1 if limits.most_segment_bytes is None else -(-block // limits.most_segment_bytes)
        return range(min(least, most), most + 1)

    def with_segments(self, candidate: Candidate, count: int, size_bytes: int) -> Candidate:
        order = OrderFound(candidate.order, candidate.ordered_how)
        return self._candidate(candidate.family, order, count, size_bytes)

    def eager_segments(self, family: Family, size_bytes: int) -> int:
        """So many that none waits for its receiver, where a message is one of them."""
        return family.segments_of(size_bytes, max(1, self.costs.rendezvous_limit_bytes - 1))

    def messages(self, family: Family) -> int:
        """In one segment."""
        if family.name not in self._messages:
            self._messages[family.name] = max(1, _messages_of_a_segment(family, family.order, self.root))
        return self._messages[family.name]

    def _candidate(self, family: Family, order: OrderFound, count: int, size_bytes: int) -> Candidate:
        segment = None
        if family.algorithm is not None and family.pipelines:
            sizes = [size for size in self.limits.segment_bytes if family.segments_of(size_bytes, size) == count]
            segment = max(sizes, default=None)
        return Candidate(family, order.order, count, segment, order.how)

    def _orders_of(self, family: Family, size_bytes: int) -> list[OrderFound]:
        if family.walk is None:
            return [OrderFound(family.order, "depth first")]
        walk, first = (family.walk, self.root) if self._is_for_one else ("ring", 0)
        if walk not in self._orders:
            self._orders[walk] = orders_for(self.network, self.members, first, walk, self.seed)
        orders = self._orders[walk][: max(1, self.limits.messages // 8 // self.messages(family))]
        if self._is_for_one and self.collective in ("scatter", "gather"):
            orders = [slowest_first(self.network, self.members, self.root, size_bytes), *orders]
        return list({order.order: order for order in reversed(orders)}.values())[::-1]

    def _guess(self, family: Family, size_bytes: int, most: int) -> int:
        """The best number of segments of a chain over a typical way between neighbours."""
        links = self.network.links
        route = [links[link] for link in self.network.route(self.members[0], self.members[-1])]
        slowest = min((link.bandwidth_bytes_per_s for link in route), default=float("inf"))
        latency_s = sum(link.latency_s for link in route) + self.costs.send_overhead_s + self.costs.receive_overhead_s
        return best_segments(size_bytes / slowest / family.parts, len(self.members), latency_s, most)


def nearest(counts: Sequence[int], target: float) -> int:
    """Of counts in increasing order."""
    above = bisect_left(counts, target)
    return min(counts[max(0, above - 1) : above + 1], key=lambda count: abs(count - target))


def without_waiting_exchanges(
    found: Iterable[Candidate], root: int, size_bytes: int, rendezvous_bytes: int
) -> list[Candidate]:
    """Those in which no two ranks send each other messages that wait for their receiver, unless all do.

    Its answer queues behind the bytes that go the opposite way: the two messages go one after another, which the
    simulation knows in part. Measured on a star of 200 Mbit/s: recursive doubling of 1 MB takes 70 ms with Open MPI,
    where its messages are above the limit, and 38 ms where the limit is raised.
    """
    found = list(found)
    known: dict[int, bool] = {}  # of a family: all orders are alike, and the segments of one that pipelines are small

    def waits(one: Candidate) -> bool:
        if one.family.pipelines:
            return False
        if id(one.family) not in known:
            known[id(one.family)] = _exchanges(one.schedule(root), size_bytes, rendezvous_bytes)
        return known[id(one.family)]

    return [one for one in found if not waits(one)] or found


def _exchanges(schedule: Schedule, size_bytes: int, rendezvous_bytes: int) -> bool:
    from hocket import lower

    program = lower(schedule, size_bytes)
    for rank in range(program.num_ranks):
        large = [op for op in program.ops(rank) if op.bytes >= rendezvous_bytes]
        sends = {op.peer for op in large if op.kind == "send"}
        if any(op.kind == "recv" and op.peer in sends for op in large):
            return True
    return False


def _messages_of_a_segment(family: Family, order: tuple[int, ...], root: int) -> int:
    schedule = family.build(order, 1, root)
    return sum(op.kind == "send" for rank in range(schedule.num_ranks) for op in schedule.ops(rank))
