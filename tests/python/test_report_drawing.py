# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The network drawing: every node and link once, nothing on top of each other, no markup from names."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import pytest

from hocket import Network
from hocket.report.drawing import draw_network

HOSTILE = """<b>&"'</svg>"""


def _svg(network: Network, **options: object) -> ElementTree.Element:
    drawing = draw_network(network, "label", **options)  # type: ignore[arg-type]
    assert drawing is not None
    return ElementTree.fromstring(str(drawing))


def _boxes(svg: ElementTree.Element) -> list[tuple[float, float]]:
    return [(float(r.get("x", "nan")), float(r.get("y", "nan"))) for r in svg.iter("rect")]


@pytest.mark.parametrize(
    "shape", ["star:1", "star:7", "two-clusters:4+4", "two-clusters:1+5", "tree:3x4", "tree:2x2x2x2"]
)
def test_small_trees_are_drawn_whole(shape: str) -> None:
    network = Network.generate(shape)
    svg = _svg(network)
    assert len(_boxes(svg)) == len(network.nodes)
    assert len(set(_boxes(svg))) == len(network.nodes)
    lines = list(svg.iter("line"))
    assert len(lines) == len(network.links)
    _, _, width, height = map(float, svg.get("viewBox", "").split())
    assert all(0 <= x <= width and 0 <= y <= height for x, y in _boxes(svg))
    titles = {title.text for line in lines for title in line.iter("title")}
    names = [node.name for node in network.nodes]
    for link in network.links:
        assert any((t or "").startswith(f"{names[link.source]} → {names[link.target]}: 1 Gbit/s") for t in titles)


def test_two_centres_stand_side_by_side() -> None:
    svg = _svg(Network.generate("two-clusters:4+4"))
    tops = {group.findtext("text"): group.find("rect").get("y") for group in svg.iter("g")}  # type: ignore[union-attr]
    assert tops["s0"] == tops["s1"]
    assert len({tops[f"{group}{i}"] for group in "ab" for i in range(4)}) == 1


def test_hosts_of_large_networks_are_drawn_together() -> None:
    svg = _svg(Network.generate("tree:8x32"))
    assert len(_boxes(svg)) == 1 + 8 + 8
    assert [group.findtext("text") for group in svg.iter("g")].count("32 hosts") == 8
    titles = [line.findtext("title") or "" for line in svg.iter("line")]
    assert len(titles) == 2 * 16
    assert sum(title.startswith("32 links such as ") for title in titles) == 2 * 8


def test_a_long_chain_of_switches() -> None:
    text = 'format = "hocket.network/1"\n'
    text += "".join(f'[[node]]\nname = "s{i}"\nkind = "switch"\n' for i in range(2000))
    text += '[[node]]\nname = "a"\nkind = "host"\n[[node]]\nname = "b"\nkind = "host"\n'
    ends = ["a", *(f"s{i}" for i in range(2000)), "b"]
    for first, second in itertools.pairwise(ends):
        text += f'[[link]]\nbetween = ["{first}", "{second}"]\nbandwidth = "1 Gbit/s"\n'
    assert len(_boxes(_svg(Network.from_text(text)))) == 2002


def test_networks_with_cycles_are_not_drawn() -> None:
    assert draw_network(Network.generate("fat-tree:2x2x4"), "label") is None


def test_names_make_no_markup() -> None:
    name = HOSTILE.replace('"', '\\"')
    text = (
        f'format = "hocket.network/1"\n[[node]]\nname = "{name}"\nkind = "host"\n[[node]]\nname = "b"\nkind = "host"\n'
    )
    text += f'[[link]]\nbetween = ["{name}", "b"]\nbandwidth = "1 Gbit/s"\n'
    svg = _svg(Network.from_text(text))
    assert any((title.text or "").startswith(f"{HOSTILE} → b") for title in svg.iter("title"))


def test_shades_follow_the_bytes() -> None:
    network = Network.generate("star:3")
    carried = {("h0", "s0"): 2e6, ("s0", "h1"): 1e6, ("s0", "h2"): 1e6}
    svg = _svg(network, link_bytes=carried)
    shades = {}
    for line in svg.iter("line"):
        title = line.findtext("title") or ""
        shades[title.split(":")[0]] = re.findall(r"shade(\d)", line.get("class", ""))[0]
    assert shades == {"h0 → s0": "5", "s0 → h1": "3", "s0 → h2": "3", "s0 → h0": "0", "h1 → s0": "0", "h2 → s0": "0"}
