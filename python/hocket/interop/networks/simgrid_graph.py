# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where the links of a SimGrid platform end.

There, a link is something that routes pass; which nodes it joins is not said. But where one route passes link 1 and
then link 2, both end at the same place: the ends are united along all routes, and what is then one place becomes one
node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hocket.interop.networks.simgrid_clusters import Node, NodeZone, name_of
from hocket.interop.networks.simgrid_zones import (
    FATPIPE,
    SPLIT,
    FullZone,
    Link,
    Point,
    Route,
    StarZone,
    Step,
    VivaldiZone,
    Zone,
)


class NoGraph(Exception):
    """The routes are no paths of one graph."""


@dataclass(eq=False)
class Place:
    """An end of a link, or what a zone needs; a point is a place, too."""

    label: str = ""


@dataclass(eq=False, repr=False)
class Graph:
    exact_backbones: bool
    uses: dict[Link, set[int]] = field(default_factory=dict)  # the ends at which routes enter the link
    free_cables: list[tuple[Place | Point, Place | Point]] = field(default_factory=list)  # that limit nothing
    open_backbones: list[Link] = field(default_factory=list)  # whose limit between the hosts of their zone is left out
    _ends: dict[Link, tuple[Place, Place]] = field(default_factory=dict)
    _same: dict[Place | Point, Place | Point] = field(default_factory=dict)
    _ways: list[tuple[Place | Point, list[Place], Place | Point]] = field(default_factory=list)
    _way_between: dict[tuple[Place | Point, Place | Point], list[Place]] = field(default_factory=dict)

    def find(self, place: Place | Point) -> Place | Point:
        root = place
        while root in self._same:
            root = self._same[root]
        while place is not root:
            self._same[place], place = root, self._same[place]
        return root

    def unite(self, a: Place | Point, b: Place | Point) -> None:
        """A point stays what it is found as, and a place with a label before one without."""
        a, b = self.find(a), self.find(b)
        if a is b:
            return
        if isinstance(b, Point):
            a, b = b, a
        if isinstance(b, Point):
            raise NoGraph
        if not isinstance(a, Point) and b.label and not a.label:
            a, b = b, a
        self._same[b] = a

    def end(self, link: Link, side: int) -> Place:
        if link not in self._ends:
            self._ends[link] = (Place(), Place())
            self.uses[link] = set()
        return self._ends[link][side]

    def place(self, start: Place | Point, steps: Sequence[Step], target: Place | Point, guess: bool = True) -> bool:
        """Unites the ends along a route, from both of its ends inwards: a link that is new may have its ends either
        way, one that is known must have one here. Where a known link in the middle touches neither side, other routes
        may tell later how it lies; without `guess` the result is False then.
        """
        if not steps:
            if self.find(start) is not self.find(target):
                self._connect(start, target)
            return True
        first, last = 0, len(steps)
        while first < last:
            side = self._side_at(steps[first], start, True)
            if side is not None:
                start = self._pass(steps[first].link, side, start)
                first += 1
                continue
            side = self._side_at(steps[last - 1], target, False)
            if side is not None:
                last -= 1
                link = steps[last].link
                self.unite(target, self.end(link, side))
                self.uses[link].add(1 - side)
                target = self.end(link, 1 - side)
                continue
            if not guess:
                return False
            start = self._pass(steps[first].link, 0 if steps[first].up else 1, start)
            first += 1
        self.unite(start, target)
        return True

    def _pass(self, link: Link, side: int, start: Place | Point) -> Place:
        self.unite(start, self.end(link, side))
        self.uses[link].add(side)
        return self.end(link, 1 - side)

    def _side_at(self, step: Step, place: Place | Point, entering: bool) -> int | None:
        if step.link.policy == SPLIT or step.link not in self._ends:
            return int(step.up != entering)
        here = self.find(place)
        return next((side for side in (0, 1) if self.find(self.end(step.link, side)) is here), None)

    def _connect(self, a: Place | Point, b: Place | Point) -> None:
        """A way without a link of the platform."""
        self.free_cables.append((a, b))
        self._ways += [(a, [], b), (b, [], a)]

    def add_zone(self, zone: Zone) -> None:
        if isinstance(zone, NodeZone):
            self._add_node_zone(zone)
        elif isinstance(zone, VivaldiZone):
            self._add_vivaldi(zone)
        elif isinstance(zone, StarZone):
            self._add_star(zone)
        elif isinstance(zone, FullZone):
            buses = self._add_buses(zone)
            self._place_all(
                [route for route in zone.table.values() if not buses.intersection(s.link for s in route.steps)]
            )
            if any(
                len(route.steps) > 1 and buses.intersection(s.link for s in route.steps)
                for route in zone.table.values()
            ):
                raise NoGraph
        for route in zone.bypasses.values():
            self.place(route.source, route.steps, route.target)
        for inner in zone.zones:
            self.add_zone(inner)

    def _place_all(self, routes: list[Route]) -> None:
        """Short ones first: they say most about where a link ends."""
        waiting = sorted(routes, key=lambda route: len(route.steps))
        for _ in range(8):
            waiting = [
                route for route in waiting if not self.place(route.source, route.steps, route.target, guess=False)
            ]
        for route in waiting:
            self.place(route.source, route.steps, route.target)

    def _add_buses(self, zone: FullZone) -> set[Link]:
        """Links that alone join more than two points, so that all messages between these share them.

        Exactly: each point reaches one end and is reached from the other, which routes must name. For many hosts: a
        star.
        """
        joined: dict[Link, dict[Point, None]] = {}
        for route in zone.table.values():
            if len(route.steps) == 1:
                joined.setdefault(route.steps[0].link, {}).update({route.source: None, route.target: None})
        buses = {link: points for link, points in joined.items() if len(points) > 2}
        if not self.exact_backbones:
            self._make_stars(zone, buses)
            return set()
        for link, points in buses.items():
            entry, leave = self.end(link, 0), self.end(link, 1)
            entry.label, leave.label = link.name, f"{link.name} end"
            self.uses[link].add(0)
            for point in points:
                self.free_cables += [(point, entry), (leave, point)]
                self._ways += [(point, [], entry), (leave, [], point)]
        return set(buses)

    def _make_stars(self, zone: FullZone, buses: dict[Link, dict[Point, None]]) -> None:
        for link, points in buses.items():
            self.open_backbones.append(link)
            spokes = {
                point: Link(
                    f"{link.name} {point.name}", link.line, link.bandwidth_bytes_per_s, link.latency_s / 2, link.policy
                )
                for point in points
            }
            for key, route in zone.table.items():
                if [step.link for step in route.steps] == [link]:
                    steps = (Step(spokes[route.source]), Step(spokes[route.target], False))
                    zone.table[key] = Route(steps, route.source, route.target)
            centre = Place(link.name)
            for point, spoke in spokes.items():
                self.place(point, (Step(spoke),), centre)

    def _add_node_zone(self, zone: NodeZone) -> None:
        hosts = sorted(zone.number, key=lambda point: zone.number[point])
        places: dict[Node, Place | Point] = {}
        for (u, v), link in zone.links.items():
            for side, node in ((0, u), (1, v)):
                if node not in places:
                    places[node] = hosts[node] if isinstance(node, int) else Place(name_of(zone, node))
                self._pass(link, side, places[node])

    def _add_vivaldi(self, zone: VivaldiZone) -> None:
        outer: dict[Point | Zone, Place | Point] = {}
        for inner, gateway in zone.gateways.items():
            outer[inner] = gateway
        for point in zone.points:
            outer[point] = point
            if zone.up.get(point):
                access = outer[point] = Place(f"{point.name} access")
                self.place(point, zone.up[point], access)
                self.place(access, zone.down.get(point, ()), point)
        for (a, b), step in zone.between.items():
            self.place(outer[a], (step,), outer[b])

    def _add_star(self, zone: StarZone) -> None:
        centre = Place(zone.name)
        routers = [point for point in zone.points if not point.is_host]
        behind = routers[0] if routers else Place(f"{zone.name} behind")
        for router in routers[1:]:
            self.place(router, (), behind)
        if zone.backbone is None:
            self.unite(centre, behind)
        elif self._is_limit(zone) and self.exact_backbones:
            self._add_exact(zone, centre, behind)
            return
        else:
            self._fold(zone)
            self.place(centre, (Step(zone.backbone),), behind)
            self.place(behind, (Step(zone.backbone, False),), centre)
        for point in zone.up:
            self.place(point, zone.up[point], centre)
            self.place(centre, zone.down.get(point, ()), point)

    @staticmethod
    def _is_limit(zone: StarZone) -> bool:
        assert zone.backbone is not None
        if zone.backbone.policy == FATPIPE:
            return False
        most = sum(min(step.link.bandwidth_bytes_per_s for step in steps) for steps in zone.up.values() if steps)
        return zone.backbone.bandwidth_bytes_per_s < most

    def _fold(self, zone: StarZone) -> None:
        """The way from host to host has the backbone's latency, half in the link of each."""
        assert zone.backbone is not None
        zone.folded = True
        if self._is_limit(zone):
            self.open_backbones.append(zone.backbone)
        zone.backbone.latency_s /= 2
        for link in {steps[-1].link for steps in zone.up.values() if steps} | {
            steps[0].link for steps in zone.down.values() if steps
        }:
            link.latency_s += zone.backbone.latency_s
            if zone.backbone.policy == FATPIPE:
                link.bandwidth_bytes_per_s = min(link.bandwidth_bytes_per_s, zone.backbone.bandwidth_bytes_per_s)

    def _add_exact(self, zone: StarZone, centre: Place, behind: Place | Point) -> None:
        """Between hosts over the backbone and back around it by a detour, which routes must name to be taken."""
        assert zone.backbone is not None
        self.place(centre, (Step(zone.backbone),), behind)
        self.place(behind, (Step(zone.backbone, False),), centre)
        detour = [Place(f"{zone.name} back{i}") for i in range(2)]
        self.free_cables += [(behind, detour[0]), (detour[0], detour[1])]
        for point in zone.up:
            outer = Place(f"{point.name} access")
            self.place(point, zone.up[point], outer)
            self.place(outer, zone.down.get(point, ()), point)
            self._connect(outer, centre)
            self.free_cables.append((detour[1], outer))
            self._ways.append((behind, detour, outer))

    def walk(self, a: Point, steps: Sequence[Step], b: Point) -> list[Place | Point]:
        """The places on a route. @raises NoGraph  if its links do not follow each other."""
        if not self._way_between:
            self._way_between = {(self.find(u), self.find(v)): way for u, way, v in self._ways}
        places = [self.find(a)]

        def cross(targets: Sequence[Place | Point]) -> None:
            """To one of them, without a link of the platform."""
            for target in targets:
                way = self._way_between.get((places[-1], target))
                if way is not None:
                    places.extend([*map(self.find, way), target])
                    return
            raise NoGraph

        for step in steps:
            ends = [self.find(self.end(step.link, side)) for side in (0, 1)]
            if places[-1] not in ends:
                cross(ends)
            places.append(ends[1] if places[-1] is ends[0] else ends[0])
        if places[-1] is not self.find(b):
            cross([self.find(b)])
        return places
