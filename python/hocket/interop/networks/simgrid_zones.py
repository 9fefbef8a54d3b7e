# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The zones of a SimGrid platform and how each finds a route: a list of links, which need no ends there [Bobelin12].

What the zones do is written after SimGrid's documentation and compared with what SimGrid answers.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

SHARED, SPLIT, FATPIPE = "SHARED", "SPLITDUPLEX", "FATPIPE"


@dataclass(eq=False, repr=False)
class Link:
    name: str
    line: int
    bandwidth_bytes_per_s: float
    latency_s: float
    policy: str = SHARED  # SHARED: both directions share it; FATPIPE: each message has all of it


class Step(NamedTuple):
    link: Link
    up: bool = True  # the direction of a SPLITDUPLEX link; that of another says in what order its ends are met


Steps = tuple[Step, ...]


def reverse(steps: Sequence[Step]) -> Steps:
    return tuple(Step(step.link, not step.up) for step in reversed(steps))


@dataclass(eq=False, repr=False)
class Point:
    """A host or a router."""

    name: str
    zone: Zone
    line: int
    is_host: bool
    coordinates: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Route:
    """Within a zone. Between zones it joins a point in each: the gateways."""

    steps: Steps
    source: Point
    target: Point


class NoRoute(Exception):
    pass


@dataclass(eq=False, repr=False)
class Zone:
    """`kind` as SimGrid names the routing."""

    name: str
    kind: str
    line: int
    parent: Zone | None = None
    points: list[Point] = field(default_factory=list)
    zones: list[Zone] = field(default_factory=list)
    bypasses: dict[tuple[Point | Zone, Point | Zone], Route] = field(default_factory=dict)

    def local(self, a: Point | Zone, b: Point | Zone) -> Route:
        raise NoRoute


@dataclass(eq=False, repr=False)
class FullZone(Zone):
    table: dict[tuple[Point | Zone, Point | Zone], Route] = field(default_factory=dict)

    def local(self, a: Point | Zone, b: Point | Zone) -> Route:
        if (a, b) not in self.table:
            raise NoRoute
        return self.table[a, b]


@dataclass(eq=False, repr=False)
class GraphZone(FullZone):
    """Floyd and Dijkstra: the path with the fewest links. They may differ where paths are equally long."""

    out: dict[Point | Zone, list[Point | Zone]] = field(default_factory=dict)
    _before: dict[Point | Zone, dict[Point | Zone, Point | Zone]] = field(default_factory=dict)

    def add(self, a: Point | Zone, b: Point | Zone, route: Route) -> None:
        self.table[a, b] = route
        self.out.setdefault(a, []).append(b)

    def local(self, a: Point | Zone, b: Point | Zone) -> Route:
        if a not in self._before:
            self._before[a] = self._search(a)
        before = self._before[a]
        if b not in before:
            raise NoRoute
        edges: list[Route] = []
        node = b
        while node is not a:
            edges.append(self.table[before[node], node])
            node = before[node]
        edges.reverse()
        steps: Steps = ()
        for i, edge in enumerate(edges):
            if i > 0 and edges[i - 1].target is not edge.source:  # enters a zone at one gateway, leaves at another
                steps += route_between(edges[i - 1].target, edge.source)
            steps += edge.steps
        return Route(steps, edges[0].source, edges[-1].target)

    def _search(self, a: Point | Zone) -> dict[Point | Zone, Point | Zone]:
        number = {a: 0}
        cost = {a: 0}
        before: dict[Point | Zone, Point | Zone] = {}
        queue: list[tuple[int, int, Point | Zone]] = [(0, 0, a)]
        while queue:
            least, _, node = heapq.heappop(queue)
            if least > cost[node]:
                continue
            for other in self.out.get(node, []):
                length = least + len(self.table[node, other].steps)
                if other not in cost or length < cost[other]:
                    cost[other] = length
                    before[other] = node
                    heapq.heappush(queue, (length, number.setdefault(other, len(number)), other))
        return before


