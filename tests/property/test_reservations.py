# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Reserved bandwidth on random networks: each transfer's windows are computed here again, from routes, latencies and
bandwidths alone, for what the search finds and for what the simulator makes of any messages."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from networks import tree_texts

from hocket import Network, Schedule, lower, simulate
from hocket.search.optimal import optimal_schedule


@dataclass(frozen=True)
class Passage:
    """A message with its times in ns."""

    source: int
    target: int
    bytes: int
    start_ns: Fraction


def rate_of(network: Network, passage: Passage) -> float:
    return min(network.links[link].bandwidth_bytes_per_s for link in network.route(passage.source, passage.target))


def duration_ns(network: Network, passage: Passage) -> Fraction:
    rate = rate_of(network, passage)
    return Fraction(0) if math.isinf(rate) else Fraction(passage.bytes * 10**9) / Fraction(rate)


def delay_ns(network: Network, source: int, target: int) -> int:
    return sum(round(network.links[link].latency_s * 1e9) for link in network.route(source, target))


def check_capacities(network: Network, passages: list[Passage], tolerance_ns: Fraction) -> None:
    """A passage is on link i of its route from its start plus the latencies up to and with i, for as long as its bytes
    take; what is on a link at once has no more than its bandwidth, nor what is on both directions of a half-duplex
    cable. Overlaps up to the tolerance are rounding."""
    on: dict[tuple[int, int], list[tuple[Fraction, Fraction, float]]] = defaultdict(list)
    room: dict[tuple[int, int], float] = {}
    for passage in passages:
        rate, begin_ns = rate_of(network, passage), passage.start_ns
        if math.isinf(rate):
            continue
        for number in network.route(passage.source, passage.target):
            link = network.links[number]
            begin_ns += round(link.latency_s * 1e9)
            ends = (link.source, link.target)
            key = (min(ends), max(ends)) if link.half_duplex else ends
            room[key] = link.bandwidth_bytes_per_s
            on[key].append((begin_ns, begin_ns + duration_ns(network, passage) - tolerance_ns, rate))
    for key, windows in on.items():
        for instant, _, _ in windows:  # the sum grows at beginnings only
            load = sum(rate for begin, end, rate in windows if begin <= instant < end)
            assert load <= room[key] * (1 + 1e-9), key


@given(tree_texts(), st.sampled_from(["bcast", "reduce"]), st.sampled_from([1, 1500, 10**6]), st.data())
def test_what_the_search_finds(text: str, collective: str, num_bytes: int, data: st.DataObject) -> None:
    network = Network.from_text(text)
    root = data.draw(st.integers(0, network.num_ranks - 1))
    found = optimal_schedule(network, collective, num_bytes, root, time_limit_s=0.2)
    passages = [Passage(t.source, t.target, num_bytes, Fraction(round(t.start_s * 1e9))) for t in found.transfers]
    check_capacities(network, passages, Fraction(0))
    assert len(passages) == network.num_ranks - 1
    has_all_ns = [Fraction(0)] * network.num_ranks
    for passage, transfer in zip(passages, found.transfers, strict=True):
        assert passage.start_ns >= has_all_ns[passage.source]
        arrival_ns = math.ceil(duration_ns(network, passage)) + delay_ns(network, passage.source, passage.target)
        arrival_ns += passage.start_ns
        assert 0 <= round(transfer.end_s * 1e9) - arrival_ns <= 1  # over unlimited links the search counts 1 ns
        has_all_ns[passage.target] = max(has_all_ns[passage.target], arrival_ns)
    receivers = {passage.target if collective == "bcast" else passage.source for passage in passages}
    assert receivers == set(range(network.num_ranks)) - {root}
    for reference in (False, True):
        timeline = simulate(found.timed_program, network, sharing="reserve", reference=reference)
        assert timeline.makespan_s <= found.makespan_s * (1 + 1e-12)
        assert timeline.makespan_s == pytest.approx(found.makespan_s, abs=1.01e-9, rel=1e-12)


@given(
    tree_texts(),
    st.sampled_from([("alltoall", "linear"), ("bcast", "binomial"), ("reduce", "linear"), ("allgather", "ring")]),
    st.integers(1, 10**6),
)
def test_what_the_simulator_makes_of_any_messages(text: str, algorithm: tuple[str, str], num_bytes: int) -> None:
    network = Network.from_text(text)
    schedule = Schedule.build(*algorithm, network.num_ranks)
    program = lower(schedule, num_bytes)
    timeline = simulate(program, network, sharing="reserve")
    plain = simulate(program, network, sharing="reserve", reference=True)
    passages = []
    for rank in range(network.num_ranks):
        assert timeline.end_s(rank) == pytest.approx(plain.end_s(rank), rel=1e-9)
        for op, end_s in zip(program.ops(rank), timeline.end_s(rank), strict=True):
            if op.kind == "send" and op.bytes > 0:
                message = Passage(rank, op.peer, op.bytes, Fraction(0))
                start_ns = Fraction(float(end_s)) * 10**9 - duration_ns(network, message)
                passages.append(Passage(rank, op.peer, op.bytes, start_ns))
    check_capacities(network, passages, Fraction(timeline.makespan_s) / 100)  # 1e-11 of it
