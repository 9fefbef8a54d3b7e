# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The kinds of schedules that the search chooses from: textbook algorithms, phases on trees, several orders at once,
and optimal ones in one segment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from hocket.errors import InvalidInput
from hocket.plan import ROOTED
from hocket.search.optimal import optimal_in_one_segment
from hocket.search.orders import orders_at_once

if TYPE_CHECKING:
    from hocket import Algorithm, Network, Schedule

# Of more ranks there are millions of messages.
MOST_PHASED = 256
# What runs along several orders at once where hosts have several links.
AT_ONCE = {
    "bcast": "pipelined_chain",
    "reduce": "pipelined_chain",
    "allreduce": "ring",
    "allgather": "ring",
    "reduce_scatter_block": "ring",
}
MOST_AT_ONCE = 512  # ranks; the orders of more take minutes


@dataclass(frozen=True)
class Family:
    name: str
    # From an order, a number of segments and a root; what is not of the textbook is for one root, with which the order
    # begins.
    build: Callable[[tuple[int, ...], int, int], Schedule] = field(compare=False)
    walk: str | None  # who sends to whom in the order, or None where the order does not matter
    pipelines: bool
    parts: int  # that the algorithm itself divides a message into
    order: tuple[int, ...]  # a good one: depth first
    starts: tuple[int, ...] = ()  # of stretches of that order, for algorithms that have them
    # That with a name, which serves any root; None: a plan carries the schedule whole.
    algorithm: Algorithm | None = field(default=None, compare=False)

    def segments_of(self, size_bytes: int, segment_bytes: int) -> int:
        """So many segments of a message, or of a part of it, have no more bytes than that."""
        if self.algorithm is not None:
            return self.algorithm.segments_of_size(len(self.order), size_bytes, segment_bytes, self.starts)
        return max(1, -(-size_bytes // (self.parts * segment_bytes)))


def textbook_families(collective: str, network: Network, members: Sequence[int], root: int = 0) -> list[Family]:
    from hocket import algorithms
    from hocket._core import depth_first_order

    order = tuple(depth_first_order(network, list(members), root))
    of_collective = [algorithm for algorithm in algorithms() if algorithm.collective == collective]
    textbook = [algorithm for algorithm in of_collective if not algorithm.has_starts]
    found = [family for algorithm in textbook if (family := family_if_possible(algorithm, order)) is not None]
    if not of_collective:
        names = ", ".join(dict.fromkeys(algorithm.collective for algorithm in algorithms()))
        raise InvalidInput(f"unknown collective {collective!r}", f"accepted: {names}")
    return found


def sparing_families(collective: str, network: Network, members: Sequence[int], root: int = 0) -> list[Family]:
    """Of algorithms that send less over slow links, where some ways between neighbours are slower than others; and of
    those that gather what leaves a node, where some are longer."""
    from hocket import algorithms
    from hocket._core import behind_longer_routes, behind_slow_links, depth_first_order

    of_collective = [one for one in algorithms() if one.collective == collective and one.has_starts]
    if not of_collective:
        return []
    order = tuple(depth_first_order(network, list(members), root))
    found = [tuple(behind_slow_links(network, list(members), list(order)))]
    if collective == "alltoall":
        found.append(tuple(behind_longer_routes(network, list(members), list(order))))
    return [
        family
        for starts in dict.fromkeys(found)
        for one in of_collective
        if starts and (family := family_if_possible(one, order, starts)) is not None
    ]


def family_if_possible(
    algorithm: Algorithm, depth_first: tuple[int, ...], starts: tuple[int, ...] = ()
) -> Family | None:
    """None where it comes to too many chunks."""
    try:
        return named_family(algorithm, depth_first, starts)
    except InvalidInput:
        return None


def searched_families(
    collective: str, network: Network, members: Sequence[int], root: int = 0, seed: int = 1
) -> list[Family]:
    """Those that are no algorithms with a name and serve any size."""
    from hocket._core import depth_first_order

    found: list[Family] = []
    order = tuple(depth_first_order(network, list(members), root))
    if collective == "alltoall" and network.is_tree and 1 < len(members) <= MOST_PHASED:
        found.append(_phased(network, members, order))
    if collective in AT_ONCE and not network.is_tree and 3 < len(members) <= MOST_AT_ONCE:
        ports = sum(link.source == network.rank_nodes[members[root]] for link in network.links)
        counts = {2, ports // 2, ports} if ports > 1 else set()
        found += [_at_once(collective, network, members, order, count, seed) for count in sorted(counts - {0, 1})]
    return found


def named_family(algorithm: Algorithm, depth_first: tuple[int, ...], starts: tuple[int, ...] = ()) -> Family:
    collective, name, ranks = algorithm.collective, algorithm.name, len(depth_first)
    rooted = collective in ROOTED

    def build(order: tuple[int, ...], segments: int, root: int) -> Schedule:
        from hocket import Schedule

        return Schedule.build(collective, name, ranks, root if rooted else 0, segments, list(order), starts)

    walk: str | None = "ring" if not starts else None  # starts are of this very order
    if name in ("chain", "pipelined_chain", "binary_tree", "ternary_tree"):
        walk = "backward" if collective == "reduce" else "chain"
    parts = algorithm.segments_for(ranks, starts=starts)
    return Family(name, build, walk, algorithm.pipelines, parts, depth_first, starts, algorithm)


def _phased(network: Network, members: Sequence[int], depth_first: tuple[int, ...]) -> Family:
    def build(order: tuple[int, ...], segments: int, root: int) -> Schedule:
        from hocket._core import phased_alltoall

        return phased_alltoall(network, list(members))

    return Family("tree_phases", build, None, False, 1, depth_first)


def _at_once(
    collective: str, network: Network, members: Sequence[int], depth_first: tuple[int, ...], count: int, seed: int
) -> Family:
    algorithm = AT_ONCE[collective]
    walk = "ring" if algorithm == "ring" else "backward" if collective == "reduce" else "chain"
    first = depth_first[0] if algorithm == "pipelined_chain" else 0

    @cache
    def orders() -> list[tuple[int, ...]]:
        return orders_at_once(network, members, depth_first[0], walk, count, seed)

    def build(order: tuple[int, ...], segments: int, root: int) -> Schedule:
        from hocket import Schedule
        from hocket._core import merged_schedule

        return merged_schedule(
            [Schedule.build(collective, algorithm, len(members), first, segments, list(walked)) for walked in orders()]
        )

    name = f"{algorithm} along {count} orders at once, local search, seed {seed}"
    parts = count * (len(members) if collective == "allreduce" else 1)
    return Family(name, build, None, True, parts, depth_first)


def one_segment_families(
    collective: str, network: Network, size_bytes: int, root: int, members: Sequence[int], time_limit_s: float
) -> list[Family]:
    """The optimal schedule in one segment of this size, with and without messages that keep its transfers apart."""
    found = optimal_in_one_segment(network, collective, size_bytes, root, members, time_limit_s)
    if found is None:
        return []
    name = f"{'optimal' if found.status == 'optimal' else 'searched'} schedule in one segment"
    order = tuple(range(len(members)))

    def family(name: str, schedule: Schedule) -> Family:
        return Family(name, lambda order, segments, root: schedule, None, False, 1, order)

    return [family(name, found.schedule), family(f"{name}, unordered", found.unordered_schedule)]
