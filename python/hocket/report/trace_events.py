# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A simulation as a trace for Perfetto (ui.perfetto.dev) and chrome://tracing: the Trace Event format [TraceEvent16].

Process 1 has the ranks, a thread for each and more where operations overlap; process 2 the links, a counter for each;
process 3 the ports of hosts, where the network has circuits. Times are microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hocket.report.circuit_events import MOST_CIRCUITS, circuit_events
from hocket.report.event_parts import metadata, microseconds

if TYPE_CHECKING:
    from hocket.report.recorded_simulation import RecordedSimulation

RANKS, LINKS = 1, 2  #: process ids
MOST_LINKS = 64  #: counters
MOST_LANES = 16  #: threads of a rank
_LABELS = {"send": "send to", "recv": "receive from", "compute": "compute", "reduce": "combine",
           "connect": "connect to", "disconnect": "disconnect from"}  # fmt: skip


def trace_events(simulation: RecordedSimulation) -> dict[str, Any]:
    """What json.dumps makes a file of."""
    events: list[dict[str, Any]] = [
        metadata("process_name", RANKS, 0, name="ranks"),
        metadata("process_sort_index", RANKS, 0, sort_index=RANKS),
        metadata("process_name", LINKS, 0, name="links: % of the bandwidth in use"),
        metadata("process_sort_index", LINKS, 0, sort_index=LINKS),
    ]
    too_many_at_once = _add_ranks(simulation, events)
    links_left_out = _add_links(simulation, events)
    circuits = simulation.circuits
    if circuits is not None:
        events += circuit_events(circuits)
    timeline = simulation.timeline
    return {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {
            "title": simulation.title,
            "completed": simulation.completed,
            "makespan_s": simulation.makespan_s,
            "ranks_in_simulation": timeline.ranks,
            "ranks_left_out": timeline.ranks - len(timeline.ranks_shown),
            "operations_of_shown_ranks_left_out": simulation.num_left_out + too_many_at_once,
            "links_left_out": links_left_out,
            "circuits_left_out": 0 if circuits is None else max(0, len(circuits.circuits) - MOST_CIRCUITS),
        },
    }


def _add_ranks(simulation: RecordedSimulation, events: list[dict[str, Any]]) -> int:
    """Returns how many operations were left out, more of a rank at a time than it has lanes."""
    bars = simulation.timeline.bars
    of_rank: dict[int, list[int]] = {rank: [] for rank in simulation.timeline.ranks_shown}
    for i in sorted(range(len(bars)), key=lambda i: (bars.start_s[i], bars.end_s[i])):
        if bars.rank[i] in of_rank:
            of_rank[bars.rank[i]].append(i)
    left_out, thread = 0, 0
    for rank, members in of_rank.items():
        lane_ends_s: list[float] = []  # events of one thread may not overlap
        first = thread
        for i in members:
            free = (lane for lane, end_s in enumerate(lane_ends_s) if end_s <= bars.start_s[i])
            lane = next(free, len(lane_ends_s))
            if lane == MOST_LANES:
                left_out += 1
                continue
            if lane == len(lane_ends_s):
                lane_ends_s.append(0)
            lane_ends_s[lane] = bars.end_s[i]
            start_us = microseconds(bars.start_s[i])
            arguments: dict[str, Any] = {"operations": bars.count[i]}
            name = _LABELS[bars.kind[i]]
            if bars.kind[i] not in ("compute", "reduce"):
                name += f" {bars.peer[i]}" if bars.peer[i] >= 0 else " several"
            if bars.kind[i] in ("send", "recv", "reduce"):
                arguments["bytes"] = bars.bytes[i]
            events.append(
                {
                    "name": name,
                    "cat": bars.kind[i],
                    "ph": "X",
                    "ts": start_us,
                    "dur": max(0.0, round(microseconds(bars.end_s[i]) - start_us, 6)),
                    "pid": RANKS,
                    "tid": first + lane,
                    "args": arguments,
                }
            )
        for lane in range(max(1, len(lane_ends_s))):
            name = f"rank {rank}" + (f" ({lane + 1})" if lane else "")
            events.append(metadata("thread_name", RANKS, thread, name=name))
            events.append(metadata("thread_sort_index", RANKS, thread, sort_index=thread))
            thread += 1
    return left_out


def _add_links(simulation: RecordedSimulation, events: list[dict[str, Any]]) -> int:
    """The links that are used most, or rows of them; returns how many links, some of them used, were left out."""
    import numpy as np

    time = simulation.link_time
    share = time.bytes.sum(axis=1) / time.bandwidth_of_row
    order = np.argsort(-share, kind="stable")[:MOST_LINKS]
    order = order[share[order] > 0]
    first = _first_capacities(time.row_of_capacity, len(time.capacities_in_row)) if len(order) else None
    for row in order:
        assert first is not None
        name = simulation.capacity_name(int(first[row]))
        if time.capacities_in_row[row] > 1:
            name = f"{time.group_names[time.group_of_row[row]]}: {time.capacities_in_row[row]} links from {name}"
        percents = np.round(100 * time.bytes[row] / (time.bandwidth_of_row[row] * time.bin_s), 3).tolist()
        before = None
        for b, percent in enumerate([*percents, 0.0]):
            if percent != before:
                events.append(
                    {
                        "name": name,
                        "ph": "C",
                        "ts": microseconds(b * time.bin_s),
                        "pid": LINKS,
                        "tid": 0,
                        "args": {"percent": percent},
                    }
                )
            before = percent
    return int(time.capacities_in_row[share > 0].sum() - time.capacities_in_row[order].sum())


def _first_capacities(row_of_capacity: Any, num_rows: int) -> Any:
    """The first capacity of each row."""
    import numpy as np

    first = np.zeros(num_rows, dtype=np.int64)
    first[row_of_capacity[::-1]] = np.arange(len(row_of_capacity) - 1, -1, -1)
    return first
