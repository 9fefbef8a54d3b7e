# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A tree network as inline SVG: switches above, hosts below, each cable as one line for each direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from hocket.report import text

LEAF_WIDTH, LEVEL_HEIGHT, BOX_WIDTH, BOX_HEIGHT, MARGIN = 76, 104, 64, 40, 8
MAX_LEAVES = 48  #: above this, the hosts of one switch are drawn as one box
LANE = 2.5  #: half the distance between the two directions of a cable
SHADES = 5  #: classes of link colour in style.css
ARC_DEPTH = 0.25  #: of an arrow below the hosts, as a part of its width


@dataclass
class _Box:
    """A node, or all the leaf hosts of one switch."""

    nodes: list[int]
    title: str
    subtitle: str
    kind: str
    x: float = 0
    y: float = 0


@dataclass(frozen=True)
class Arrow:
    """A message from rank to rank, drawn as an arc below their boxes."""

    source: int
    target: int
    label: str
    title: str  #: what a pointer shows


@dataclass
class _Bundle:
    """One direction of a cable, or of all the cables between two boxes."""

    start: _Box
    end: _Box
    name: str  #: of the first link
    first_link: Any
    links: int = 0
    bytes: float | None = None  #: on the busiest of the links


def draw_network(
    network: Any,
    label: str,
    link_bytes: Mapping[tuple[str, str], float] | None = None,
    most_bytes: float | None = None,
    arrows: Sequence[Arrow] = (),
) -> Markup | None:
    """The drawing of a hocket.Network, or None when it is not a tree.

    `link_bytes`: bytes by (source name, target name), which colour the lines; `most_bytes` is the value of the darkest.
    Arrows are left out where hosts are drawn together.
    """
    if not network.is_tree:
        return None
    names = [node.name for node in network.nodes]
    boxes, box_of, collapse = _boxes_of(network, MAX_LEAVES)
    width = max(box.x for box in boxes) + LEAF_WIDTH / 2 + MARGIN
    height = max(box.y for box in boxes) + BOX_HEIGHT / 2 + MARGIN

    top = most_bytes or max((link_bytes or {}).values(), default=0) or 1
    bundles: dict[tuple[int, int], _Bundle] = {}
    for link in network.links:
        start, end = box_of[link.source], box_of[link.target]
        if start is not end:
            source, target = names[link.source], names[link.target]
            bundle = bundles.setdefault((id(start), id(end)), _Bundle(start, end, f"{source} → {target}", link))
            bundle.links += 1
            if link_bytes is not None:
                bundle.bytes = max(bundle.bytes or 0, link_bytes.get((source, target), 0))
    lines = [_line(bundle, top) for bundle in bundles.values()]
    labels = [
        _cable_label(bundle, bundles[back])
        for (start_id, end_id), bundle in bundles.items()
        if (back := (end_id, start_id)) in bundles and bundle.first_link.source < bundle.first_link.target
    ]
    ends = [(box_of[network.rank_nodes[a.source]], box_of[network.rank_nodes[a.target]], a) for a in arrows]
    drawn = [] if collapse else [_draw_arrow(source, target, height, arrow) for source, target, arrow in ends]
    if drawn:
        height += max(_arc_depth(source, target) for source, target, _ in ends) + 10
    return Markup(
        '<svg class="network" role="img" viewBox="0 0 {w} {h}" style="width:{w}px;min-width:{least}px" '
        'aria-label="{label}">{marker}{body}</svg>'
    ).format(
        w=round(width),
        h=round(height),
        least=round(0.7 * width),
        label=label,
        marker=_ARROW_HEAD if drawn else "",
        body=Markup("").join([*lines, *map(_draw_box, boxes), *labels, *drawn]),
    )


def place_nodes(network: Any) -> list[tuple[float, float]]:
    """Where the nodes of a tree lie in a drawing, leaves beside each other, from the left and from the top."""
    _, box_of, _ = _boxes_of(network, len(network.nodes))
    return [(box_of[i].x / LEAF_WIDTH, box_of[i].y / LEVEL_HEIGHT) for i in range(len(network.nodes))]


def _boxes_of(network: Any, most_leaves: int) -> tuple[list[_Box], dict[int, _Box], bool]:
    """The boxes, that of each node, and whether the leaf hosts of a switch share one: above `most_leaves`."""
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
    collapse = sum(not below for below in children) > most_leaves
    _place(roots, children, names, [node.kind for node in network.nodes], ranks_at, collapse, boxes, box_of)
    return boxes, box_of, collapse


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


