# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A SimGrid platform's XML as zones, points and links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from hocket.interop.networks.draft import Draft
from hocket.interop.networks.hostlist import MOST_NAMES, quoted
from hocket.interop.networks.simgrid_clusters import NodeZone, build
from hocket.interop.networks.simgrid_units import bandwidth, latency, radicals
from hocket.interop.networks.simgrid_zones import (
    FATPIPE,
    SHARED,
    SPLIT,
    FullZone,
    GraphZone,
    Link,
    Point,
    Route,
    StarZone,
    Step,
    Steps,
    VivaldiZone,
    Zone,
    reverse,
)
from hocket.interop.networks.xml_reader import Element
from hocket.report.text import counted

# What older versions of the format call it.
RENAMED = {"AS": "zone", "ASroute": "zoneRoute", "bypassASroute": "bypassZoneRoute", "link:ctn": "link_ctn"}
POLICIES = {"SHARED": SHARED, "SPLITDUPLEX": SPLIT, "FULLDUPLEX": SPLIT, "FATPIPE": FATPIPE}
KINDS = {"full": FullZone, "floyd": GraphZone, "dijkstra": GraphZone, "dijkstracache": GraphZone, "none": Zone,
         "cluster": StarZone, "vivaldi": VivaldiZone}  # fmt: skip
# Of what runs and when, of processors and disks: nothing that a network has.
SKIPPED = {"config", "random", "trace", "trace_connect", "process", "actor", "prop", "storage_type", "storage", "mount",
           "disk", "model_prop"}  # fmt: skip
# What `hocket network import` says once, with the attributes that stand for it.
LEFT_OUT = {
    "speeds of hosts": {(tag, key) for tag in ("host", "cluster", "cabinet", "peer") for key in ("speed", "power")},
    "disks": {("disk", "id"), ("storage", "id")},
    "loopbacks": {("cluster", "loopback_bw"), ("cluster", "loopback_lat")},
}


