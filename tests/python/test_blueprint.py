# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Networks are changed as values: blueprints, and nobody who edits the text of a network file."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import pytest

from hocket import Blueprint, InvalidInput, Network

ROOT = Path(__file__).resolve().parents[2]
Node, Cable = Blueprint.Node, Blueprint.Cable

TEXT = """
format = "hocket.network/1"
name = "sample"
placement = ["b", "a", "b"]
[routing]
kind = "ecmp"
seed = 7
[[node]]
name = "a"
kind = "host"
relay = false
[[node]]
name = "b"
kind = "host"
ranks = 2
memory_bandwidth = "1 GB/s"
memory_latency = "2 us"
[[node]]
name = "s"
kind = "switch"
[[link]]
between = ["a", "s"]
bandwidth = "10 MB/s"
bandwidth_back = "20 MB/s"
latency = "5 us"
latency_back = "6 us"
[[link]]
between = ["b", "s"]
bandwidth = "30 MB/s"
duplex = "half"
"""


def test_a_blueprint_says_what_the_file_says() -> None:
    sample = Blueprint(
        "sample",
        [Node("a", relays=False), Node("b", "host", 2, 1e9, 2e-6), Node("s", "switch")],
        [Cable(0, 2, 10e6, 20e6, 5e-6, 6e-6), Cable(1, 2, 30e6, half_duplex=True)],
        placement=[1, 0, 1],
        ecmp_seed=7,
    )
    network = Network.from_text(TEXT)
    assert Network.build(sample) == network
    found = network.blueprint()
    assert (found.name, found.nodes, found.cables, found.placement) == (
        sample.name,
        sample.nodes,
        sample.cables,
        sample.placement,
    )
    assert found.nodes[2].ranks == 0
    assert found.nodes[0].memory_bandwidth_bytes_per_s == math.inf


@pytest.mark.parametrize(
    "kind_and_shape",
    ["star:3", "two-clusters:2+3", "fat-tree:2x2x2", "torus:3x3", "dragonfly:2,4,2", "dragonfly:1,2,1"],
)
@pytest.mark.parametrize("routing", [None, "shortest-path", "ecmp"])
def test_building_is_the_inverse_also_of_routes_by_arithmetic(kind_and_shape: str, routing: str | None) -> None:
    if routing == "ecmp" and kind_and_shape.startswith(("star", "two")):
        routing = None
    network = Network.generate(kind_and_shape, latency="3 us", routing=routing)
    again = Network.build(network.blueprint())
    assert again == network
    assert routes(again) == routes(network)
    hosts = list(reversed(network.rank_hosts))
    turned = Network.build(network.blueprint().replace(name="turned", placement=hosts))
    assert (turned.name, turned.rank_hosts) == ("turned", hosts)
    assert Network.from_text(turned.to_toml()) == turned


@pytest.mark.parametrize("kind_and_shape", ["fat-tree:2x2x2", "torus:3x3", "dragonfly:2,4,2", "two-clusters:2+3"])
def test_other_cables_keep_the_routes_and_are_in_the_file(kind_and_shape: str) -> None:
    network = Network.generate(kind_and_shape, latency="3 us")
    cables = [Cable(c.first, c.second, c.bandwidth_bytes_per_s) for c in network.blueprint().cables]
    changed = Network.build(network.blueprint().replace(cables=cables))
    assert routes(changed) == routes(network)
    assert {link.latency_s for link in changed.links} == {0.0}
    assert Network.from_text(changed.to_toml()) == changed


def routes(network: Network) -> list[list[int]]:
    return [network.route(a, b) for a in range(network.num_ranks) for b in range(network.num_ranks)]


def test_routes_must_suit_other_cables() -> None:
    torus = Network.generate("torus:3x3").blueprint()
    with pytest.raises(InvalidInput, match="no link joins"):
        Network.build(torus.replace(cables=torus.cables[1:]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"nodes": [Node("a"), Node("a")]}, 'two nodes have the name "a"'),
        ({"nodes": [Node(""), Node("a")]}, "a node's name is empty"),
        ({"nodes": [Node("a", ranks=-1), Node("b")]}, '"a" cannot have -1 ranks'),
        ({"nodes": [Node("a", "switch", 1), Node("b")]}, '"a" cannot have 1 ranks'),
        ({"nodes": [Node("a", memory_latency_s=1.0), Node("b")]}, 'the memory of "a" needs ranks above 1'),
        ({"cables": [Cable(0, 2, 1.0)]}, "cables: node 2 is not in 0..1"),
        ({"cables": [Cable(-1, 1, 1.0)]}, "cables: node -1 is not in 0..1"),
        ({"cables": [Cable(0, 1, 1.0), Cable(1, 0, 1.0)]}, 'a second cable joins "b" and "a"'),
        ({"placement": [0, 0]}, 'placement names "a" more often than its ranks = 1'),
        ({"placement": [9]}, "placement: node 9 is not in 0..1"),
    ],
)
def test_what_no_file_can_say_is_refused(values: dict[str, list[object]], message: str) -> None:
    sample = Blueprint("sample", [Node("a"), Node("b")], [Cable(0, 1, 1e6)])
    with pytest.raises(InvalidInput) as error:
        sample.replace(**values)  # type: ignore[arg-type]
    assert error.value.message == f'network "sample": {message}'


@pytest.mark.parametrize(
    "cable", [Cable(0, 0, 1e6), Cable(0, 1, 0.0), Cable(0, 1, math.nan), Cable(0, 1, 1e6, None, -1)]
)
def test_what_building_refuses(cable: Cable) -> None:
    with pytest.raises(InvalidInput, match="link 0"):
        Network.build(Blueprint("sample", [Node("a"), Node("b")], [cable]))


def edits_of_text(source: str) -> list[str]:
    """Where the text of a network becomes a network: who changes one by its text must read the text again."""
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and node.attr == "from_text" and ast.unparse(node.value) == "Network"
    ]


def test_no_module_reads_the_text_of_a_network_that_it_wrote() -> None:
    assert edits_of_text('Network.from_text(re.sub("latency", "", network.to_toml()))') == ["line 1: Network.from_text"]
    modules = [path for folder in ("python/hocket", "perf") for path in sorted((ROOT / folder).rglob("*.py"))]
    modules.remove(ROOT / "python/hocket/networks/source.py")  # it sends networks to other processes as their text
    assert len(modules) > 100
    assert {str(path): found for path in modules if (found := edits_of_text(path.read_text()))} == {}
