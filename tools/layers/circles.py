# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Circles in a graph of what needs what."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import pairwise

# Who -> whom -> where: "FILE:LINE: how". The first place is shown.
Graph = dict[str, dict[str, str]]


def need(graph: Graph, who: str, whom: str, where: str) -> None:
    if who != whom:
        graph.setdefault(who, {}).setdefault(whom, where)


def circles(graph: Graph) -> list[list[str]]:
    """A shortest circle of each group of nodes that need each other, as the nodes in turn, the first one last too."""
    found: list[list[str]] = []
    known: set[str] = set()
    for start in sorted(graph):
        if start not in known and (circle := _shortest_from(graph, start)):
            found.append(circle)
            known |= _reached(graph, start) & _reached(_reversed(graph), start)
    return found


def _shortest_from(graph: Mapping[str, Mapping[str, str]], start: str) -> list[str]:
    came_from: dict[str, str] = {}
    ahead = deque([start])
    while ahead:
        node = ahead.popleft()
        for target in sorted(graph.get(node, ())):
            if target == start:
                way = [start, node]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if target not in came_from:
                came_from[target] = node
                ahead.append(target)
    return []


def _reached(graph: Mapping[str, Mapping[str, str]], start: str) -> set[str]:
    reached = {start}
    ahead = [start]
    while ahead:
        new = set(graph.get(ahead.pop(), ())) - reached
        reached |= new
        ahead += new
    return reached


def _reversed(graph: Graph) -> Graph:
    turned: Graph = {}
    for who, whom_where in graph.items():
        for whom, where in whom_where.items():
            turned.setdefault(whom, {})[who] = where
    return turned


def as_problems(graph: Graph, what: str) -> list[str]:
    """The circles as problems: the nodes in turn, and the line that ties each to the next."""
    problems = []
    for circle in circles(graph):
        ties = [f"\n    {graph[who][whom]}" for who, whom in pairwise(circle)]
        problems.append(f"{what}: {' -> '.join(circle)}; none is allowed{''.join(ties)}")
    return problems