@dataclass(eq=False, repr=False)
class StarZone(Zone):
    """Cluster: each host has links to a centre, where all pass the backbone; routers sit behind it."""

    up: dict[Point, Steps] = field(default_factory=dict)
    down: dict[Point, Steps] = field(default_factory=dict)
    backbone: Link | None = None
    folded: bool = (
        False  # half of the backbone's latency is in the links of the hosts, and it limits nothing between them
    )

    def local(self, a: Point | Zone, b: Point | Zone) -> Route:
        assert isinstance(a, Point)
        assert isinstance(b, Point)
        up, down = self.up.get(a, ()), self.down.get(b, ())
        if (a.is_host and a not in self.up) or (b.is_host and b not in self.down):
            raise NoRoute
        backbone: Steps = ()
        if self.backbone is not None and (a.is_host or b.is_host) and not (self.folded and a.is_host and b.is_host):
            backbone = (Step(self.backbone, a.is_host),)
        return Route(up + backbone + down, a, b)


@dataclass(eq=False, repr=False)
class VivaldiZone(StarZone):
    """Each member has its own links, and between any two lies the distance of their coordinates, in ms [Dabek04]."""

    between: dict[tuple[Point | Zone, Point | Zone], Step] = field(default_factory=dict)
    gateways: dict[Zone, Point] = field(default_factory=dict)

    def local(self, a: Point | Zone, b: Point | Zone) -> Route:
        ends = [self.gateways.get(end) if isinstance(end, Zone) else end for end in (a, b)]
        if (a, b) not in self.between or ends[0] is None or ends[1] is None:
            raise NoRoute
        up = self.up.get(a, ()) if isinstance(a, Point) else ()
        down = self.down.get(b, ()) if isinstance(b, Point) else ()
        return Route((*up, self.between[a, b], *down), ends[0], ends[1])

    @staticmethod
    def distance_s(a: Sequence[float], b: Sequence[float]) -> float:
        return (math.hypot(a[0] - b[0], a[1] - b[1]) + abs(a[2]) + abs(b[2])) / 1000


def zones_of(point: Point) -> list[Zone]:
    """From the outermost in."""
    path: list[Zone] = []
    zone: Zone | None = point.zone
    while zone is not None:
        path.append(zone)
        zone = zone.parent
    return path[::-1]


def route_between(a: Point, b: Point) -> Steps:
    """Through the innermost zone that holds both, and down to each through the gateways of its zones."""
    if a is b:
        return ()
    above_a, above_b = zones_of(a), zones_of(b)
    depth = 0
    while depth < min(len(above_a), len(above_b)) and above_a[depth] is above_b[depth]:
        depth += 1
    common = above_a[depth - 1]
    if common.bypasses:
        bypass = _bypass(common, [a, *above_a[: depth - 1 : -1]], [b, *above_b[: depth - 1 : -1]])
        if bypass is not None:
            return route_between(a, bypass.source) + bypass.steps + route_between(bypass.target, b)
    inner_a: Point | Zone = above_a[depth] if depth < len(above_a) else a
    inner_b: Point | Zone = above_b[depth] if depth < len(above_b) else b
    route = common.local(inner_a, inner_b)
    before = route_between(a, route.source) if inner_a is not a else ()
    after = route_between(route.target, b) if inner_b is not b else ()
    return before + route.steps + after


def _bypass(common: Zone, inside_a: Sequence[Point | Zone], inside_b: Sequence[Point | Zone]) -> Route | None:
    """The one between the innermost zones; of points only where both are in the zone itself."""
    if len(inside_a) == len(inside_b) == 1:
        return common.bypasses.get((inside_a[0], inside_b[0]))
    zones_a, zones_b = inside_a[1:], inside_b[1:]
    pairs = [(i, j) for i in range(len(zones_a)) for j in range(len(zones_b))]
    for i, j in sorted(pairs, key=lambda pair: (max(pair), min(pair), pair[0] > pair[1])):
        found = common.bypasses.get((zones_a[i], zones_b[j]))
        if found is not None:
            return found
    return None