def _line(bundle: _Bundle, most: float) -> Markup:
    a, b, link = bundle.start, bundle.end, bundle.first_link
    ay, by = _edges(a, b)
    length = ((b.x - a.x) ** 2 + (by - ay) ** 2) ** 0.5
    # to the right of the direction of travel, as on a road
    dx, dy = -(by - ay) / length * LANE, (b.x - a.x) / length * LANE
    title = f"{bundle.name}: {text.bandwidth(link.bandwidth_bytes_per_s)}, latency {text.seconds(link.latency_s)}"
    if bundle.links > 1:
        title = f"{bundle.links} links such as {title}"
    css = "link"
    if bundle.bytes is not None:
        title += f"; {'at most ' if bundle.links > 1 else ''}{text.byte_count(bundle.bytes)}"
        css += f" shade{0 if bundle.bytes == 0 else 1 + min(SHADES - 1, int(bundle.bytes / most * SHADES * 0.9999))}"
    return Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"><title>{}</title></line>').format(
        css, a.x + dx, ay + dy, b.x + dx, by + dy, title
    )


def _edges(a: _Box, b: _Box) -> tuple[float, float]:
    """Where a line leaves `a` and meets `b`: at the edges that face each other, so that it crosses no other box."""
    half = BOX_HEIGHT / 2
    if a.y == b.y:
        return a.y, b.y
    return (a.y + half, b.y - half) if a.y < b.y else (a.y - half, b.y + half)


def _cable_label(there: _Bundle, back: _Bundle) -> Markup:
    """The bandwidth, or the bytes of the busier direction; near the lower end, where a switch's cables are apart.

    Two bandwidths are one above the other: side by side they would touch those of the next host.
    """
    if there.bytes is not None and back.bytes is not None:
        lines = [text.byte_count(max(there.bytes, back.bytes))]
    else:
        rates = (text.bandwidth(bundle.first_link.bandwidth_bytes_per_s) for bundle in (there, back))
        lines = list(dict.fromkeys(rates))
    upper, lower = sorted((there.start, there.end), key=lambda box: box.y)
    if upper.y == lower.y:
        x, y = (upper.x + lower.x) / 2, upper.y - 8
    else:
        # the line is not steep where the boxes are far apart: stay near the column of the lower one
        x = lower.x + max(-12.0, min(12.0, 0.2 * (upper.x - lower.x)))
        y = lower.y - BOX_HEIGHT / 2 - 9
    label = Markup('<text class="cable" x="{:.1f}" y="{:.1f}">{}</text>')
    return Markup("").join(label.format(x, y - 12 * i, line) for i, line in enumerate(reversed(lines)))


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


_ARROW_HEAD = Markup(
    '<defs><marker id="arrow-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 L8 4 L0 8 z"/></marker></defs>'
)


def _arc_depth(a: _Box, b: _Box) -> float:
    return 14 + ARC_DEPTH * abs(a.x - b.x)


def _draw_arrow(a: _Box, b: _Box, floor: float, arrow: Arrow) -> Markup:
    """From the bottom of one box to that of the other, a little apart so that both ways can be distinguished."""
    shift = BOX_WIDTH / 6 * (1 if a.x < b.x else -1)
    x1, x2 = a.x + shift, b.x - shift
    y1, y2 = a.y + BOX_HEIGHT / 2, b.y + BOX_HEIGHT / 2 + 2
    depth = _arc_depth(a, b)
    # A cubic arc comes as far as three quarters of the way to its control points.
    below = floor - MARGIN + depth / 0.75
    middle_x, middle_y = (x1 + x2) / 2, (y1 + y2) / 8 + 0.75 * below
    return Markup(
        '<g class="arrow"><title>{title}</title><path d="M{x1:.1f} {y1:.1f} C{x1:.1f} {y:.1f} '
        '{x2:.1f} {y:.1f} {x2:.1f} {y2:.1f}" '
        'marker-end="url(#arrow-head)"/><circle cx="{mx:.1f}" cy="{my:.1f}" r="9"/>'
        '<text x="{mx:.1f}" y="{ty:.1f}">{label}</text></g>'
    ).format(
        title=arrow.title,
        x1=x1,
        y1=y1,
        x2=x2,
        y2=y2,
        y=below,
        mx=middle_x,
        my=middle_y,
        ty=middle_y + 4,
        label=arrow.label,
    )
