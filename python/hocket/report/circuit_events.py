# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Circuits as trace events: process 3 has the ports of hosts, a thread for each, and counts how many are in use;
process 4 has the hosts, with the times in which messages of them wait.

Transfers lie within the time in which their circuit is up. Where the teardown of a circuit runs beside the set-up of
the next one on its port, the port has a second thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hocket.report.circuits_over_time import PHASES, CircuitsOverTime, Span, phases
from hocket.report.event_parts import metadata, microseconds

PORTS, WAITING = 3, 4  #: process ids
MOST_CIRCUITS = 20_000


def circuit_events(shown: CircuitsOverTime) -> list[dict[str, Any]]:
    """Of the first `MOST_CIRCUITS` circuits."""
    events: list[dict[str, Any]] = [
        metadata("process_name", PORTS, 0, name="circuits: ports of hosts"),
        metadata("process_sort_index", PORTS, 0, sort_index=PORTS),
    ]
    of_port: dict[tuple[int, int], list[tuple[float, float, str, str, list[Span]]]] = {}
    for number, circuit in enumerate(shown.circuits[:MOST_CIRCUITS]):
        for own, other in ((0, 1), (1, 0)):
            peer = shown.node_names[circuit["nodes"][other]]
            slices = of_port.setdefault((circuit["nodes"][own], circuit["ports"][own]), [])
            slices += [
                (begin_s, end_s, phase, peer, shown.transfers[number] if phase == "up" else [])
                for begin_s, end_s, phase in phases(circuit)
            ]
    thread = 0
    for (node, port), slices in sorted(of_port.items()):
        lane_ends_s = [0.0]
        for begin_s, end_s, phase, peer, transfers in sorted(slices):
            lane = next((i for i, busy_s in enumerate(lane_ends_s) if busy_s <= begin_s), len(lane_ends_s))
            if lane == len(lane_ends_s):
                lane_ends_s.append(0.0)
            lane_ends_s[lane] = end_s
            events.append(_slice(f"{phase}: {peer}", phase, begin_s, end_s, PORTS, thread + lane))
            events += [_slice(f"transfer: {peer}", "transfer", *span, PORTS, thread + lane) for span in transfers]
        for lane in range(len(lane_ends_s)):
            name = f"{shown.node_names[node]} port {port}" + (f" ({lane + 1})" if lane else "")
            events.append(metadata("thread_name", PORTS, thread, name=name))
            events.append(metadata("thread_sort_index", PORTS, thread, sort_index=thread))
            thread += 1
    events += _occupancy(shown.circuits[:MOST_CIRCUITS])
    events += _waiting(shown)
    return events


def _slice(name: str, category: str, begin_s: float, end_s: float, process: int, thread: int) -> dict[str, Any]:
    begin_us = microseconds(begin_s)
    duration_us = max(0.0, round(microseconds(end_s) - begin_us, 6))
    return {"name": name, "cat": category, "ph": "X", "ts": begin_us, "dur": duration_us, "pid": process,
            "tid": thread, "args": {}}  # fmt: skip


def _waiting(shown: CircuitsOverTime) -> Iterator[dict[str, Any]]:
    """A thread for each host whose messages wait, as many slices as there may be circuits."""
    if not shown.waiting:
        return
    yield metadata("process_name", WAITING, 0, name="circuits: messages that wait")
    yield metadata("process_sort_index", WAITING, 0, sort_index=WAITING)
    left = MOST_CIRCUITS
    for thread, (host, spans) in enumerate(shown.waiting.items()):
        yield metadata("thread_name", WAITING, thread, name=f"{shown.node_names[host]} waiting")
        yield metadata("thread_sort_index", WAITING, thread, sort_index=thread)
        for span in spans[:left]:
            yield _slice("waiting", "waiting", *span, WAITING, thread)
        left -= min(left, len(spans))


def _occupancy(circuits: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """How many ports of all hosts are being set up, up, and being torn down: two for each circuit."""
    changes: dict[float, list[tuple[str, int]]] = {}
    for circuit in circuits:
        for begin_s, end_s, phase in phases(circuit):
            changes.setdefault(begin_s, []).append((phase, 2))
            changes.setdefault(end_s, []).append((phase, -2))
    counts = dict.fromkeys(PHASES, 0)
    for time_s, several in sorted(changes.items()):
        for phase, change in several:
            counts[phase] += change
        yield {"name": "ports in use", "ph": "C", "ts": microseconds(time_s), "pid": PORTS, "tid": 0,
               "args": dict(counts)}  # fmt: skip
