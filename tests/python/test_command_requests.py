# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Requests: their form in JSON, and that Python gets what the command line prints."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hocket import CostModel, InvalidInput, Network, Schedule
from hocket.advise.request import AdviseRequest
from hocket.bench.circuits.request import CircuitBenchRequest
from hocket.bench.fidelity.request import FidelityRequest
from hocket.bench.overlap.request import OverlapRequest
from hocket.calibrate.request import CalibrateRequest
from hocket.circuits.schedules import CircuitInstance, CircuitScheduleRequest
from hocket.cost.request import CostRequest
from hocket.cost.source import CostSource
from hocket.interop.networks import Options
from hocket.networks.request import GenerateRequest, ImportRequest, RouteRequest, ShowRequest
from hocket.networks.source import NetworkSource
from hocket.requests import KINDS, from_json, key, run, to_json
from hocket.schedules.request import CrossoverRequest, OptimalRequest, ScheduleRequest, SearchRequest
from hocket.simulation.request import SimulateRequest
from hocket.testbed.request import UpRequest
from hocket.traces.profile import ProfileRequest
from hocket.traces.recording import RecordRequest
from hocket.tune.demo import DemoRequest
from hocket.tune.request import TuneRequest
from hocket.tune.run import RunRequest

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
    ("bcast", "--bytes", "1 MB", "--segments", "8", "--root", "1", "--order", "depth-first"): SimulateRequest(
        "bcast", STAR, bytes=1_000_000, segments=8, root=1, order="depth-first"
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


SCHEDULES = {
    (
        "bcast",
        "--algorithm",
        "pipelined_chain",
        "--ranks",
        "4",
        "--segments",
        "3",
        "--order",
        "0,2,1,3",
    ): ScheduleRequest("bcast", "pipelined_chain", 4, segments=3, order=(0, 2, 1, 3)),
    ("allgather", "--bytes", "64 KiB", *ON_STAR): SearchRequest("allgather", STAR, 65536),
    ("barrier", *ON_STAR): SearchRequest("barrier", STAR),
    ("bcast", "--bytes", "1 MB", "--optimal", "--root", "2", *ON_STAR): OptimalRequest("bcast", STAR, 1_000_000, 2),
    ("reduce", "--crossover", *ON_STAR): CrossoverRequest("reduce", STAR),
    (
        "bcast",
        "--circuits",
        "--ranks",
        "6",
        "--ports",
        "2",
        "--bytes",
        "1 kB",
        "--latency",
        "100 us",
        "--bandwidth",
        "1 Gbit/s",
        "--setup",
        "5ms",
        "--teardown",
        "5ms",
        "--segments",
        "1",
    ): CircuitScheduleRequest(CircuitInstance("bcast", 6, 2, bytes=1000, s=5e-3, d=5e-3, alpha=1e-4, beta=1 / 125e6)),
}


@pytest.mark.parametrize(("arguments", "request_"), SCHEDULES.items())
def test_schedule(printed: Callable[..., Any], arguments: tuple[str, ...], request_: Any) -> None:
    done = run(same_from_json(request_))
    assert without_measured(json.loads(json.dumps(done.values))) == printed("schedule", *arguments)


COSTS = {
    ("bcast", "--ranks", "8", "--bytes", "1 MB", "--latency", "50 us", "--bandwidth", "1 Gbit/s"): CostRequest(
        "bcast", 1_000_000, 8, bandwidth_bytes_per_s=125e6, latency_s=50e-6
    ),
    ("allreduce", "--bytes", "1 MB", "--segments", "4", "--network", "star:4", "--latency", "50 us"): CostRequest(
        "allreduce", 1_000_000, segments=4, network=NetworkSource("star:4", latency="50 us"), latency_s=50e-6
    ),
}


@pytest.mark.parametrize(("arguments", "request_"), COSTS.items())
def test_cost(printed: Callable[..., Any], arguments: tuple[str, ...], request_: CostRequest) -> None:
    done = run(same_from_json(request_))
    assert json.loads(json.dumps(done.values)) == printed("cost", *arguments)


def test_a_schedule_is_read_from_its_file(tmp_path: Path) -> None:
    schedule = Schedule.build("bcast", "binomial", 4)
    (tmp_path / "schedule.json").write_text(schedule.to_json())
    assert run(ScheduleRequest(str(tmp_path / "schedule.json"))).schedule.to_json() == schedule.to_json()


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
        (SimulateRequest("shift", STAR, segments=2), "segments does not apply to shift"),
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
        (
            '{"request": "simulate", "what": "bcast", "network": {"name": 4}}',
            r"request.network.name: 4; accepted: text",
        ),
        ('{"request": "simulate", "what": "shift", "network": {"name": "star:4"}, "seed": true}', "seed: True"),
    ],
)
def test_json_that_is_no_request_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        from_json(text)


