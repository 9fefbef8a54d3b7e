# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Trees of ranks, and the rounds of a message that goes down or up one. The root is rank 0 unless said otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hocket.advise.measured.exchanges import power_of_two_within
from hocket.advise.measured.rounds import Ints, Round, messages


@dataclass(frozen=True)
class Tree:
    parent: Ints  #: -1 of the root
    children: tuple[tuple[int, ...], ...]  #: in the order in which they are served

    @staticmethod
    def of(parent: Callable[[int], int], p: int, root: int = 0) -> Tree:
        parents = np.array([-1 if v == root else parent(v) for v in range(p)])
        children: list[list[int]] = [[] for _ in range(p)]
        for v in range(p):
            if v != root:
                children[parents[v]].append(v)
        return Tree(parents, tuple(map(tuple, children)))

    def from_root(self) -> list[int]:
        """Every rank after its parent."""
        order = [int(np.flatnonzero(self.parent < 0)[0])]
        for v in order:
            order.extend(self.children[v])
        return order


def bcast_rounds(tree: Tree, share: float = 1.0) -> list[Round]:
    """A rank sends to all its children at once, when it has the message."""
    depth: dict[int, int] = {}
    edges: dict[int, list[tuple[int, int]]] = {}
    for v in tree.from_root():
        parent = int(tree.parent[v])
        depth[v] = 0 if parent < 0 else depth[parent] + 1
        if parent >= 0:
            edges.setdefault(depth[v], []).append((parent, v))
    return [messages([parent for parent, _ in edges[d]], [v for _, v in edges[d]], share) for d in sorted(edges)]


def reduce_rounds(tree: Tree) -> list[Round]:
    """A rank receives from its children in turn, and sends when it has added the last."""
    ready: dict[int, int] = {}
    edges: dict[int, list[tuple[int, int]]] = {}
    for v in reversed(tree.from_root()):
        slot = 0
        for child in tree.children[v]:
            slot = max(slot, ready[child]) + 1
            edges.setdefault(slot, []).append((child, v))
        ready[v] = slot
    return [
        messages([child for child, _ in edges[slot]], [v for _, v in edges[slot]], 1.0, combines=True, fresh=True)
        for slot in sorted(edges)
    ]


def in_order_binomial(p: int) -> Tree:
    """Subtrees are consecutive ranks."""
    return Tree.of(lambda v: v & (v - 1), p)


def binomial(p: int) -> Tree:
    """Children are 1, 2, 4, ... ranks away, beyond the own number: Open MPI's for bcast."""
    return Tree.of(lambda v: v - power_of_two_within(v), p)


def knomial(p: int, radix: int) -> Tree:
    def parent(v: int) -> int:
        unit = 1
        while v // unit % radix == 0:
            unit *= radix
        return v - v // unit % radix * unit

    return Tree.of(parent, p)


def binary(p: int) -> Tree:
    """Levels of 1, 2, 4, ... ranks: those of a level have children one and two times the level's size away."""

    def parent(v: int) -> int:
        above = power_of_two_within(v + 1) // 2  # ranks of the level above
        return above - 1 + (v + 1) % above

    return Tree.of(parent, p)


def in_order_binary(p: int) -> Tree:
    """Rooted at the last rank: below each rank are the consecutive ranks before it, half of them under each child."""
    parents: dict[int, int] = {}
    waiting = [(0, p)]  # ranges whose root is their last rank
    while waiting:
        begin, end = waiting.pop()
        middle = begin + (end - 1 - begin + 1) // 2
        for low, high in ((begin, middle), (middle, end - 1)):
            if high > low:
                parents[high - 1] = end - 1
                waiting.append((low, high))
    return Tree.of(lambda v: parents[v], p, root=p - 1)


def chains(p: int, number: int) -> Tree:
    """Chains of as equal a length as can be, that all begin at the root."""
    number = max(1, min(number, p - 1))
    ends = np.cumsum([(p - 1) // number + (k < (p - 1) % number) for k in range(number)])
    firsts = {1, *(int(end) + 1 for end in ends[:-1])}
    return Tree.of(lambda v: 0 if v in firsts else v - 1, p)