class Platform:
    """Everything by name."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.points: dict[str, Point] = {}
        self.zones: dict[str, Zone] = {}
        self.links: dict[str, Link] = {}
        self.changing = 0  # parts whose speed or state changes over time
        self.root = Zone("platform", "None", 1)

    def read(self, root: Element) -> None:
        version = root.attributes.get("version", "0")
        if version.split(".")[0] not in ("3", "4"):
            self.draft.refuse(root.line, f"version {quoted(version)} of SimGrid's format", "accepted: 3 and 4 (4.1)")
        for child in root.children:
            self._read_member(child, self.root)
        if self.changing:
            self.draft.ignored.append(f"{counted(self.changing, 'profile')} of speed, latency or state over time")
        has = {(RENAMED.get(element.tag, element.tag), key) for element in root.walk() for key in element.attributes}
        for what, signs in LEFT_OUT.items():
            if has & signs:
                self.draft.ignored.append(what)

    def _read_member(self, element: Element, zone: Zone) -> None:
        tag = RENAMED.get(element.tag, element.tag)
        readers = {
            "zone": self._zone, "cluster": self._cluster, "cabinet": self._cabinet, "peer": self._peer,
            "host": self._host, "router": self._router, "link": self._link, "backbone": self._backbone,
            "host_link": self._host_link, "route": self._route, "zoneRoute": self._route,
            "bypassRoute": self._bypass, "bypassZoneRoute": self._bypass,
        }  # fmt: skip
        if tag in readers:
            readers[tag](element, zone)
        elif tag in SKIPPED:
            self.changing += tag == "trace_connect"
        else:
            hint = "put the included text into one file" if tag == "include" else "accepted: " + ", ".join(readers)
            self.draft.refuse(element.line, f"unknown element {quoted(element.tag)}", hint)

    def _zone(self, element: Element, parent: Zone) -> None:
        kind = self._get(element, "routing")
        if kind.lower() == "wifi":
            self.draft.refuse(element.line, "a Wifi zone has no links of a fixed bandwidth", "import a wired platform")
        if kind.lower() not in KINDS:
            accepted = "Full, Floyd, Dijkstra, DijkstraCache, Cluster, Vivaldi, None"
            self.draft.refuse(element.line, f"routing is {quoted(kind)}", f"accepted: {accepted}")
        zone = KINDS[kind.lower()](self._get(element, "id"), kind, element.line, parent)
        self._add_zone(zone)
        # Links may stand behind what uses them.
        for child in sorted(element.children, key=lambda child: _rank(RENAMED.get(child.tag, child.tag))):
            self._read_member(child, zone)
        if isinstance(zone, VivaldiZone):
            self._join_coordinates(zone)

    def _add_zone(self, zone: Zone) -> None:
        if zone.name in self.zones:
            first = self.zones[zone.name].line
            self.draft.refuse(zone.line, f"a second zone is {quoted(zone.name)}; the first is in line {first}")
        self.zones[zone.name] = zone
        assert zone.parent is not None
        zone.parent.zones.append(zone)

    def _cluster(self, element: Element, parent: Zone) -> None:
        topology = element.attributes.get("topology", "FLAT")
        name = self._get(element, "id")
        numbers = radicals(self._get(element, "radical"), element.line, self.draft)
        names = [f"{self._get(element, 'prefix')}{n}{self._get(element, 'suffix')}" for n in numbers]
        speed, delay = self._bandwidth(element, "bw"), self._latency(element, "lat")
        policy = self._policy(element, "sharing_policy", SPLIT)
        limit = self._bandwidth(element, "limiter_link") if element.attributes.get("limiter_link") else None
        if topology == "FLAT":
            self._flat_cluster(
                element,
                parent,
                list(zip(numbers, names, strict=True)),
                Link(name, element.line, speed, delay, policy),
                limit,
            )
            return
        if topology not in ("TORUS", "FAT_TREE", "DRAGONFLY"):
            self.draft.refuse(
                element.line, f"topology is {quoted(topology)}", "accepted: FLAT, TORUS, FAT_TREE, DRAGONFLY"
            )
        zone = NodeZone(name, topology, element.line, parent)
        self._add_zone(zone)
        for number, host in enumerate(names):
            zone.number[self._add_point(host, zone, element, True)] = number
        if limit is not None:
            self.draft.ignored.append(f"the limiter of {quoted(name)}, which all messages through a node share")

        def make(ends: str, cables: int) -> Link:
            # Each cable of a fat tree is a link in SimGrid, and those of a dragonfly are one, as here for both.
            return Link(f"{name} {ends}", element.line, min(speed, limit or speed) * cables, delay, policy)

        build(zone, topology, self._get(element, "topo_parameters"), len(names), make, self.draft)

    def _flat_cluster(
        self, element: Element, parent: Zone, hosts: list[tuple[int, str]], model: Link, limit: float | None
    ) -> None:
        zone = StarZone(model.name, "Cluster", element.line, parent)
        self._add_zone(zone)
        for number, host in hosts:
            point = self._add_point(host, zone, element, True)
            link = Link(
                f"{model.name}_link_{number}", element.line, model.bandwidth_bytes_per_s, model.latency_s, model.policy
            )
            up: Steps = (Step(link),)
            if limit is not None:
                up = (Step(Link(f"{link.name}_limiter", element.line, limit, 0.0)), *up)
            zone.up[point], zone.down[point] = up, reverse(up)
        backbone_latency = self._latency(element, "bb_lat") if element.attributes.get("bb_lat") else 0.0
        if element.attributes.get("bb_bw"):
            policy = self._policy(element, "bb_sharing_policy", SHARED)
            zone.backbone = Link(
                f"{model.name}_backbone", element.line, self._bandwidth(element, "bb_bw"), backbone_latency, policy
            )
        default = f"{element.attributes['prefix']}{model.name}_router{element.attributes['suffix']}"
        self._add_point(element.attributes.get("router_id") or default, zone, element, False)

    def _cabinet(self, element: Element, zone: Zone) -> None:
        star = self._star(element, zone)
        for number in radicals(self._get(element, "radical"), element.line, self.draft):
            host = f"{self._get(element, 'prefix')}{number}{self._get(element, 'suffix')}"
            link = Link(
                f"link_{host}", element.line, self._bandwidth(element, "bw"), self._latency(element, "lat"), SPLIT
            )
            point = self._add_point(host, zone, element, True)
            star.up[point], star.down[point] = (Step(link),), (Step(link, False),)

    def _host_link(self, element: Element, zone: Zone) -> None:
        star = self._star(element, zone)
        point = self._point(element, "id")
        star.up[point] = (self._step(self._get(element, "up"), "", element),)
        star.down[point] = (self._step(self._get(element, "down"), "", element),)
        first, last = star.up[point][0], star.down[point][0]
        if first == last:  # one link for both directions
            star.down[point] = reverse(star.up[point])

    def _backbone(self, element: Element, zone: Zone) -> None:
        self._link(element, zone)
        self._star(element, zone).backbone = self.links[self._get(element, "id")]

    def _star(self, element: Element, zone: Zone) -> StarZone:
        if not isinstance(zone, StarZone):
            self.draft.refuse(
                element.line, f"{element.tag} in a zone of routing {zone.kind}", "expected: Cluster or Vivaldi"
            )
        return zone

    def _peer(self, element: Element, zone: Zone) -> None:
        star = self._star(element, zone)
        point = self._add_point(self._get(element, "id"), zone, element, True)
        up = Link(f"link_{point.name}_UP", element.line, self._bandwidth(element, "bw_out"), 0.0)
        down = Link(f"link_{point.name}_DOWN", element.line, self._bandwidth(element, "bw_in"), 0.0)
        star.up[point], star.down[point] = (Step(up),), (Step(down),)

    def _host(self, element: Element, zone: Zone) -> None:
        self._add_point(self._get(element, "id"), zone, element, True)

    def _router(self, element: Element, zone: Zone) -> None:
        self._add_point(self._get(element, "id"), zone, element, False)

    def _add_point(self, name: str, zone: Zone, element: Element, is_host: bool) -> Point:
        if len(self.points) == MOST_NAMES:
            self.draft.refuse(element.line, f"more than {MOST_NAMES} hosts and routers", "import a part of it")
        if name in self.points:
            first = self.points[name].line
            self.draft.refuse(element.line, f"a second host or router is {quoted(name)}; the first is in line {first}")
        self.changing += sum(
            bool(element.attributes.get(f"{kind}_file")) for kind in ("speed", "availability", "state")
        )
        point = Point(name, zone, element.line, is_host, self._coordinates(element))
        self.points[name] = point
        zone.points.append(point)
        return point

    def _coordinates(self, element: Element) -> tuple[float, ...] | None:
        text = element.attributes.get("coordinates")
        if not text:
            return None
        try:
            numbers = tuple(float(word) for word in text.split())
        except ValueError:
            numbers = ()
        if len(numbers) != 3 or not all(abs(number) <= 1e9 for number in numbers):
            self.draft.refuse(element.line, f"coordinates is {quoted(text)}", "expected: three numbers, in ms")
        return numbers

    def _link(self, element: Element, zone: Zone) -> None:
        name = self._get(element, "id")
        if name in self.links:
            first = self.links[name].line
            self.draft.refuse(element.line, f"a second link is {quoted(name)}; the first is in line {first}")
        self.changing += sum(bool(element.attributes.get(f"{k}_file")) for k in ("bandwidth", "latency", "state"))
        delay = self._latency(element, "latency") if "latency" in element.attributes else 0.0
        policy = self._policy(element, "sharing_policy", SHARED)
        self.links[name] = Link(name, element.line, self._bandwidth(element, "bandwidth"), delay, policy)

    def _policy(self, element: Element, key: str, default: str) -> str:
        text = element.attributes.get(key, default)
        if text not in POLICIES:
            self.draft.refuse(element.line, f"{key} is {quoted(text)}", "accepted: " + ", ".join(POLICIES))
        return POLICIES[text]

    def _route(self, element: Element, zone: Zone) -> None:
        if not isinstance(zone, FullZone):
            self.draft.refuse(
                element.line, f"a route in a zone of routing {zone.kind}", "accepted in: Full, Floyd, Dijkstra"
            )
        a, b, route = self._read_route(element, zone)
        both = element.attributes.get("symmetrical", "YES").upper() != "NO"
        back = Route(reverse(route.steps), route.target, route.source)
        for key, value in ((a, b), route), ((b, a), back):
            if value is back and (not both or a is b):
                continue
            known = zone.table.get(key)
            if known is not None and [step.link for step in known.steps] == [step.link for step in value.steps]:
                continue  # the way back, written out
            if known is not None:
                ends = f"{quoted(key[0].name)} to {quoted(key[1].name)}"
                self.draft.refuse(
                    element.line, f"a second route from {ends}", "routes hold in both directions, if not symmetrical=NO"
                )
            if isinstance(zone, GraphZone):
                zone.add(*key, value)
            else:
                zone.table[key] = value

    def _bypass(self, element: Element, zone: Zone) -> None:
        a, b, route = self._read_route(element, zone)
        zone.bypasses[a, b] = route

    def _read_route(self, element: Element, zone: Zone) -> tuple[Point | Zone, Point | Zone, Route]:
        if element.tag in ("route", "bypassRoute"):
            source, target = self._point(element, "src"), self._point(element, "dst")
            return source, target, Route(self._steps(element), source, target)
        ends: list[Point | Zone] = []
        gateways: list[Point] = []
        for end in ("src", "dst"):
            name = self._get(element, end)
            member = self.zones.get(name) or self.points.get(name)
            if member is None:
                self._unknown(element, end, name, "zone")
            gateways.append(self._point(element, f"gw_{end}"))
            if isinstance(member, Zone) and member not in _above(gateways[-1]):
                self.draft.refuse(
                    element.line, f"gw_{end} {quoted(gateways[-1].name)} is not in the zone {quoted(name)}"
                )
            ends.append(member)
        return ends[0], ends[1], Route(self._steps(element), *gateways)

    def _steps(self, element: Element) -> Steps:
        steps: list[Step] = []
        for child in element.children:
            if RENAMED.get(child.tag, child.tag) == "link_ctn":
                steps.append(self._step(self._get(child, "id"), child.attributes.get("direction", "NONE"), child))
        return tuple(steps)

    def _step(self, name: str, direction: str, element: Element) -> Step:
        if direction in ("UP", "DOWN") and name in self.links:
            return Step(self.links[name], direction == "UP")
        if name in self.links:
            return Step(self.links[name])
        for suffix, up in (("_UP", True), ("_DOWN", False)):  # the directions of a SPLITDUPLEX link by their own names
            link = self.links.get(name.removesuffix(suffix)) if name.endswith(suffix) else None
            if link is not None and link.policy == SPLIT:
                return Step(link, up)
        self._unknown(element, "id", name, "link")

    def _point(self, element: Element, key: str) -> Point:
        name = self._get(element, key)
        if name not in self.points:
            self._unknown(element, key, name, "host or router")
        return self.points[name]

    def _unknown(self, element: Element, key: str, name: str, kind: str) -> NoReturn:
        self.draft.refuse(element.line, f"{key}: no {kind} is {quoted(name)}", "it must stand before its use")

    def _get(self, element: Element, key: str) -> str:
        if key not in element.attributes:
            self.draft.refuse(element.line, f"{element.tag} has no {key}", f'expected: {key}="..."')
        return element.attributes[key]

    def _bandwidth(self, element: Element, key: str) -> float:
        return bandwidth(self._get(element, key), element.line, f"{key} of {element.tag}", self.draft)

    def _latency(self, element: Element, key: str) -> float:
        return latency(self._get(element, key), element.line, f"{key} of {element.tag}", self.draft)

    def _join_coordinates(self, zone: VivaldiZone) -> None:
        members: list[tuple[Point | Zone, Point]] = [(point, point) for point in zone.points if point.is_host]
        for inner in zone.zones:
            gateway = self.points.get(f"router_{inner.name}")
            if gateway is not None:
                zone.gateways[inner] = gateway
                members.append((inner, gateway))
        if len(members) > 1024:
            self.draft.refuse(zone.line, f"the Vivaldi zone has {len(members)} members", "accepted: at most 1024")
        for i, (a, point_a) in enumerate(members):
            for b, point_b in members[i + 1 :]:
                if point_a.coordinates is None or point_b.coordinates is None:
                    continue
                delay = zone.distance_s(point_a.coordinates, point_b.coordinates)
                link = Link(f"{point_a.name} {point_b.name}", zone.line, float("inf"), delay, SPLIT)
                zone.between[a, b], zone.between[b, a] = Step(link), Step(link, False)


def _rank(tag: str) -> int:
    """Links before what refers to them, points before routes."""
    return {
        "link": 0,
        "backbone": 0,
        "host_link": 2,
        "route": 3,
        "zoneRoute": 3,
        "bypassRoute": 3,
        "bypassZoneRoute": 3,
    }.get(tag, 1)


def _above(point: Point) -> Iterator[Zone]:
    zone: Zone | None = point.zone
    while zone is not None:
        yield zone
        zone = zone.parent
