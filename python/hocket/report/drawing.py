# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A tree network as inline SVG: switches above, hosts below, each cable as one line for each direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from hocket.report import text

LEAF_WIDTH, LEVEL_HEIGHT, BOX_WIDTH, BOX_HEIGHT, MARGIN = 76, 104, 64, 40, 8
MAX_LEAVES = 48  #: above this, the hosts of one switch are drawn as one box
LANE = 2.5  #: half the distance between the two directions of a cable
SHADES = 5  #: classes of link colour in style.css


@dataclass
class _Box:
    """A node, or all the leaf hosts of one switch."""

    nodes: list[int]
    title: str
    subtitle: str
    kind: str
    x: float = 0
    y: float = 0


def draw_network(
    network: Any, label: str, link_bytes: Mapping[tuple[str, str], float] | None = None, most_bytes: float | None = None
) -> Markup | None:
    """The drawing of a hocket.Network, or None when it is not a tree.

    `link_bytes`: bytes by (source name, target name), which colour the lines; `most_bytes` is the value of the darkest.
    """
    if not network.is_tree:
        return None
    names = [node.name for node in network.nodes]
    parent, roots = _rooted(len(names), [(link.source, link.target) for link in network.links])
    children: list[list[int]] = [[] for _ in names]
    for node, up in enumerate(parent):
        if up is not None and node not in roots:
            children[up].append(node)
    ranks_at: dict[int, list[int]] = {}
    for rank, node in enumerate(network.rank_nodes):
        ranks_at.setdefault(node, []).append(rank)

    boxes: list[_Box] = []
    box_of: dict[int, _Box] = {}
    collapse = sum(not below for below in children) > MAX_LEAVES
    _place(roots, children, names, [node.kind for node in network.nodes], ranks_at, collapse, boxes, box_of)
    width = max(box.x for box in boxes) + LEAF_WIDTH / 2 + MARGIN
    height = max(box.y for box in boxes) + BOX_HEIGHT / 2 + MARGIN

    top = most_bytes or max((link_bytes or {}).values(), default=0) or 1
    lines, labels = [], []
    cables: dict[tuple[int, int], tuple[_Box, _Box, Any, float | None]] = {}
    for link in network.links:
        a, b = box_of[link.source], box_of[link.target]
        if a is b:
            continue
        source, target = names[link.source], names[link.target]
        carried = None if link_bytes is None else link_bytes.get((source, target), 0)
        lines.append(_line(a, b, f"{source} → {target}", link, carried, top))
        back = cables.get((link.target, link.source))
        if (link.source, link.target) not in cables:
            cables[link.source, link.target] = (a, b, link, carried)
        if back is not None:
            labels.append(_cable_label(*back, link, carried))
    return Markup(
        '<svg class="network" role="img" viewBox="0 0 {w} {h}" style="width:{w}px" aria-label="{label}">{body}</svg>'
    ).format(
        w=round(width),
        h=round(height),
        label=label,
        body=Markup("").join([*_unique(lines), *[_draw_box(box) for box in boxes], *_unique(labels)]),
    )


def _rooted(num_nodes: int, edges: list[tuple[int, int]]) -> tuple[list[int | None], list[int]]:
    """The parent of each node, seen from the centre: one node, or two neighbours that are drawn side by side."""
    neighbours: list[set[int]] = [set() for _ in range(num_nodes)]
    for a, b in edges:
        neighbours[a].add(b)
        neighbours[b].add(a)
    left = {node: len(neighbours[node]) for node in range(num_nodes)}
    while len(left) > 2:  # peel the leaves off, layer by layer; what remains is the centre
        layer = [node for node, degree in left.items() if degree <= 1]
        for node in layer:
            del left[node]
        for node in layer:
            for other in neighbours[node]:
                if other in left:
                    left[other] -= 1
    roots = sorted(left)
    parent: list[int | None] = [None] * num_nodes
    queue = list(roots)
    seen = set(roots)
    for node in queue:
        for other in sorted(neighbours[node] - seen):
            parent[other] = node
            seen.add(other)
            queue.append(other)
    return parent, roots


