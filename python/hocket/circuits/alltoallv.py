# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""All-to-all of unequal blocks on circuits: the matrix of bytes as a sum of few configurations.

Each block goes directly from its source to its target, so that two nodes with a block for each other, or one for the
other, meet in one configuration: a graph in which no node has more neighbours than ports. Birkhoff and von Neumann
decompose a matrix exactly, into up to p^2 - 2 p + 2 permutations; here configurations are few, since each costs a
set-up, and the longest blocks are put together, since the longest decides how long a configuration stays.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Edge = tuple[int, int]  #: two nodes, the smaller first


@dataclass(frozen=True)
class Problem:
    """Bytes from each of p nodes to each, with k ports and the times of circuits, in seconds."""

    matrix: NDArray[np.int64]  #: [from, to]; the diagonal counts nothing
    ports: int
    setup_s: float
    teardown_s: float
    exchange_s: float  #: between two configurations
    alpha: float
    beta: float
    one_at_a_time: bool  #: a node sends one message at a time, otherwise on all ports at once
    together: bool = True  #: circuits of a configuration are torn down together

    @property
    def times_s(self) -> NDArray[np.float64]:
        """[from, to] of each message, 0 where there is none."""
        times: NDArray[np.float64] = np.where(self.matrix > 0, self.alpha + self.matrix * self.beta, 0.0)
        np.fill_diagonal(times, 0.0)
        return times


class Plan:
    """Which pair of nodes meets in which configuration, and how long each configuration stays."""

    def __init__(self, problem: Problem, configurations: int) -> None:
        self._times_s = problem.times_s
        self._one = problem.one_at_a_time
        self._ports = problem.ports
        self.exchange_s = problem.exchange_s
        p = len(problem.matrix)
        self.of_edge: dict[Edge, int] = {}
        self.edges: list[set[Edge]] = [set() for _ in range(configurations)]
        self._degree = np.zeros((configurations, p), dtype=np.int64)
        self._load_s = np.zeros((configurations, p))  # what a node sends

    def stays_s(self, c: int) -> float:
        """How long configuration `c` is up."""
        if self._one:
            return float(self._load_s[c].max(initial=0.0))
        return max((max(self._of(edge)) for edge in self.edges[c]), default=0.0)

    @property
    def total_s(self) -> float:
        """Without the first set-up and the last teardown."""
        used = [c for c, edges in enumerate(self.edges) if edges]
        return (len(used) - 1) * self.exchange_s + sum(map(self.stays_s, used))

    def has_room(self, edge: Edge, c: int) -> bool:
        return bool(self._degree[c, edge[0]] < self._ports and self._degree[c, edge[1]] < self._ports)

    def add(self, edge: Edge, c: int) -> None:
        self._change(edge, c, 1)
        self.edges[c].add(edge)
        self.of_edge[edge] = c

    def remove(self, edge: Edge) -> int:
        c = self.of_edge.pop(edge)
        self.edges[c].remove(edge)
        self._change(edge, c, -1)
        return c

    def longer_s(self, edge: Edge, c: int) -> float:
        """By how much it makes configuration `c` stay longer."""
        before_s = self.stays_s(c)
        if not self._one:
            return max(0.0, max(self._of(edge)) - before_s)
        loads_s = (float(self._load_s[c, node]) + time_s for node, time_s in zip(edge, self._of(edge), strict=True))
        return max(0.0, max(loads_s) - before_s)

    def critical(self, c: int) -> list[Edge]:
        """Without one of these it might stay for less."""
        limit_s = self.stays_s(c) * (1 - 1e-12)
        if self._one:
            nodes = set(np.flatnonzero(self._load_s[c] >= limit_s).tolist())
            return [edge for edge in sorted(self.edges[c]) if edge[0] in nodes or edge[1] in nodes]
        return [edge for edge in sorted(self.edges[c]) if max(self._of(edge)) >= limit_s]

    def _of(self, edge: Edge) -> tuple[float, float]:
        return float(self._times_s[edge]), float(self._times_s[edge[::-1]])

    def _change(self, edge: Edge, c: int, sign: int) -> None:
        for node, time_s in zip(edge, self._of(edge), strict=True):
            self._degree[c, node] += sign
            self._load_s[c, node] = max(0.0, self._load_s[c, node] + sign * time_s)
            if self._degree[c, node] == 0:
                self._load_s[c, node] = 0.0


