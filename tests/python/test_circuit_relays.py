# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Messages that take several circuits, beside a simulation of stores that forward: of its own code."""

from __future__ import annotations

import heapq
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from hocket import Network, Program, simulate

_SEED = 20261126
_SETUP_S, _ALPHA, _BYTES_PER_S = 0.002, 1e-4, 125e6

_NETWORK = """format = "hocket.network/1"
[generate]
kind = "star"
shape = "{p}"
bandwidth = "1 Gbit/s"
latency = "50 us"
[circuits]
setup = "2 ms"
teardown = "1 ms"
ports = {ports}
injection = "{injection}"
blocked = "relay"
"""


def _network(folder: Path, p: int, ports: int, injection: str = "one") -> Network:
    (folder / "network.toml").write_text(_NETWORK.format(p=p, ports=ports, injection=injection))
    return Network.from_file(folder / "network.toml")


def _program(p: int, messages: list[tuple[int, int, int, int]]) -> Program:
    """(source, target, bytes, ns of computation before), each of its own tag."""
    lines: dict[int, list[str]] = defaultdict(list)
    for tag, (source, target, num_bytes, before_ns) in enumerate(messages):
        lines[source] += [f"c{tag}: calc {before_ns}", f"s{tag}: send {num_bytes}b to {target} tag {tag}"]
        lines[source] += [f"s{tag} requires c{tag}"]
        lines[target] += [f"r{tag}: recv {num_bytes}b from {source} tag {tag}"]
    ranks = [f"rank {rank} {{\n" + "\n".join(lines[rank]) + "\n}" for rank in range(p)]
    return Program.from_goal(f"num_ranks {p}\n" + "\n".join(ranks) + "\n")


def _ring_path(p: int, source: int, target: int) -> list[int]:
    """Of an odd number of nodes there is one that is shortest."""
    ahead = (target - source) % p
    step = 1 if ahead <= p // 2 else -1
    return [(source + step * hop) % p for hop in range(min(ahead, p - ahead) + 1)]


def _expected_ends_s(
    p: int, messages: list[tuple[int, int, int, int]], injection: str, ready_s: list[float]
) -> list[float]:
    """When each message is at its target: a node sends what it has first, one at a time or one on each circuit."""
    ends_s = [0.0] * len(messages)
    paths = [_ring_path(p, source, target) for source, target, _, _ in messages]
    arrivals = [(ready_s[m], m, 0) for m in range(len(messages))]
    heapq.heapify(arrivals)
    free_s: dict[Any, float] = defaultdict(lambda: _SETUP_S)
    while arrivals:
        now_s, m, hop = heapq.heappop(arrivals)
        if hop == len(paths[m]) - 1:
            ends_s[m] = now_s
            continue
        sender = paths[m][hop] if injection == "one" else (paths[m][hop], paths[m][hop + 1])
        free_s[sender] = max(free_s[sender], now_s) + _ALPHA + messages[m][2] / _BYTES_PER_S
        heapq.heappush(arrivals, (free_s[sender], m, hop + 1))
    return ends_s


@pytest.mark.parametrize("injection", ["one", "all"])
def test_relays_on_a_ring_take_the_times_of_stores_that_forward(tmp_path: Path, injection: str) -> None:
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    for _ in range(30):
        p = chance.choice([3, 5, 7, 9])
        network = _network(tmp_path, p, 2, injection)
        messages = []
        for _ in range(chance.randint(1, 40)):
            source, target = chance.sample(range(p), 2)
            messages.append((source, target, chance.randint(1, 200_000), chance.randint(1, 9_000_000)))
        timeline: Any = simulate(
            _program(p, messages), network, ordered_pairs=False, circuit_policy="pinned",
            pinned=[(rank, (rank + 1) % p) for rank in range(p)],
        )  # fmt: skip
        # The computations of a rank run one after another.
        ready_s, clock_s = [], [0.0] * p
        for source, _, _, before_ns in messages:
            clock_s[source] += before_ns * 1e-9
            ready_s.append(clock_s[source])
        expected_s = _expected_ends_s(p, messages, injection, ready_s)
        found_s: dict[int, float] = {}
        program = _program(p, messages)
        for rank in range(p):
            for op, end_s in zip(program.ops(rank), timeline.end_s(rank).tolist(), strict=True):
                if op.kind == "recv":
                    found_s[op.tag] = end_s
        assert [found_s[m] for m in range(len(messages))] == pytest.approx(expected_s, rel=1e-9), (p, messages)
        hops = sum(len(_ring_path(p, source, target)) - 1 for source, target, _, _ in messages)
        one_hop = sum(len(_ring_path(p, source, target)) == 2 for source, target, _, _ in messages)
        assert len(timeline.hops) == hops - one_hop
        assert timeline.num_circuits == p
        assert timeline.num_messages == len(messages)


def test_segments_are_pipelined_over_relays(tmp_path: Path) -> None:
    messages = [(0, 3, 125_000, 0)] * 4
    pins = [(0, 1), (1, 2), (2, 3)]
    found: Any = simulate(
        _program(4, messages), _network(tmp_path, 4, 2), circuit_policy="pinned", pinned=[*pins, (3, 0)]
    )
    assert found.num_circuits == 4  # 3 is a neighbour
    line = _network(tmp_path, 4, 1)
    (tmp_path / "network.toml").write_text(
        (tmp_path / "network.toml").read_text() + '[[circuits.node]]\nname = "h1"\nports = 2\n'
        '[[circuits.node]]\nname = "h2"\nports = 2\n'
    )
    line = Network.from_file(tmp_path / "network.toml")
    found = simulate(_program(4, messages), line, circuit_policy="pinned", pinned=pins)
    # Four segments over three circuits: 4 + 3 - 1 steps.
    assert found.makespan_s == pytest.approx(_SETUP_S + 6 * (_ALPHA + 1e-3))
    assert found.circuits_end_s == pytest.approx(found.makespan_s + 0.001)


def test_any_program_ends_with_relays_under_lazy(tmp_path: Path) -> None:
    print(f"seed {_SEED}")
    chance = random.Random(_SEED)
    relayed = 0
    for _ in range(60):
        p = chance.randint(2, 10)
        network = _network(tmp_path, p, chance.randint(1, 3), chance.choice(["one", "all"]))
        messages = []
        for _ in range(chance.randint(1, 80)):
            source, target = chance.sample(range(p), 2)
            messages.append((source, target, chance.randint(1, 200_000), chance.randint(0, 3_000_000)))
        found: Any = simulate(_program(p, messages), network, circuit_policy="lazy")
        assert found.completed
        assert found.num_messages == len(messages)
        relayed += len(found.hops) > 0
        for hop in found.hops:  # each on a circuit that is up
            ready_s, begin_s, end_s = hop["time_s"]
            assert ready_s <= begin_s < end_s
            ends = tuple(sorted(hop["nodes"]))
            assert any(
                circuit["nodes"] == ends
                and circuit["setup_s"][1] <= begin_s
                and end_s <= circuit["teardown_s"][0] * (1 + 1e-12)
                for circuit in found.circuits
            )
    assert relayed > 5
