# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""SimGrid's clusters with a topology: fat trees, tori and dragonflies, whose links have nodes at their ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise, product

from hocket.interop.networks.draft import Draft
from hocket.interop.networks.hostlist import MOST_NAMES, quoted
from hocket.interop.networks.simgrid_zones import Link, NoRoute, Point, Route, Step, Zone

MOST_LEVELS = 64  # of a fat tree, and dimensions of a torus: all others have one host or switch only

Node = tuple[object, ...] | int  # a switch, or the number of a host
MakeLink = Callable[[str, int], Link]  # its name, how many cables it has


@dataclass(eq=False, repr=False)
class NodeZone(Zone):
    """`path` gives the nodes between two hosts; each two neighbours have a link."""

    links: dict[tuple[Node, Node], Link] = field(default_factory=dict)
    path: Callable[[int, int], list[Node]] = lambda a, b: []
    number: dict[Point, int] = field(default_factory=dict)

    def local(self, a: Point | Zone, b: Point | Zone) -> Route:
        assert isinstance(a, Point)
        assert isinstance(b, Point)
        if not (a.is_host and b.is_host):
            raise NoRoute
        nodes = self.path(self.number[a], self.number[b])
        return Route(tuple(self._step(u, v) for u, v in pairwise(nodes)), a, b)

    def _step(self, u: Node, v: Node) -> Step:
        link = self.links.get((u, v))
        return Step(link, True) if link is not None else Step(self.links[v, u], False)


def build(zone: NodeZone, topology: str, parameters: str, num_hosts: int, make: MakeLink, draft: Draft) -> None:
    """Gives the zone its links and paths. @raises InvalidInput  if the parameters are no such topology."""
    kinds = {"TORUS": _torus, "FAT_TREE": _fat_tree, "DRAGONFLY": _dragonfly}
    forms = {
        "TORUS": "sizes, such as 4,4,4",
        "FAT_TREE": "levels, children, parents and cables of each level, such as 2;4,4;1,2;1,2",
        "DRAGONFLY": "groups, chassis and routers with their cables, and nodes, such as 3,4;4,3;5,1;2",
    }

    def refuse(why: str) -> None:
        draft.refuse(zone.line, f"topo_parameters is {quoted(parameters)}: {why}", f"expected: {forms[topology]}")

    numbers = _numbers(parameters)
    if numbers is None:
        refuse("it is not a list of positive numbers")
        return
    hosts = kinds[topology](zone, numbers, make)
    if hosts is None:
        refuse(f"these are no parameters of {topology}")
    elif hosts != num_hosts:
        refuse(f"it has {hosts} hosts, and radical {num_hosts}")


def _numbers(text: str) -> list[list[int]] | None:
    rows = [row.split(",") for row in text.split(";")]
    if any(not word.strip().isascii() or not word.strip().isdigit() or len(word) > 9 for row in rows for word in row):
        return None
    numbers = [[int(word) for word in row] for row in rows]
    return numbers if all(number > 0 for row in numbers for number in row) else None


