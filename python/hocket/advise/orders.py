# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Rank orders worth trying, from the structure of the network.

A pipelined chain or ring in the depth-first order of a tree crosses each directed link at most once, and a binomial
tree or a recursive halving over it keeps neighbours together, so that few of its messages leave a cluster. On links of
unequal speed it matters which branch comes first: the branches are taken as listed, fastest first and slowest first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hocket import Network


def candidate_orders(network: Network, members: Sequence[int]) -> list[tuple[int, ...]]:
    """Distinct orders of the ranks of a communicator (0 .. p-1) whose members are the given network ranks."""
    rank_of = {member: rank for rank, member in enumerate(members)}
    walks = [
        tuple(members),
        tuple(network.depth_first_order(members[0])),
        _depth_first(network, members[0], lambda bandwidth: -bandwidth),
        _depth_first(network, members[0], lambda bandwidth: bandwidth),
    ]
    orders = [tuple(rank_of[rank] for rank in walk if rank in rank_of) for walk in walks]
    return list(dict.fromkeys(orders))


def _depth_first(network: Network, start: int, key: Callable[[float], float]) -> tuple[int, ...]:
    """Ranks in the order of a depth-first walk that takes the links of a node in the order of key(bandwidth)."""
    neighbours: list[list[tuple[float, int]]] = [[] for _ in network.nodes]
    for link in network.links:
        neighbours[link.source].append((key(link.bandwidth_bytes_per_s), link.target))
    ranks_at: dict[int, list[int]] = {}
    for rank, node in enumerate(network.rank_nodes):
        ranks_at.setdefault(node, []).append(rank)
    found: list[int] = []
    seen: set[int] = set()
    stack = [network.rank_nodes[start]]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        found += ranks_at.get(node, [])
        stack += [target for _, target in sorted(neighbours[node], reverse=True)]
    return tuple(found)
