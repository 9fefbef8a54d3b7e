# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Rank orders worth trying on a network.

On a tree a ring or chain in depth-first order crosses each directed link at most once, and where links are equal that
is all there is to gain; on links of unequal speed it matters which branch comes first or last. On other networks a
local search makes the busiest link less busy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hocket import Network

BRANCHES = {
    "listed": "depth first",
    "fastest_first": "depth first, fastest branch first",
    "slowest_first": "depth first, slowest branch first",
    "deepest_last": "depth first, farthest branch last",
}
# Of more ranks each step of the local search is slow, and many steps are needed.
MOST_RANKS = 2048
_ROUNDS = 3


@dataclass(frozen=True)
class OrderFound:
    order: tuple[int, ...]
    how: str


def orders_for(
    network: Network, members: Sequence[int], first: int = 0, walk: str = "ring", seed: int = 1, max_moves: int = 30_000
) -> list[OrderFound]:
    """Distinct orders of 0 .. p-1 that begin with `first`, the least congested first. `walk` says which neighbours in
    the order send to each other: ring, chain, or backward (a chain towards the first)."""
    from hocket._core import congestion, depth_first_order, improve_order

    members = list(members)
    found: dict[tuple[int, ...], str] = {}
    for branch, how in BRANCHES.items():
        found.setdefault(tuple(depth_first_order(network, members, first, branch)), how)
    ranks = len(members)
    found.setdefault((*range(first, ranks), *range(first)), "rank order")

    def busy(order: Sequence[int]) -> tuple[float, float]:
        seen = congestion(network, members, list(order), walk)
        return seen.busiest_s_per_byte, seen.total_latency_s

    def flows(order: Sequence[int]) -> int:
        return congestion(network, members, list(order), walk).most_flows

    best = min(found, key=busy)
    if 3 <= ranks <= MOST_RANKS and flows(best) > 1:
        better = improve_order(network, members, list(best), walk, seed, max_moves)
        found.setdefault(tuple(better.order), f"local search, seed {seed}")
    return [OrderFound(order, found[order]) for order in sorted(found, key=busy)]


def orders_at_once(
    network: Network, members: Sequence[int], first: int, walk: str, count: int, seed: int = 1, max_moves: int = 30_000
) -> list[tuple[int, ...]]:
    """Orders for several walks at the same time, each of which avoids the links that those before it use."""
    from hocket._core import congestion, improve_order

    members = list(members)
    starts = [found.order for found in orders_for(network, members, first, walk, seed, max_moves)]
    starts += [(order[0], *reversed(order[1:])) for order in starts]
    chosen: list[list[int]] = []

    def busy(order: Sequence[int]) -> tuple[float, float]:
        seen = congestion(network, members, list(order), walk, chosen)
        return seen.busiest_s_per_byte, seen.total_latency_s

    for number in range(count * _ROUNDS):
        # In later rounds each once more gives way to all the others, those that came after it too.
        own = chosen.pop(0) if len(chosen) == count else min(starts, key=busy)
        chosen.append(improve_order(network, members, list(own), walk, seed + number, max_moves, chosen).order)
    return [tuple(order) for order in chosen]


def slowest_first(network: Network, members: Sequence[int], first: int, size_bytes: int) -> OrderFound:
    """By the time that a block takes from the first rank, longest first, so that the rest hides it."""

    links = network.links

    def alone_s(rank: int) -> float:
        route = [links[link] for link in network.route(members[first], members[rank])]
        slowest = min((link.bandwidth_bytes_per_s for link in route), default=float("inf"))
        return size_bytes / slowest + sum(link.latency_s for link in route)

    others = sorted((rank for rank in range(len(members)) if rank != first), key=lambda rank: (-alone_s(rank), rank))
    return OrderFound((first, *others), "slowest way first")