def _torus(zone: NodeZone, rows: list[list[int]], make: MakeLink) -> int | None:
    if len(rows) != 1 or len(rows[0]) > MOST_LEVELS:
        return None
    sizes = rows[0]
    total = math.prod(sizes)
    if total > MOST_NAMES:
        return total
    strides = [math.prod(sizes[:d]) for d in range(len(sizes))]

    def shifted(node: int, d: int, by: int) -> int:
        place = node // strides[d] % sizes[d]
        return node + ((place + by) % sizes[d] - place) * strides[d]

    for node in range(total):
        for d, size in enumerate(sizes):
            # Around a ring of two there is a second link, which no route takes.
            if size > 2 or (size == 2 and node // strides[d] % 2 == 0):
                other = shifted(node, d, 1)
                zone.links[node, other] = make(f"{node}-{other}", 1)

    def path(a: int, b: int) -> list[Node]:
        nodes: list[Node] = [a]
        for d, size in enumerate(sizes):
            start, end = a // strides[d] % size, b // strides[d] % size
            right = start < end <= start + size // 2 or (start > size // 2 and (start + size // 2) % size >= end)
            while a // strides[d] % size != end:
                a = shifted(a, d, 1 if right else -1)
                nodes.append(a)
        return nodes

    zone.path = path
    return total


def _fat_tree(zone: NodeZone, rows: list[list[int]], make: MakeLink) -> int | None:
    """A node of level l has a label of a digit a level: below l which parent, from l on which child."""
    if len(rows) != 4 or len(rows[0]) != 1 or any(len(row) != rows[0][0] for row in rows[1:]):
        return None
    levels, (children, parents, cables) = rows[0][0], rows[1:]
    if levels > MOST_LEVELS:
        return None
    total = math.prod(children)
    if total > MOST_NAMES or math.prod(parents) * max(children) > MOST_NAMES:
        return total

    def label(host: int) -> tuple[int, ...]:
        return tuple(host // math.prod(children[:d]) % children[d] for d in range(levels))

    def key(level: int, digits: tuple[int, ...]) -> Node:
        return ("switch", level, *digits) if level else sum(x * math.prod(children[:d]) for d, x in enumerate(digits))

    for level in range(levels):
        digits = [range(parents[d] if d < level else children[d]) for d in range(levels)]
        for below in product(*digits):
            for parent in range(parents[level]):
                above = (*below[:level], parent, *below[level + 1 :])
                u, v = key(level, below), key(level + 1, above)
                zone.links[u, v] = make(f"{u}-{v}", cables[level])

    def path(a: int, b: int) -> list[Node]:
        here, there = label(a), label(b)
        nodes: list[Node] = [a]
        level = 0
        while here[level:] != there[level:]:  # up until the destination is below; d-mod-k [Zahavi09]
            port = b // math.prod(parents[:level]) % (parents[level] * cables[level])
            here = (*here[:level], port % parents[level], *here[level + 1 :])
            level += 1
            nodes.append(key(level, here))
        while level:
            level -= 1
            here = (*here[:level], there[level], *here[level + 1 :])
            nodes.append(key(level, here))
        return nodes

    zone.path = path
    return total


def _dragonfly(zone: NodeZone, rows: list[list[int]], make: MakeLink) -> int | None:
    """Routers (group, chassis, blade): all of a chassis are joined, those of a blade in each chassis, and router j of a
    group's first chassis with group j.
    """
    if [len(row) for row in rows] != [2, 2, 2, 1]:
        return None
    (groups, blue), (chassis, black), (blades, green), (nodes_each,) = rows
    if groups > blades:  # SimGrid numbers the routers of the first chassis by the groups that they lead to
        return None
    total = groups * chassis * blades * nodes_each
    if total > MOST_NAMES or groups * chassis * blades * max(chassis, blades) > MOST_NAMES:
        return total

    def join(u: Node, v: Node, count: int) -> None:
        zone.links[u, v] = make(f"{u}-{v}", count)

    for g, c, b in product(range(groups), range(chassis), range(blades)):
        router = ("router", g, c, b)
        for n in range(nodes_each):
            join(((g * chassis + c) * blades + b) * nodes_each + n, router, 1)
        for other in range(b + 1, blades):
            join(router, ("router", g, c, other), green)
        for other in range(c + 1, chassis):
            join(router, ("router", g, other, b), black)
    for g in range(groups):
        for other in range(g + 1, groups):
            join(("router", g, 0, other), ("router", other, 0, g), blue)

    def router_of(host: int) -> tuple[int, int, int]:
        blade = host // nodes_each
        return blade // (chassis * blades), blade // blades % chassis, blade % blades

    def path(a: int, b: int) -> list[Node]:
        (g, c, r), (to_g, to_c, to_r) = router_of(a), router_of(b)
        ways: list[tuple[int, int, int]] = [(g, c, r)]
        if g != to_g:
            ways += [(g, c, to_g), (g, 0, to_g), (to_g, 0, g)]
            g, c, r = to_g, 0, g
        ways += [(g, c, to_r), (g, to_c, to_r)]
        nodes: list[Node] = [a]
        for way in ways:
            if nodes[-1] != ("router", *way):
                nodes.append(("router", *way))
        return [*nodes, b]

    zone.path = path
    return total


def name_of(zone: Zone, switch: tuple[object, ...]) -> str:
    return f"{zone.name}-" + "-".join(str(part) for part in switch)
