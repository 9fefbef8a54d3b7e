# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""SimGrid's XML platforms, with the routes that SimGrid takes [Casanova14]."""

from __future__ import annotations

import random
from itertools import pairwise, permutations

from hocket.interop.networks.draft import Cable, Draft, natural
from hocket.interop.networks.hostlist import quoted
from hocket.interop.networks.recognise import Content
from hocket.interop.networks.simgrid_graph import Graph, NoGraph, Place
from hocket.interop.networks.simgrid_platform import Platform
from hocket.interop.networks.simgrid_zones import FATPIPE, SHARED, Link, NoRoute, Point, Step, Steps, route_between
from hocket.interop.networks.values import Options, hosts_of
from hocket.interop.networks.write import build
from hocket.interop.networks.xml_reader import parse
from hocket.report.text import counted

MOST_HOSTS_WITH_ROUTES = 300  # above, a route for each pair of hosts would fill the file
MOST_STEPS = 600_000  # of all routes together
SAMPLE_TARGETS, SAMPLE_SOURCES = 16, 64
UNLIMITED = float("inf")


def read(content: Content, draft: Draft, options: Options) -> None:
    root = parse(content.source_name, content.data)
    if root.tag != "platform":
        draft.refuse(root.line, f"the XML element is {quoted(root.tag)}", "expected: platform")
    platform = Platform(draft)
    platform.read(root)
    hosts = _hosts(platform, options)
    if not hosts:  # reported with the other formats
        return
    few = len(hosts) <= MOST_HOSTS_WITH_ROUTES and len(hosts) ** 2 * _typical_steps(hosts) <= MOST_STEPS
    pairs = list(permutations(hosts, 2)) if few else _sample(hosts)
    graph = Graph(exact_backbones=few)
    routes: dict[tuple[Point, Point], Steps] = {}
    try:
        try:
            graph.add_zone(platform.root)  # may simplify zones, which changes their routes
        finally:
            routes = _routes(pairs, draft)
        walks = {pair: graph.walk(pair[0], steps, pair[1]) for pair, steps in routes.items()}
        if any(len(set(walk)) < len(walk) for walk in walks.values()):
            raise NoGraph
        cables = _Cables(draft, graph, platform.points, routes if few else {})
        cables.add(hosts)
        _add_routes(draft, hosts, {pair: [cables.names[p] for p in walk] for pair, walk in walks.items()}, few)
    except NoGraph:
        if not few:
            draft.refuse(
                root.line,
                f"the routes of {len(hosts)} hosts are no paths of one graph",
                f"accepted for at most {MOST_HOSTS_WITH_ROUTES} hosts",
            )
        _add_link_by_link(draft, hosts, routes)


def _hosts(platform: Platform, options: Options) -> list[Point]:
    """In order of their names. The others of a platform are switches: SimGrid has routes through hosts."""
    hosts = sorted(
        (point for point in platform.points.values() if point.is_host), key=lambda point: natural(point.name)
    )
    if options.hosts is None:
        return hosts
    wanted = set(hosts_of(options.hosts))
    return [host for host in hosts if host.name in wanted]


def _sample(hosts: list[Point]) -> list[tuple[Point, Point]]:
    draw = random.Random(1)
    targets = draw.sample(hosts, min(SAMPLE_TARGETS, len(hosts)))
    sources = min(SAMPLE_SOURCES, len(hosts))
    return [(a, b) for b in targets for a in draw.sample(hosts, sources) if a is not b]


def _typical_steps(hosts: list[Point]) -> float:
    lengths = []
    for a, b in _sample(hosts):
        try:
            lengths.append(len(route_between(a, b)))
        except (NoRoute, RecursionError):
            continue
    return sum(lengths) / len(lengths) if lengths else 0.0


