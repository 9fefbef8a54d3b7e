# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Network files and units: reading is the inverse of writing, and any text is a network or refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from networks import tree_texts

from hocket import (
    InvalidInput,
    Network,
    parse_bandwidth,
    parse_bytes,
    parse_duration,
    print_bandwidth,
    print_bytes,
    print_duration,
)

NETWORKS = sorted((Path(__file__).parents[2] / "networks").glob("*.toml"))
NORMAL = st.floats(min_value=2.3e-308, allow_nan=False, allow_infinity=False)


def outcome(function: Callable[..., Any], *arguments: object) -> tuple[Any, InvalidInput | None]:
    """What the function returns, or how it refuses."""
    try:
        return function(*arguments), None
    except InvalidInput as error:
        return None, error


@given(NORMAL)
def test_durations_and_bandwidths_survive_printing(value: float) -> None:
    assert parse_duration(print_duration(value)) == value
    assert parse_bandwidth(print_bandwidth(value)) == value


@given(st.integers(0, 2**63 - 1))
def test_bytes_survive_printing(value: int) -> None:
    assert parse_bytes(print_bytes(value)) == value


@given(st.text())
def test_any_text_is_a_quantity_or_refused(text: str) -> None:
    for parse in (parse_bandwidth, parse_duration, parse_bytes):
        value, error = outcome(parse, text, "--option")
        if error is None:
            assert value >= 0
            assert math.isfinite(value)
        else:
            assert str(error).startswith("--option: ")
            assert "accepted units" in error.hint


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_printing_refuses_what_cannot_be_parsed(value: float) -> None:
    with pytest.raises(InvalidInput):
        print_duration(value)
    if value != math.inf:
        with pytest.raises(InvalidInput):
            print_bandwidth(value)
    with pytest.raises(InvalidInput):
        print_bytes(-1)


@given(tree_texts())
def test_reading_is_the_inverse_of_writing(text: str) -> None:
    network = Network.from_text(text)
    assert network.is_tree
    again = Network.from_text(network.to_toml())
    assert again == network
    assert again.to_toml() == network.to_toml()


@given(tree_texts(), st.data())
def test_edited_text_is_a_network_or_refused_with_its_place(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 30)))
    edited = text[:start] + data.draw(st.text(max_size=10)) + text[end:]
    network, error = outcome(Network.from_text, edited, "edited.toml")
    if error is None:
        assert Network.from_text(network.to_toml()) == network
    else:
        assert str(error).startswith("edited.toml")


@given(tree_texts(), st.data())
def test_routes_are_paths(text: str, data: st.DataObject) -> None:
    network = Network.from_text(text)
    ranks = st.integers(0, network.num_ranks - 1)
    source, target = data.draw(ranks), data.draw(ranks)
    at = network.rank_nodes[source]
    for index in network.route(source, target):
        link = network.links[index]
        assert link.source == at
        at = link.target
    assert at == network.rank_nodes[target]
    order = network.depth_first_order(source)
    assert sorted(order) == list(range(network.num_ranks))


@pytest.mark.parametrize("path", NETWORKS, ids=lambda path: path.stem)
def test_shipped_networks_are_readable_trees(path: Path) -> None:
    network = Network.from_file(path)
    assert network.name == path.stem
    assert network.is_tree
    assert network.num_ranks >= 8
    assert Network.from_text(network.to_toml()) == network


def test_values_of_python_are_checked() -> None:
    network = Network.generate("star:4", bandwidth="1 GB/s", latency=1e-6)
    assert network.links[0].bandwidth_bytes_per_s == 1e9
    assert network.links[0].latency_s == 1e-6
    for rank in (-1, 4):
        with pytest.raises(InvalidInput, match="expected 0 to 3"):
            network.route(0, rank)
        with pytest.raises(InvalidInput, match="expected 0 to 3"):
            network.depth_first_order(rank)
    for bad in ({"bandwidth": 0.0}, {"latency": math.nan}, {"trunk_bandwidth": 1.0}, {"bandwidth": "1"}):
        with pytest.raises(InvalidInput):
            Network.generate("star:4", **bad)