def test_pieces_in_requests_of_earlier_versions_are_segments() -> None:
    text = '{"request": "cost", "collective": "bcast", "bytes": 8, "%s": 3}'
    assert from_json(text % "pieces") == from_json(text % "segments") == CostRequest("bcast", 8, segments=3)
    with pytest.raises(InvalidInput, match="unknown 'pieces'"):
        from_json('{"request": "cost", "collective": "bcast", "bytes": 8, "pieces": 3, "segments": 3}')


def test_every_kind_is_a_frozen_value_with_a_function_that_runs_it() -> None:
    for where in KINDS.values():
        module, _, name = where.partition(":")
        kind = getattr(import_module(module), name)
        assert kind.__dataclass_params__.frozen, where
        assert callable(import_module(module).run), where


OTHERS = [
    TuneRequest(("mpiexec", "-n", "4", "./app"), STAR, Path("found"), CostSource(folder=Path("old")), measure_s=90.0),
    CalibrateRequest(("mpiexec", "-n", "4"), testbed=NetworkSource("star:4"), timeout_s=20.0),
    RecordRequest(("mpiexec", "-n", "4", "./app"), Path("trace"), limit_bytes=1 << 20),
    RunRequest(("mpiexec", "./app"), Path("plan.json"), Path("cluster.toml"), self_check=False, progress="auto"),
    DemoRequest("mpich-5.0.2", keep=True),
    AdviseRequest(Path("trace"), STAR, CostSource(CostModel.usual())),
    FidelityRequest(Path("out"), networks=(STAR, NetworkSource("a.toml")), sizes=(8, 1 << 20), launches=2),
    CircuitBenchRequest(ports=(2, 5), collectives=("bcast",), bandwidth="1 Gbit/s"),
    OverlapRequest(network=STAR, in_flight=(1, 4), ratio=0.5, modes=("nap-ovlp",)),
    ImportRequest("topology.conf", "slurm", Options(bandwidth="1 Gbit/s", ranks=2)),
    GenerateRequest("two-clusters:2+2", trunk_bandwidth="1 Gbit/s"),
    ProfileRequest(Path("trace")),
    UpRequest(STAR, "mine"),
]


@pytest.mark.parametrize("request_", OTHERS, ids=lambda request: type(request).__name__)
def test_what_needs_an_mpi_or_a_file_is_plain_data_too(request_: Any) -> None:
    same_from_json(request_)


def test_network(printed: Callable[..., Any]) -> None:
    shown = run(same_from_json(ShowRequest(NetworkSource("fat-tree:2x2x4"))))
    assert json.loads(json.dumps(shown.values)) == printed("network", "show", "fat-tree:2x2x4")
    found = run(same_from_json(RouteRequest(NetworkSource("fat-tree:2x2x4"), 0, 5)))
    assert found.values == printed("network", "show", "fat-tree:2x2x4", "--route", "0", "5")
    assert run(GenerateRequest("star:4", "1 Gbit/s", "50 us")).network == STAR.load()
