# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Circuits as trace events: process 3 has the ports of hosts, a thread for each, and counts how many are in use.

Where the teardown of a circuit runs beside the set-up of the next one on its port, the port has a second thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hocket.report.event_parts import metadata, microseconds

PORTS = 3  #: process id
MOST_CIRCUITS = 20_000
_PHASES = ("set up", "up", "tear down")


@dataclass(frozen=True)
class CircuitsOverTime:
    circuits: Sequence[dict[str, Any]]  #: as `CircuitTimeline.circuits` has them
    node_names: Sequence[str]


def circuit_events(shown: CircuitsOverTime) -> list[dict[str, Any]]:
    """Of the first `MOST_CIRCUITS` circuits."""
    events: list[dict[str, Any]] = [
        metadata("process_name", PORTS, 0, name="circuits: ports of hosts"),
        metadata("process_sort_index", PORTS, 0, sort_index=PORTS),
    ]
    of_port: dict[tuple[int, int], list[tuple[float, float, str, str]]] = {}
    for circuit in shown.circuits[:MOST_CIRCUITS]:
        for own, other in ((0, 1), (1, 0)):
            peer = shown.node_names[circuit["nodes"][other]]
            slices = of_port.setdefault((circuit["nodes"][own], circuit["ports"][own]), [])
            slices += [(begin_s, end_s, phase, peer) for begin_s, end_s, phase in _phases(circuit)]
    thread = 0
    for (node, port), slices in sorted(of_port.items()):
        lane_ends_s = [0.0]
        for begin_s, end_s, phase, peer in sorted(slices):
            lane = next((i for i, busy_s in enumerate(lane_ends_s) if busy_s <= begin_s), len(lane_ends_s))
            if lane == len(lane_ends_s):
                lane_ends_s.append(0.0)
            lane_ends_s[lane] = end_s
            begin_us = microseconds(begin_s)
            duration_us = max(0.0, round(microseconds(end_s) - begin_us, 6))
            events.append(
                {"name": f"{phase}: {peer}", "cat": phase, "ph": "X", "ts": begin_us, "dur": duration_us,
                 "pid": PORTS, "tid": thread + lane, "args": {}}
            )  # fmt: skip
        for lane in range(len(lane_ends_s)):
            name = f"{shown.node_names[node]} port {port}" + (f" ({lane + 1})" if lane else "")
            events.append(metadata("thread_name", PORTS, thread, name=name))
            events.append(metadata("thread_sort_index", PORTS, thread, sort_index=thread))
            thread += 1
    events += _occupancy(shown.circuits[:MOST_CIRCUITS])
    return events


def _phases(circuit: dict[str, Any]) -> Iterator[tuple[float, float, str]]:
    (setup_s, open_s), (teardown_s, down_s) = circuit["setup_s"], circuit["teardown_s"]
    for begin_s, end_s, phase in zip((setup_s, open_s, teardown_s), (open_s, teardown_s, down_s), _PHASES, strict=True):
        if end_s > begin_s:
            yield begin_s, end_s, phase


def _occupancy(circuits: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """How many ports of all hosts are being set up, up, and being torn down: two for each circuit."""
    changes: dict[float, list[tuple[str, int]]] = {}
    for circuit in circuits:
        for begin_s, end_s, phase in _phases(circuit):
            changes.setdefault(begin_s, []).append((phase, 2))
            changes.setdefault(end_s, []).append((phase, -2))
    counts = dict.fromkeys(_PHASES, 0)
    for time_s, several in sorted(changes.items()):
        for phase, change in several:
            counts[phase] += change
        yield {"name": "ports in use", "ph": "C", "ts": microseconds(time_s), "pid": PORTS, "tid": 0,
               "args": dict(counts)}  # fmt: skip
