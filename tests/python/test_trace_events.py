# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The Perfetto trace: valid by the Trace Event format, and true to the simulation."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hocket import CostModel, Fabric, Network
from hocket.report.recorded_simulation import RecordedSimulation
from hocket.report.simulation import write_trace
from hocket.report.trace_events import LINKS, MOST_LINKS, RANKS
from hocket.simulation.patterns import Pattern
from hocket.simulation.programs import ProgramOptions, Request, simulate_what
from hocket.simulation.record import recorded_program, recorded_traffic
from hocket.simulation.traffic import MOST_RANKS_RECORDED, RunOptions, simulate_pattern

# The Trace Event format: what its sections on common fields, complete events, counters and metadata require.
_COMMON = {
    "name": {"type": "string"},
    "pid": {"type": "integer"},
    "tid": {"type": "integer"},
    "cat": {"type": "string"},
    "args": {"type": "object"},
}
_TIME = {"type": "number", "minimum": 0}
_NUMBERS = {"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 1}


def _event(phase: str, required: list[str], **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"ph": {"const": phase}, **_COMMON, **more},
        "required": ["name", "ph", "pid", "tid", "args", *required],
        "additionalProperties": False,
    }


SCHEMA = {
    "type": "object",
    "properties": {
        "traceEvents": {
            "type": "array",
            "items": {
                "oneOf": [
                    _event("X", ["ts", "dur"], ts=_TIME, dur=_TIME),
                    _event("C", ["ts"], ts=_TIME, args=_NUMBERS),
                    _event("M", [], name={"enum": ["process_name", "process_sort_index", "thread_name",
                                                   "thread_sort_index"]}),
                ]
            },
        },
        "displayTimeUnit": {"enum": ["ms", "ns"]},
        "otherData": {"type": "object"},
    },
    "required": ["traceEvents"],
    "additionalProperties": False,
}  # fmt: skip


def pattern_run(network: str, **pattern: Any) -> tuple[Any, RecordedSimulation]:
    done = simulate_pattern(Pattern(**pattern), lambda: Fabric.generate(network), RunOptions(record=True))
    return done.result, recorded_traffic(done, done.to_dict())


def checked(simulation: RecordedSimulation, folder: Path) -> dict[str, Any]:
    path = folder / "trace.json"
    write_trace(simulation, path)
    trace: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(trace, SCHEMA)
    events = trace["traceEvents"]
    # events of one thread do not overlap, which viewers would take for nesting
    by_thread = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            by_thread[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in by_thread.values():
        spans.sort()
        assert all(later[0] >= earlier[1] - 1e-5 for earlier, later in itertools.pairwise(spans))
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    assert set(by_thread) <= named
    # time of a counter goes forward, and it ends at 0
    counters = defaultdict(list)
    for event in events:
        if event["ph"] == "C":
            assert event["pid"] == LINKS
            counters[event["name"]].append((event["ts"], event["args"]["percent"]))
    for values in counters.values():
        assert values == sorted(values, key=lambda value: value[0])
        assert values[-1][1] == 0
        assert all(0 <= percent <= 100.001 for _, percent in values)
    return trace


@pytest.mark.parametrize("name", ["random-permutation", "nearest-neighbour", "all-to-all"])
def test_every_message_and_link_of_a_small_network(tmp_path: Path, name: str) -> None:
    result, simulation = pattern_run("fat-tree:2x2x4", name=name, messages=2)
    trace = checked(simulation, tmp_path)
    messages = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(messages) == result.num_messages
    assert sum(event["args"]["bytes"] for event in messages) == 10**6 * result.num_messages
    assert max(event["ts"] + event["dur"] for event in messages) == pytest.approx(1e6 * result.makespan_s)
    assert {event["pid"] for event in messages} == {RANKS}
    assert trace["otherData"]["ranks_left_out"] == 0


def test_a_large_network_is_cut_and_says_so(tmp_path: Path) -> None:
    _, simulation = pattern_run("fat-tree:16x16x32", name="random-permutation", messages=2)
    trace = checked(simulation, tmp_path)
    other = trace["otherData"]
    threads = sum(event["name"] == "thread_name" for event in trace["traceEvents"])
    assert threads == MOST_RANKS_RECORDED
    assert other["ranks_in_simulation"] == 8192
    assert other["ranks_left_out"] == 8192 - MOST_RANKS_RECORDED
    assert other["links_left_out"] > 0
    assert len({event["name"] for event in trace["traceEvents"] if event["ph"] == "C"}) == MOST_LINKS


def test_a_program(tmp_path: Path) -> None:
    network = Network.generate("two-clusters:4+4", latency="10 us")
    (done,), _ = simulate_what(
        "allreduce:ring", network, Request(10**6), CostModel.usual(), None, ProgramOptions(record=True)
    )
    values = {"results": [done.to_dict(network)]}
    trace = checked(recorded_program(done, network, values), tmp_path)
    kinds = {event["cat"] for event in trace["traceEvents"] if event["ph"] == "X"}
    assert kinds == {"send", "recv", "reduce"}
    carried = {event["name"] for event in trace["traceEvents"] if event["ph"] == "C"}
    assert "s0 → s1" in carried
