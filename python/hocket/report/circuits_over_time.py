# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the circuits of a simulation do over time: set-up, up, transfers, teardown; and messages that wait for them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hocket import Network, Program
    from hocket._core import CircuitTimeline

PHASES = ("set up", "up", "tear down")
Span = tuple[float, float]  # begin and end, in seconds


@dataclass(frozen=True)
class CircuitMessage:
    """From one host to another."""

    source: int  #: host
    target: int
    ready_s: float  #: when its send began
    begin_s: float  #: on the circuit; before that it waits
    end_s: float  #: when it has arrived


@dataclass(frozen=True)
class CircuitsOverTime:
    circuits: Sequence[dict[str, Any]]  #: as `CircuitTimeline.circuits` has them
    node_names: Sequence[str]
    messages: Sequence[CircuitMessage] = ()
    ports: int = 0  #: of all hosts together, at the beginning

    @cached_property
    def transfers(self) -> list[list[Span]]:
        """Of each circuit, when messages are on the way in either direction; in the order of time, apart."""
        of_pair: dict[tuple[int, int], list[tuple[float, int]]] = defaultdict(list)
        for number, circuit in enumerate(self.circuits):
            of_pair[circuit["nodes"]].append((circuit["setup_s"][1], number))
        spans: list[list[Span]] = [[] for _ in self.circuits]
        for message in self.messages:
            # A pair has one circuit at a time: the last that was open when the message began.
            known = of_pair.get((min(message.source, message.target), max(message.source, message.target)), [])
            place = bisect_right(known, (message.begin_s * (1 + 1e-9) + 1e-12, len(self.circuits))) - 1
            if place >= 0:
                number = known[place][1]
                (_, open_s), (teardown_s, _) = self.circuits[number]["setup_s"], self.circuits[number]["teardown_s"]
                span = max(message.begin_s, open_s), min(message.end_s, teardown_s)
                if span[1] > span[0]:
                    spans[number].append(span)
        return [joined(several) for several in spans]

    @cached_property
    def waiting(self) -> dict[int, list[Span]]:
        """Of each host, when a message of it waits for a circuit or for its turn."""
        spans: dict[int, list[Span]] = defaultdict(list)
        for message in self.messages:
            if message.begin_s > message.ready_s:
                spans[message.source].append((message.ready_s, message.begin_s))
        return {host: joined(several) for host, several in sorted(spans.items())}


def circuits_over_time(program: Program, timeline: CircuitTimeline, network: Network) -> CircuitsOverTime:
    """Of a simulation on a network with circuits, on which a message takes the latency and bandwidth of its route."""
    return CircuitsOverTime(
        timeline.circuits,
        [node.name for node in network.nodes],
        [*_messages(program, timeline, network), *_hops(timeline)],
        _ports(network),
    )


def _ports(network: Network) -> int:
    rules = network.circuits or {"ports": 0, "node_ports": {}}
    return sum(rules["node_ports"].get(host, rules["ports"]) for host in set(network.rank_hosts))


def _hops(timeline: CircuitTimeline) -> Iterator[CircuitMessage]:
    for hop in timeline.hops:
        yield CircuitMessage(*hop["nodes"], *hop["time_s"])


def _messages(program: Program, timeline: CircuitTimeline, network: Network) -> Iterator[CircuitMessage]:
    """Those that took one circuit."""
    relayed = {(hop["rank"], hop["op"]) for hop in timeline.hops}
    hosts = network.rank_hosts
    links = network.links
    routes: dict[tuple[int, int], tuple[float, float]] = {}
    for rank in range(program.num_ranks):
        starts_s, ends_s = timeline.start_s(rank).tolist(), timeline.end_s(rank).tolist()
        for i, op in enumerate(program.ops(rank)):
            if op.kind != "send" or hosts[rank] == hosts[op.peer] or math.isnan(ends_s[i]) or (rank, i) in relayed:
                continue
            if (rank, op.peer) not in routes:
                route = [links[link] for link in network.route(rank, op.peer)]
                bandwidth = min((link.bandwidth_bytes_per_s for link in route), default=math.inf)
                routes[rank, op.peer] = sum(link.latency_s for link in route), bandwidth
            latency_s, bandwidth_bytes_per_s = routes[rank, op.peer]
            begin_s = max(starts_s[i], ends_s[i] - op.bytes / bandwidth_bytes_per_s)
            yield CircuitMessage(hosts[rank], hosts[op.peer], starts_s[i], begin_s, ends_s[i] + latency_s)


def phases(circuit: dict[str, Any]) -> Iterator[tuple[float, float, str]]:
    """Those that take time."""
    (setup_s, open_s), (teardown_s, down_s) = circuit["setup_s"], circuit["teardown_s"]
    for begin_s, until_s, phase in zip(
        (setup_s, open_s, teardown_s), (open_s, teardown_s, down_s), PHASES, strict=True
    ):
        if until_s > begin_s:
            yield begin_s, until_s, phase


def joined(spans: Iterable[Span]) -> list[Span]:
    """In the order of time; what overlaps or touches is one."""
    found: list[Span] = []
    for begin_s, end_s in sorted(spans):
        if found and begin_s <= found[-1][1]:
            found[-1] = found[-1][0], max(end_s, found[-1][1])
        else:
            found.append((begin_s, end_s))
    return found
