# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Requests: their form in JSON, and that Python gets what the command line prints."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket import CostModel, InvalidInput, Network
from hocket.cost_source import CostSource
from hocket.network_source import NetworkSource
from hocket.requests import from_json, key, run, to_json
from hocket.simulate_request import SimulateRequest

STAR = NetworkSource("star:4", "1 Gbit/s", "50 us")
MEASURED = {"setup_s", "solve_s", "cpu_s", "search_s", "peak_rss_bytes"}  # they differ from run to run
ON_STAR = ("--network", "star:4", "--bandwidth", "1 Gbit/s", "--latency", "50 us")


def same_from_json(request: Any) -> Any:
    """The request, once it has been text, with all that equal requests have in common."""
    read = from_json(to_json(request))
    assert read == request
    assert hash(read) == hash(request)
    assert key(read) == key(request)
    assert pickle.loads(pickle.dumps(request)) == request
    return read


def without_measured(values: Any) -> Any:
    if isinstance(values, dict):
        return {name: without_measured(value) for name, value in values.items() if name not in MEASURED}
    return [without_measured(value) for value in values] if isinstance(values, (list, tuple)) else values


@pytest.fixture
def printed(hocket_cli: Callable[..., Any]) -> Callable[..., Any]:
    """What a command prints with --json."""

    def call(*arguments: str | Path) -> Any:
        done = hocket_cli(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return without_measured(json.loads(done.stdout))

    return call


SIMULATIONS = {
    ("random-ring", "--messages", "3", "--bytes", "10 kB", "--bytes-spread", "0.5", "--seed", "7"): SimulateRequest(
        "random-ring", STAR, messages=3, bytes=10_000, spread=0.5, seed=7
    ),
    ("nearest-neighbour", "--grid", "2x2", "--periodic", "--sharing", "equal", "--links"): SimulateRequest(
        "nearest-neighbour", STAR, CostSource(sharing="equal"), grid=(2, 2), periodic=True, links=True
    ),
    ("bcast", "--bytes", "1 MB", "--pieces", "8", "--root", "1", "--order", "depth-first"): SimulateRequest(
        "bcast", STAR, bytes=1_000_000, pieces=8, root=1, order="depth-first"
    ),
    ("bcast:binomial", "--bytes", "1 kB", "--send-overhead", "3 us", "--rendezvous", "1 kB"): SimulateRequest(
        "bcast:binomial", STAR, CostSource(send_overhead_s=3e-6, rendezvous_bytes=1000), bytes=1000
    ),
}


@pytest.mark.parametrize(("arguments", "request_"), SIMULATIONS.items())
def test_simulate(printed: Callable[..., Any], arguments: tuple[str, ...], request_: SimulateRequest) -> None:
    done = run(same_from_json(request_))
    assert done.completed
    assert without_measured(json.loads(json.dumps(done.values))) == printed("simulate", *arguments, *ON_STAR)


def test_a_network_and_costs_as_values_are_plain_in_a_request() -> None:
    network, costs = Network.generate("two-clusters:2+2"), CostModel(1e-6, 2e-6)
    request = same_from_json(
        SimulateRequest("bcast:binomial", NetworkSource.of(network), CostSource(costs), bytes=1000)
    )
    assert request.network.load() == network
    assert request.costs.model(network) == costs
    named = run(SimulateRequest("bcast:binomial", NetworkSource("two-clusters:2+2"), CostSource(costs), bytes=1000))
    assert run(request).values["results"] == named.values["results"]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (SimulateRequest("shift", STAR, pieces=2), "pieces does not apply to shift"),
        (SimulateRequest("shift", STAR, CostSource(send_overhead_s=1e-6)), "costs beside sharing do not apply"),
        (SimulateRequest("bcast", STAR, messages=2), "messages does not apply to collective"),
    ],
)
def test_what_means_nothing_for_a_simulation_is_refused(request_: SimulateRequest, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        run(request_)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ("[]", "its kind is missing"),
        ('{"request": "simulate", "network": {"name": "star:4"}}', "'what' is missing"),
        ('{"request": "simulate", "what": "bcast", "network": {"name": "star:4"}, "size": 1}', "unknown 'size'"),
        ('{"request": "simulate", "what": "bcast", "network": {"name": 4}}', r"request.network.name: 4; accepted: str"),
        ('{"request": "simulate", "what": "shift", "network": {"name": "star:4"}, "seed": true}', "seed: True"),
    ],
)
def test_json_that_is_no_request_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        from_json(text)