def _routes(pairs: list[tuple[Point, Point]], draft: Draft) -> dict[tuple[Point, Point], Steps]:
    routes: dict[tuple[Point, Point], Steps] = {}
    loops = 0
    for a, b in pairs:
        try:
            steps = route_between(a, b)
            routes[a, b] = _without_return(steps)
            loops += len(routes[a, b]) < len(steps)
        except (NoRoute, RecursionError):
            draft.refuse(
                b.line,
                f"the platform has no route from {quoted(a.name)} to {quoted(b.name)}",
                "add one, or choose hosts that have: --hosts LIST",
            )
    if loops:
        draft.assumed.append(
            f"no message turns and comes back over a link, as SimGrid's do for {loops} of {len(pairs)} pairs of hosts"
        )
    return routes


def _without_return(steps: Steps) -> Steps:
    """Gateways can make a route pass a link, turn, and come back over it: what lies behind the link is left out."""
    kept: list[Step] = []
    for step in steps:
        before = next((i for i, other in enumerate(kept) if other.link is step.link), None)
        if before is None:
            kept.append(step)
        else:
            del kept[before + (kept[before].up == step.up) :]
    return tuple(kept)


class _Cables:
    """Links become cables, places nodes."""

    def __init__(
        self, draft: Draft, graph: Graph, points: dict[str, Point], routes: dict[tuple[Point, Point], Steps]
    ) -> None:
        self.draft, self.graph = draft, graph
        self.points = points
        self.names: dict[Place | Point, str] = {}
        self.never_limits = _never_limit(routes)
        self.side_by_side = 0
        self.junctions = 0

    def add(self, hosts: list[Point]) -> None:
        draft, graph = self.draft, self.graph
        for host in hosts:
            draft.add_host(host.name, host.line)
        between: dict[tuple[str, str], list[tuple[Link, set[int]]]] = {}
        for link, used in graph.uses.items():
            ends = [graph.find(graph.end(link, side)) for side in (0, 1)]
            if ends[0] is ends[1]:
                raise NoGraph
            names = (self.name(ends[0], link.line), self.name(ends[1], link.line))
            pair, entries = (names, used) if names[0] < names[1] else (names[::-1], {1 - side for side in used})
            between.setdefault(pair, []).append((link, entries))
        for (u, v), links in between.items():
            if sorted(map(sorted, (entries for _, entries in links))) == [[0], [1]]:
                there, back = (link for link, _ in sorted(links, key=lambda link: sorted(link[1])))
                cable = self.cable(there)  # one link for each direction: the two directions of one cable
                cable.bandwidth_back_bytes_per_s = self.bandwidth(back)
                cable.latency_back_s = back.latency_s
                draft.add_cable(u, v, cable)
                continue
            for link, _ in links:
                draft.add_cable(u, v, self.cable(link))
            self.side_by_side += len(links) > 1
        for a, b in graph.free_cables:
            u, v = self.name(graph.find(a), 1), self.name(graph.find(b), 1)
            if u != v:
                draft.add_cable(u, v, Cable(1, UNLIMITED, UNLIMITED, 0.0))
        if self.side_by_side:
            draft.assumed.append(
                f"links side by side are one link of all their bandwidth, in {counted(self.side_by_side, 'group')}"
            )
        shared_pipes = sum(link.policy == FATPIPE and link not in self.never_limits for link in graph.uses)
        if shared_pipes:
            pipes = counted(shared_pipes, "FATPIPE link")
            draft.assumed.append(f"messages share {pipes}, of which each has all in SimGrid")
        if graph.open_backbones:
            named = ", ".join(quoted(link.name) for link in graph.open_backbones[:8])
            more = f" and {len(graph.open_backbones) - 8} more" if len(graph.open_backbones) > 8 else ""
            draft.assumed.append(
                "links that all messages of a zone share limit each message, but not their sum, as there are too many "
                f"hosts for a route each: {named}{more}"
            )
        self._prune()

    def cable(self, link: Link) -> Cable:
        speed = self.bandwidth(link)
        half = link.policy == SHARED and len(self.graph.uses[link]) == 2
        return Cable(link.line, speed, speed, link.latency_s, half_duplex=half)

    def bandwidth(self, link: Link) -> float:
        return UNLIMITED if link in self.never_limits else link.bandwidth_bytes_per_s

    def name(self, place: Place | Point, line: int) -> str:
        if place in self.names:
            return self.names[place]
        if isinstance(place, Point):
            name = place.name
            if name not in self.draft.hosts:
                self.draft.add_switch(name, line)
        else:
            name = place.label or f"junction{self.junctions}"
            self.junctions += not place.label
            while name in self.draft.switches or name in self.points:
                name += "'"
            self.draft.add_switch(name, line)
        self.names[place] = name
        return name

    def _prune(self) -> None:
        """Switches that lead nowhere."""
        draft = self.draft
        while True:
            degrees = draft.degrees()
            dead = {name for name in draft.switches if degrees[name] <= 1}
            if not dead:
                return
            for name in dead:
                del draft.switches[name]
            draft.cables = {ends: cable for ends, cable in draft.cables.items() if not dead.intersection(ends)}


