# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a replay cannot simulate is told, in text, JSON and on the page; nothing is dropped without a word."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket.traces.replay import replay
from hocket.traces.trace import Trace
from hocket.traces.traced_rank import OwnCommunicator, TracedRank, new_calls

RANKS = 2


def traced(folder: Path, calls: list[tuple[str, dict[str, Any]]], **more: Any) -> Trace:
    """Both ranks make the same calls, one after another, on MPI_COMM_WORLD unless they say otherwise."""
    functions = ["MPI_Init", *dict.fromkeys(name for name, _ in calls), "MPI_Finalize"]
    rows = new_calls(len(calls) + 2)
    for i, (name, values) in enumerate([("MPI_Init", {}), *calls, ("MPI_Finalize", {})]):
        rows[i]["function"] = functions.index(name)
        rows[i]["enter_ns"], rows[i]["exit_ns"] = 1000 * i, 1000 * i + 100
        for key, value in ({"communicator": 0} | values).items():
            rows[i][key] = value
    world = OwnCommunicator(range(RANKS), **more.pop("world", {}))
    rank = TracedRank(rows, functions, [world], **more)
    return Trace.create(folder, [rank] * RANKS)


@pytest.mark.parametrize(
    ("name", "values", "calls", "size", "reason"),
    [
        ("MPI_Put", {"communicator": -1, "window": 0, "peer": 1, "bytes": 10}, 2, 20, "making of its window"),
        ("MPI_Comm_dup", {}, 2, 0, "is not modelled"),
        ("MPI_Win_allocate", {"window": 0}, 2, 0, "is not modelled"),
        ("MPI_Neighbor_alltoall", {"bytes": 8}, 2, 16, "neighbours or sizes were not recorded"),
        ("MPI_Alltoallv", {"bytes": 8}, 2, 16, "sizes were not recorded"),
        ("MPI_Bcast", {"communicator": -1, "bytes": 8}, 2, 16, "communicator was not recorded"),
        ("MPI_Send", {"peer": 1, "tag": 0, "bytes": 7, "error": 5}, 2, 14, "the call failed"),
        ("MPI_Barrier", {"thread": 1}, 2, 0, "another thread"),
        ("MPI_Recv", {"peer": -2, "tag": 0, "bytes": 7}, 2, 14, "its partner was not recorded"),
        ("MPI_Irecv", {"peer": -2, "tag": 0, "bytes": 7, "communicator": 0, "request": 0}, 2, 14, "its partner was"),
        ("MPI_Send", {"peer": 5, "tag": 0, "bytes": 7}, 2, 14, "not a rank of the communicator"),
    ],
)
def test_each_is_named_with_its_reason(
    tmp_path: Path, name: str, values: dict[str, Any], calls: int, size: int, reason: str
) -> None:
    (found,) = replay(traced(tmp_path / "trace", [(name, values)])).left_out
    assert (found.function, found.calls, found.bytes) == (name, calls, size)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("name", "function", "size"), [("MPI_Send", "messages sent", 22), ("MPI_Recv", "messages received", 22)]
)
def test_messages_without_a_counterpart(tmp_path: Path, name: str, function: str, size: int) -> None:
    (found,) = replay(traced(tmp_path / "trace", [(name, {"peer": 1, "tag": 0, "bytes": 11})])).left_out
    assert (found.function, found.calls, found.bytes) == (function, 2, size)


def test_what_does_not_communicate_is_not_named(tmp_path: Path) -> None:
    local = ["MPI_Comm_rank", "MPI_Type_commit", "MPI_Test", "MPI_Iprobe", "MPI_Win_test", "MPI_Pready"]
    names = [(name, {"window": 0} if "Win" in name else {}) for name in local]
    assert replay(traced(tmp_path / "trace", names)).left_out == []
    to_nobody = [(name, {"peer": -1, "tag": 0, "bytes": 7}) for name in ("MPI_Send", "MPI_Recv", "MPI_Irecv")]
    assert replay(traced(tmp_path / "nobody", to_nobody)).left_out == []


def test_neighbours_of_a_trace_made_elsewhere(tmp_path: Path) -> None:
    # Each rank sends to both, itself and the other, and gets from both.
    both = {"neighbours": ([0, 1], [0, 1])}
    trace = traced(tmp_path / "trace", [("MPI_Neighbor_alltoall", {"bytes": 8})], world=both)
    assert trace.core.neighbours(1, 0) == ([0, 1], [0, 1])
    trace.write(tmp_path / "again")
    assert Trace.open(tmp_path / "again").core == trace.core
    replayed = replay(trace)
    assert replayed.left_out == []
    sends = [op for rank in range(RANKS) for op in replayed.program.ops(rank) if op.kind == "send"]
    assert [(op.peer, op.bytes) for op in sends] == [(0, 8), (1, 8)] * 2


def test_in_text_json_and_page(tmp_path: Path, hocket_cli: Callable[..., Any]) -> None:
    traced(tmp_path / "trace", [("MPI_Put", {"window": 0, "peer": 1, "bytes": 1000})])
    line = "Not simulated: 2 calls of MPI_Put, 2,000 bytes: the making of its window was not recorded."
    command = ("simulate", "trace", "--network", "star:2", "--bandwidth", "1GB/s")
    shown = hocket_cli(*command, "-o", "result")
    assert shown.returncode == 0, shown.stderr
    assert line in shown.stdout
    page = (tmp_path / "result" / "report.html").read_text()
    assert "the making of its window was not recorded" in page
    (result,) = json.loads(hocket_cli(*command, "--json").stdout)["results"]
    assert result["left_out"] == [
        {"function": "MPI_Put", "reason": "the making of its window was not recorded", "calls": 2, "bytes": 2000}
    ]
    traced(tmp_path / "whole", [("MPI_Barrier", {})])
    whole = hocket_cli("simulate", "whole", *command[2:])
    assert "Every recorded call that moves data is simulated." in whole.stdout


def test_a_damaged_list_of_neighbours_is_refused(tmp_path: Path) -> None:
    from hocket.errors import InvalidInput

    for neighbours in (([2], []), ([], [-2])):
        with pytest.raises(InvalidInput, match="neighbour"):
            traced(tmp_path / "trace", [("MPI_Barrier", {})], world={"neighbours": neighbours})