def _place(
    roots: list[int],
    children: list[list[int]],
    names: list[str],
    kinds: list[str],
    ranks_at: dict[int, list[int]],
    collapse: bool,
    boxes: list[_Box],
    box_of: dict[int, _Box],
) -> None:
    """Gives each leaf the next column, each inner node their middle. No recursion: a chain of switches may be long."""
    next_column = 0
    stack = [(root, 0, False) for root in reversed(roots)]
    while stack:
        node, depth, is_left = stack.pop()
        if not is_left:
            leaves = [child for child in children[node] if not children[child]]
            inner = [child for child in children[node] if children[child]]
            stack.append((node, depth, True))
            stack.extend((child, depth + 1, False) for child in reversed(children[node] if not collapse else inner))
            if collapse and leaves:
                members = sorted(rank for leaf in leaves for rank in ranks_at.get(leaf, []))
                box = _Box(
                    leaves,
                    f"{len(leaves)} hosts",
                    f"{len(members)} ranks",
                    "host",
                    MARGIN + (next_column + 0.5) * LEAF_WIDTH,
                    MARGIN + BOX_HEIGHT / 2 + (depth + 1) * LEVEL_HEIGHT,
                )
                next_column += 1
                boxes.append(box)
                box_of.update(dict.fromkeys(leaves, box))
            continue
        below = list({id(box_of[child]): box_of[child] for child in children[node]}.values())
        if below:
            x = (min(box.x for box in below) + max(box.x for box in below)) / 2
        else:
            x = MARGIN + (next_column + 0.5) * LEAF_WIDTH
            next_column += 1
        members = ranks_at.get(node, [])
        subtitle = f"rank{'s' if len(members) > 1 else ''} {text.ranks(members)}" if members else ""
        box = _Box([node], names[node], subtitle, kinds[node], x, MARGIN + BOX_HEIGHT / 2 + depth * LEVEL_HEIGHT)
        boxes.append(box)
        box_of[node] = box


def _line(a: _Box, b: _Box, name: str, link: Any, carried: float | None, most: float) -> Markup:
    length = ((b.x - a.x) ** 2 + (b.y - a.y) ** 2) ** 0.5
    # to the right of the direction of travel, as on a road
    dx, dy = -(b.y - a.y) / length * LANE, (b.x - a.x) / length * LANE
    title = f"{name}: {text.bandwidth(link.bandwidth_bytes_per_s)}, latency {text.seconds(link.latency_s)}"
    css = "link"
    if carried is not None:
        title += f"; {text.byte_count(carried)}"
        shade = 0 if carried == 0 else 1 + min(SHADES - 1, int(carried / most * SHADES * 0.9999))
        css += f" shade{shade}"
    return Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"><title>{}</title></line>').format(
        css, a.x + dx, a.y + dy, b.x + dx, b.y + dy, title
    )


def _cable_label(
    a: _Box, b: _Box, there: Any, carried_there: float | None, back: Any, carried_back: float | None
) -> Markup:
    """The bandwidth, or the bytes of the busier direction; near the lower end, where a switch's cables are apart."""
    if carried_there is not None and carried_back is not None:
        label = text.byte_count(max(carried_there, carried_back))
    else:
        both = dict.fromkeys(text.bandwidth(link.bandwidth_bytes_per_s) for link in (there, back))
        label = " / ".join(both)
    if a.y == b.y:
        x, y = (a.x + b.x) / 2, a.y - 8
    else:
        lower, upper = (a, b) if a.y > b.y else (b, a)
        from_box = (BOX_HEIGHT / 2 + 14) / LEVEL_HEIGHT
        x, y = lower.x + from_box * (upper.x - lower.x) / 2, lower.y - BOX_HEIGHT / 2 - 8
    return Markup('<text class="cable" x="{:.1f}" y="{:.1f}">{}</text>').format(x, y, label)


def _draw_box(box: _Box) -> Markup:
    name = box.title if len(box.title) <= 10 else box.title[:9] + "…"
    subtitle = box.subtitle if len(box.subtitle) <= 12 else box.subtitle[:11] + "…"
    lines = Markup('<text class="name" x="{:.1f}" y="{:.1f}">{}</text>').format(
        box.x, box.y + (-3 if subtitle else 5), name
    )
    if subtitle:
        lines += Markup('<text class="ranks" x="{:.1f}" y="{:.1f}">{}</text>').format(box.x, box.y + 13, subtitle)
    return Markup(
        '<g class="node {}"><title>{}</title><rect x="{:.1f}" y="{:.1f}" width="{}" height="{}" rx="{}"/>{}</g>'
    ).format(
        box.kind,
        f"{box.title} {box.subtitle}".strip(),
        box.x - BOX_WIDTH / 2,
        box.y - BOX_HEIGHT / 2,
        BOX_WIDTH,
        BOX_HEIGHT,
        4 if box.kind == "switch" else 12,
        lines,
    )


def _unique(parts: list[Markup]) -> list[Markup]:
    """Without repetitions: the cables of collapsed hosts are equal."""
    return list(dict.fromkeys(parts))
