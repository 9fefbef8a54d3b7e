# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Circuits that stay up between collectives: against an exhaustive search, and the what-if of [Takizawa]'s table 4."""

from __future__ import annotations

import csv
import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

from hocket import InvalidInput
from hocket.circuits.network import CircuitNetwork
from hocket.circuits.reuse import CircuitCall, CircuitReuse, CircuitReuseRequest, calls_of, run
from hocket.circuits.steps import Pairs, algorithms_in_steps, degree
from hocket.requests import from_json, to_json
from hocket.traces.trace import Trace
from hocket.traces.traced_rank import OwnCommunicator, TracedRank, new_calls

_SEED = 20261124
GOLDEN = Path(__file__).parent.parent / "golden/circuits.csv"
IDEAL_S = 1.82  # table 4 of [Takizawa]: the program without set-up
#: NPB FT class A on 16 ranks as [Takizawa] counts its collectives: 1 barrier, 2 bcast, 8 alltoall, 6 reduce.
FT = (
    CircuitCall("barrier", 0),
    CircuitCall("bcast", 4),
    CircuitCall("bcast", 16),
    CircuitCall("alltoall", 524_288, times=2),
    *(CircuitCall("alltoall", 524_288), CircuitCall("reduce", 16)) * 6,
)
OF_THE_PAPER = ("alltoall:recursive_doubling", "barrier:recursive_doubling", "bcast:binomial", "reduce:binomial")


def _network(**changed: object) -> CircuitNetwork:
    values = {"ranks": 16, "ports": 4, "setup_s": 0.005, "teardown_s": 0.005, "latency_s": 1e-4}
    return CircuitNetwork(**{**values, "bandwidth_bytes_per_s": 125e6, **changed})  # type: ignore[arg-type]


def test_ft_of_the_paper() -> None:
    rows = [row for row in csv.DictReader(GOLDEN.open()) if row["collective"] == "ft.A"]
    assert len(rows) == 14
    for row in rows:
        half_s = 0.01 if "hidden" in row["figure"] else 0.005
        accounting = "hidden" if "hidden" in row["figure"] else "equations"
        network = _network(ports=int(row["k"] or 4), setup_s=half_s, teardown_s=half_s, accounting=accounting)
        found = run(CircuitReuseRequest(FT, network, OF_THE_PAPER))
        reused_s = {"naive": found.naive_s, "proposed": found.batches_s}.get(row["algorithm"], found.total_s)
        assert IDEAL_S + reused_s - found.messages_s == pytest.approx(float(row["value_s"]), abs=1e-9), row
        assert found.is_least
        _check(found)


def _check(found: CircuitReuse) -> None:
    """Every step is made once, under a configuration that has its circuits, with the ports of the network."""
    network = found.request.network
    configurations = 0
    messages_s = 0.0
    up: tuple[int, ...] = ()
    for done in found.done:
        known = algorithms_in_steps(done.collective, done.bytes, done.root, network, found.request.algorithms)
        way = next(one for one in known if one.algorithm == done.algorithm)
        order = [frozenset(found.sets[step]) for batch in done.batches for step in batch.steps]
        assert order == list(way.steps) or (
            way.in_any_order and set(order) == set(way.steps) and len(order) == len(way.steps)
        )
        assert done.batches[0].up == up
        for batch in done.batches:
            assert set(batch.steps) <= set(batch.up)
            assert degree({pair for number in batch.up for pair in found.sets[number]}) <= network.ports
        up = done.batches[-1].up
        configurations += len(done.batches) - 1
        messages_s += way.messages_s
    assert configurations == found.configurations
    assert found.total_s == pytest.approx(messages_s + network.connection_s(found.configurations))
    assert found.total_s <= found.batches_s + 1e-12
    assert found.batches_s <= found.naive_s + 1e-12


def _exhaustive_s(request: CircuitReuseRequest) -> float:
    """Every algorithm and order of steps of every call; for each such sequence every sequence of configurations."""
    network = request.network
    per_call = []
    for call in request.calls:
        sequences = []
        for way in algorithms_in_steps(call.collective, call.bytes, call.root, network, request.algorithms):
            orders = itertools.permutations(way.steps) if way.in_any_order else [way.steps]
            sequences += [(way.messages_s, order) for order in orders]
        per_call.append(sequences)
    sets = {step for sequences in per_call for _, order in sequences for step in order}
    fits = [
        set(chosen)
        for count in range(len(sets) + 1)
        for chosen in itertools.combinations(sorted(sets, key=sorted), count)
        if degree(frozenset().union(*chosen)) <= network.ports
    ]
    best_s = float("inf")
    for program in itertools.product(*per_call):
        steps = [step for _, order in program for step in order]
        # The longest run of steps under one configuration is the best: what can do more steps can do fewer.
        at = configurations = 0
        while at < len(steps):
            at = max(_end(steps, at, one) for one in fits)
            configurations += 1
        best_s = min(best_s, sum(one[0] for one in program) + network.connection_s(configurations))
    return best_s


def _end(steps: list[Pairs], at: int, up: set[Pairs]) -> int:
    while at < len(steps) and steps[at] in up:
        at += 1
    return at