def _never_limit(routes: dict[tuple[Point, Point], Steps]) -> set[Link]:
    """FATPIPE links that on each route stand beside one that is as slow: nothing changes without their limit."""
    pipes = {step.link for steps in routes.values() for step in steps if step.link.policy == FATPIPE}
    for steps in routes.values() if pipes else ():
        least = min((s.link.bandwidth_bytes_per_s for s in steps if s.link.policy != FATPIPE), default=UNLIMITED)
        pipes -= {step.link for step in steps if step.link.bandwidth_bytes_per_s < least}
    return pipes


def _add_routes(draft: Draft, hosts: list[Point], walks: dict[tuple[Point, Point], list[str]], all_pairs: bool) -> None:
    """Those that the shortest path is not."""
    if draft.is_tree():
        return
    network = build(draft, "shortest-path", 1)
    nodes, links = [node.name for node in network.nodes], network.links
    rank = {host: number for number, host in enumerate(hosts)}
    others = []
    for (a, b), walk in walks.items():
        if [a.name, *(nodes[links[link].target] for link in network.route(rank[a], rank[b]))] != walk:
            others.append(walk)
    if all_pairs:
        draft.routes = others
    elif others:
        draft.assumed.append(
            f"routes are the shortest paths, which SimGrid does not take for {len(others)} of {len(walks)} pairs of "
            f"hosts in a sample: there are too many hosts for a route each"
        )


def _add_link_by_link(draft: Draft, hosts: list[Point], routes: dict[tuple[Point, Point], Steps]) -> None:
    """Each link between two nodes of its own, and cables without limit where a route goes from one link to the next."""
    draft.hosts.clear()
    draft.switches.clear()
    draft.cables.clear()
    draft.assumed.append(
        "each link of the platform lies between two switches of its own, as its routes are no paths of one graph"
    )
    never_limits = _never_limit(routes)
    for host in hosts:
        draft.add_host(host.name, host.line)
    ends: dict[Link, tuple[str, str]] = {}
    for (a, b), steps in routes.items():
        if len({step.link for step in steps}) < len(steps):
            draft.refuse(
                b.line, f"the route from {quoted(a.name)} to {quoted(b.name)} has a link twice", "leave the loop out"
            )
        walk = [a.name]
        for step in steps:
            link = step.link
            if link not in ends:
                ends[link] = (f"link {link.name}", f"link {link.name} end")
                for end in ends[link]:
                    draft.add_switch(end, link.line)
                speed = UNLIMITED if link in never_limits else link.bandwidth_bytes_per_s
                draft.add_cable(
                    *ends[link], Cable(link.line, speed, speed, link.latency_s, half_duplex=link.policy == SHARED)
                )
            walk += ends[link] if step.up else ends[link][::-1]
        walk.append(b.name)
        for u, v in list(pairwise(walk))[::2]:
            if (u, v) not in draft.cables and (v, u) not in draft.cables:
                draft.add_cable(u, v, Cable(b.line, UNLIMITED, UNLIMITED, 0.0))
        draft.routes.append(walk)