def lower_bound_s(problem: Problem) -> float:
    """No schedule in which blocks go directly takes less: a node meets at most `ports` others in a configuration; its
    circuits, each up for the longer of its two messages, share its ports; what it sends is one after another if it
    sends one at a time."""
    times_s, ports = problem.times_s, problem.ports
    if not times_s.any():
        return 0.0
    meets = ((times_s > 0) | (times_s.T > 0)).sum(axis=1)
    configurations = -(-meets // ports)
    sends_s = times_s.sum(axis=1) / (1 if problem.one_at_a_time else ports)
    up_s = np.maximum(times_s, times_s.T).sum(axis=1)  # of all circuits of a node together
    load_s = max(float(sends_s.max()), float(up_s.max()) / ports, float(times_s.max()))
    exchanges_s = (int(configurations.max()) - 1) * problem.exchange_s
    if problem.together:
        between_s = exchanges_s + load_s
    else:  # one node may change its circuits while another sends
        used = np.maximum(1, np.minimum(meets, ports))
        of_ports_s = ((meets - used) * problem.exchange_s + up_s) / used
        between_s = max(exchanges_s + problem.alpha, load_s, float(of_ports_s.max()))
    return problem.setup_s + between_s + problem.teardown_s


def plan(problem: Problem, deadline_s: float, on_progress: Callable[[], bool] | None = None) -> Plan:
    """The best that is found until `deadline_s` of `time.monotonic()`."""

    asked = itertools.count(1)

    def goes_on() -> bool:
        if next(asked) % 64 == 0 and on_progress is not None and not on_progress():
            return False
        return time.monotonic() < deadline_s

    p = len(problem.matrix)
    times_s = np.maximum(problem.times_s, problem.times_s.T)
    edges = [(int(a), int(b)) for a, b in np.argwhere(np.triu(times_s) > 0)]
    longest_first = sorted(edges, key=lambda edge: (-times_s[edge], edge))
    classes = [(_circle(edges, p), 1)]
    coloured = _coloured(edges, p, goes_on)
    if coloured is not None:
        classes.append((coloured, 1))
    if problem.ports % 2 == 0:
        classes.append((_rotations(edges, p), 2))
    found = [_grouped(problem, several, degree, times_s) for several, degree in classes]
    together = _longest_together(problem, longest_first, goes_on)
    if together is not None:
        found.append(together)
    found.sort(key=lambda one: one.total_s)
    for one in found:
        _improve(one, goes_on)
    return min(found, key=lambda one: one.total_s)


def _circle(edges: Sequence[Edge], p: int) -> list[list[Edge]]:
    """Matchings by the circle method, in which each two of p nodes meet once in p - 1 rounds, or p if p is odd."""
    rounds = p - 1 if p % 2 == 0 else p
    several: list[list[Edge]] = [[] for _ in range(rounds)]
    for a, b in edges:
        several[(2 * a if b == rounds else a + b) % rounds].append((a, b))
    return several


def _rotations(edges: Sequence[Edge], p: int) -> list[list[Edge]]:
    """Nodes i and i + offset meet: two neighbours each, in p / 2 classes."""
    several: list[list[Edge]] = [[] for _ in range(p // 2)]
    for a, b in edges:
        several[min(b - a, p - b + a) - 1].append((a, b))
    return several


def _coloured(edges: Sequence[Edge], p: int, goes_on: Callable[[], bool]) -> list[list[Edge]] | None:
    """Matchings, at most one more than the most neighbours of a node [Misra92]; None: not in time."""
    degree = np.zeros(p, dtype=np.int64)
    for a, b in edges:
        degree[[a, b]] += 1
    colours = int(degree.max(initial=0)) + 1
    at: list[dict[int, int]] = [{} for _ in range(p)]  # [node] colour -> neighbour
    colour_of: dict[Edge, int] = {}

    def paint(a: int, b: int, colour: int | None) -> None:
        edge = (min(a, b), max(a, b))
        before = colour_of.pop(edge, None)
        if before is not None:
            for node, other in ((a, b), (b, a)):
                if at[node].get(before) == other:
                    del at[node][before]
        if colour is not None:
            colour_of[edge] = colour
            at[a][colour], at[b][colour] = b, a

    def free(node: int) -> int:
        return next(colour for colour in range(colours) if colour not in at[node])

    for u, v in edges:
        if not goes_on():
            return None
        fan, in_fan = [v], {v}
        while True:
            follows = next((w for c, w in at[u].items() if w not in in_fan and c not in at[fan[-1]]), None)
            if follows is None:
                break
            fan.append(follows)
            in_fan.add(follows)
        c, d = free(u), free(fan[-1])
        # Exchange c and d along the path from u, after which u lacks d.
        path, node, colour = [u], u, d
        while colour in at[node]:
            node = at[node][colour]
            path.append(node)
            colour = c if colour == d else d
        steps = [(a, b, colour_of[min(a, b), max(a, b)]) for a, b in itertools.pairwise(path)]
        for a, b, _ in steps:
            paint(a, b, None)
        for a, b, before in steps:
            paint(a, b, c if before == d else d)
        # The shortest part of the fan that is still one, and whose end lacks d.
        end = 0
        while d in at[fan[end]]:
            end += 1
        shifted = [colour_of[min(u, w), max(u, w)] for w in fan[1 : end + 1]]
        for w in fan[1 : end + 1]:
            paint(u, w, None)
        for w, colour in zip(fan, [*shifted, d], strict=False):
            paint(u, w, colour)
    several: list[list[Edge]] = [[] for _ in range(colours)]
    for edge, colour in colour_of.items():
        several[colour].append(edge)
    return several


def _grouped(problem: Problem, classes: list[list[Edge]], degree: int, times_s: NDArray[np.float64]) -> Plan:
    """As many classes in a configuration as ports allow, those with the longest blocks together."""
    used = sorted((one for one in classes if one), key=lambda one: -max(times_s[edge] for edge in one))
    each = problem.ports // degree
    found = Plan(problem, max(1, math.ceil(len(used) / each)))
    for number, one in enumerate(used):
        for edge in one:
            found.add(edge, number // each)
    return found


def _longest_together(problem: Problem, edges: Sequence[Edge], goes_on: Callable[[], bool]) -> Plan | None:
    """Each where there is room and it makes the configuration stay the least longer, in a new one if that costs less;
    None: not in time."""
    most = -(-2 * len(problem.matrix) // problem.ports)  # a pair has room in one of so many
    found = Plan(problem, most)
    used = 0
    for edge in edges:
        if not goes_on():
            return None
        best_s, best = math.inf, used
        for c in range(min(used + 1, most)):
            if found.has_room(edge, c):
                longer_s = found.longer_s(edge, c) + (problem.exchange_s if c == used else 0.0)
                if longer_s < best_s:
                    best_s, best = longer_s, c
        found.add(edge, best)
        used = max(used, best + 1)
    return found


def _improve(found: Plan, goes_on: Callable[[], bool]) -> None:
    """Moves a pair that decides how long its configuration stays into another, as long as that gains."""
    has_gained = True
    while has_gained:
        has_gained = False
        for c in range(len(found.edges)):
            for edge in found.critical(c):
                if not goes_on():
                    return
                if edge not in found.edges[c]:
                    continue
                before_s = found.stays_s(c)
                found.remove(edge)
                gain_s = before_s - found.stays_s(c) + (0.0 if found.edges[c] else found.exchange_s)
                best_s, best = gain_s - 1e-12 * before_s, c
                for other in range(len(found.edges)):
                    if other == c or not found.edges[other] or not found.has_room(edge, other):
                        continue
                    longer_s = found.longer_s(edge, other)
                    if longer_s < best_s:
                        best_s, best = longer_s, other
                found.add(edge, best)
                has_gained = has_gained or best != c


def schedule(problem: Problem, found: Plan) -> tuple[float, dict[str, Any]]:
    """Makespan, and the schedule as an answer has it."""
    p, times_s = len(problem.matrix), problem.times_s
    circuits: list[dict[str, Any]] = []
    messages: list[dict[str, Any]] = []
    begin_s, makespan_s = 0.0, 0.0
    used = [sorted(edges) for edges in found.edges if edges]
    for number, edges in enumerate(used):
        open_s = begin_s + problem.setup_s
        free_s = [open_s] * p
        last_s = open_s
        first = len(messages)
        for i, (a, b) in enumerate(edges, len(circuits)):
            for source, target in ((a, b), (b, a)):
                if times_s[source, target] == 0:
                    continue
                start_s = free_s[source] if problem.one_at_a_time else open_s
                end_s = start_s + float(times_s[source, target])
                free_s[source] = end_s
                last_s = max(last_s, end_s)
                messages.append({"circuit": i, "from": source, "to": target, "blocks": [source * p + target],
                                 "time_s": (start_s, end_s)})  # fmt: skip
        messages[first:] = sorted(messages[first:], key=lambda one: one["time_s"][0])
        makespan_s = last_s + problem.teardown_s
        circuits += [{"nodes": edge, "configuration": number, "setup_s": (begin_s, open_s),
                      "teardown_s": (last_s, makespan_s)} for edge in edges]  # fmt: skip
        begin_s = last_s + problem.exchange_s - problem.setup_s
    return makespan_s, {"blocks": p * p, "circuits": circuits, "messages": messages}