@pytest.mark.parametrize("accounting", ["equations", "hidden"])
def test_nothing_takes_less(accounting: str) -> None:
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    for _ in range(60):
        p = chance.choice([3, 4, 5, 6, 8])
        network = _network(
            ranks=p, ports=chance.randint(2, 4), accounting=accounting, setup_s=chance.choice([1e-4, 0.01])
        )
        calls = tuple(
            CircuitCall(
                chance.choice(["bcast", "reduce", "allgather", "allreduce", "barrier"]),
                chance.choice([1, 100_000]),
                chance.randrange(p),
            )
            for _ in range(chance.randint(1, 3))
        )
        request = CircuitReuseRequest(calls, network)
        found = run(request)
        assert found.is_least
        _check(found)
        assert found.total_s == pytest.approx(_exhaustive_s(request), rel=1e-12), request


def test_circuits_for_later_use_ports_that_are_free() -> None:
    """On 4 nodes three ports hold all circuits: the first configuration has those of the later calls too."""
    calls = (CircuitCall("allgather", 1), CircuitCall("barrier", 0), CircuitCall("alltoall", 1))
    found = run(CircuitReuseRequest(calls, _network(ranks=4, ports=3)))
    assert found.configurations == 1


def test_a_ring_stays_up_where_circuits_take_long() -> None:
    calls = (CircuitCall("bcast", 1000, times=20), CircuitCall("allgather", 1000, times=3))
    found = run(CircuitReuseRequest(calls, _network(ranks=8, ports=2)))
    assert {one.algorithm for one in found.done} == {"ring"}
    assert found.configurations == 1
    assert found.is_least


def test_a_ring_alone_may_be_named() -> None:
    """It has no closed form of its own: beside it stand the others."""
    found = run(CircuitReuseRequest((CircuitCall("bcast", 1000),), _network(ports=2), ("bcast:ring",)))
    assert [one.algorithm for one in found.done] == ["ring"]
    other = run(
        CircuitReuseRequest((CircuitCall("bcast", 1000),), _network(ports=2), ("bcast:linear", "bcast:binomial"))
    )
    assert found.naive_s == other.naive_s


def test_many_steps_are_scheduled_all_the_same() -> None:
    calls = (CircuitCall("alltoall", 100_000, times=3), CircuitCall("bcast", 1))
    found = run(CircuitReuseRequest(calls, _network(ranks=32, ports=3), ("alltoall:pairwise",)))
    assert not found.is_least
    _check(found)


def test_the_request_is_plain_data() -> None:
    request = CircuitReuseRequest(FT, _network(), OF_THE_PAPER)
    assert from_json(to_json(request)) == request


def _trace(folder: Path) -> Trace:
    """Of four ranks: a barrier, two broadcasts from rank 1, and a broadcast among ranks 0 and 1 alone."""
    ranks = []
    for rank in range(4):
        calls = new_calls(4 if rank < 2 else 3)
        calls["function"] = [0, 1, 1, 1][: len(calls)]
        calls["communicator"] = [0, 0, 0, 1][: len(calls)]
        calls["bytes"] = [-1, 1000, 1000, 8][: len(calls)]
        calls["root"] = [-1, 1, 1, 0][: len(calls)]
        calls["enter_ns"] = [10, 20, 30, 40][: len(calls)]
        calls["exit_ns"] = calls["enter_ns"] + 5
        known = [OwnCommunicator([0, 1, 2, 3]), OwnCommunicator([0, 1], made_by=0, parent=0)]
        ranks.append(TracedRank(calls, ["MPI_Barrier", "MPI_Bcast"], known[: 2 if rank < 2 else 1]))
    return Trace.create(folder, ranks)


def test_the_collectives_of_a_trace(tmp_path: Path, hocket_cli: Any) -> None:
    calls, left_out = calls_of(_trace(tmp_path / "trace"))
    assert calls == (CircuitCall("barrier", 0), CircuitCall("bcast", 1000, root=1, times=2))
    assert left_out == ["1 call left out: on smaller communicators"]
    options = ("--circuits", "--latency", "100us", "--bandwidth", "1Gbit/s", "--setup", "5ms", "--teardown", "5ms")
    done = hocket_cli("schedule", tmp_path / "trace", *options, "--ports", "2", "--json")
    assert done.returncode == 0, done.stderr
    assert "1 call left out" in done.stderr
    values = json.loads(done.stdout)
    network = _network(ranks=4, ports=2)
    assert values["total_s"] == pytest.approx(run(CircuitReuseRequest(calls, network)).total_s)
    done = hocket_cli("schedule", tmp_path / "trace", *options, "--ports", "2", "--use", "bcast:binomial")
    assert "binomial" in done.stdout
    for wrong, said in (
        (("--ports", "2", "--segments", "3"), "--segments does not apply"),
        ((), "needs --ports"),
        (("--ports", "2", "--use", "bcast:foo"), "accepted: bcast:linear"),
    ):
        done = hocket_cli("schedule", tmp_path / "trace", *options, *wrong)
        assert done.returncode != 0
        assert said in done.stderr


@pytest.mark.parametrize(
    ("calls", "changed", "algorithms", "message"),
    [
        ((), {}, (), "no collective"),
        ((CircuitCall("scan", 1),), {}, (), 'unknown collective "scan"'),
        (FT, {"ports": 0}, (), "number of ports is 0"),
        (FT, {}, ("bcast:foo",), "bcast:foo: no closed form"),
        (FT, {}, ("foo",), "foo"),
        (FT, {"setup_s": -1.0}, (), "setup is -1"),
    ],
)
def test_what_is_refused(
    calls: tuple[CircuitCall, ...], changed: dict[str, object], algorithms: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        run(CircuitReuseRequest(calls, _network(**changed), algorithms))
