# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traces of other tools: what is written is read again, row for row."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket import InvalidInput
from hocket.traces.trace import Trace
from hocket.traces.traced_rank import CALL, COMPLETION, OwnCommunicator, TracedRank, new_calls

IDS = {"communicator": 2, "new_communicator": 2, "datatype": 2, "op": 1}
NUMBERS = {"root": -3, "peer": -2, "tag": -1, "receive_peer": -2, "receive_tag": -1, "bytes": -1, "receive_bytes": -1}


@st.composite
def rank_calls(draw: st.DrawFn, functions: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Rows, requests and blocks of one thread, whose times grow."""
    calls = new_calls(draw(st.integers(0, 12)))
    completions: list[tuple[int, int, int, int]] = []
    blocks: list[int] = []
    now_ns, cpu_ns = draw(st.integers(-(10**12), 10**12)), 0
    small = st.integers(0, 10**6)
    for call in calls:
        call["function"] = draw(st.integers(0, functions - 1))
        for name, number in IDS.items():
            call[name] = draw(st.integers(-1, number - 1))
        for name, least in NUMBERS.items():
            call[name] = draw(st.integers(least, 10**6))
        call["error"], call["flags"] = draw(st.integers(0, 99)), draw(st.integers(0, 7))
        call["request"] = draw(st.integers(0, 2**63))
        call["enter_ns"] = now_ns = now_ns + draw(small)
        call["exit_ns"] = now_ns = now_ns + draw(small)
        call["enter_cpu_ns"] = cpu_ns = cpu_ns + draw(small)
        call["exit_cpu_ns"] = cpu_ns = cpu_ns + draw(small)
        if draw(st.booleans()):
            call["calls"] = draw(st.integers(1, 10**9))
            call["outside_ns"] = draw(st.integers(0, int(call["exit_ns"] - call["enter_ns"])))
            call["outside_cpu_ns"] = draw(st.integers(0, int(call["exit_cpu_ns"] - call["enter_cpu_ns"])))
        if draw(st.booleans()):
            found = draw(st.lists(st.tuples(st.integers(1, 99), small, small, small), max_size=3))
            call["completions"], call["num_completions"] = len(completions), len(found)
            completions += found
            if found and call["request"] == 0:
                call["request"] = found[0][0]
        if draw(st.booleans()):
            call["blocks"] = len(blocks)
            for _ in range(2):
                sizes = draw(st.lists(small, max_size=3))
                blocks += [len(sizes), *sizes]
    return calls, np.array(completions, COMPLETION), np.array(blocks, np.int64)


@st.composite
def traced_ranks(draw: st.DrawFn) -> list[TracedRank]:
    number = draw(st.integers(1, 4))
    world = list(range(number))
    ranks = []
    for _ in world:
        functions = draw(st.lists(st.sampled_from(["MPI_Send", "MPI_Recv", "MPI_Bcast", "MPI_Wait"]), min_size=1))
        calls, completions, blocks = draw(rank_calls(len(functions)))
        ranks.append(
            TracedRank(
                calls,
                functions,
                [OwnCommunicator(world), OwnCommunicator(world[::-1], made_by=0, parent=0)],
                datatypes=[("MPI_INT", 4), ("MPI_DOUBLE", 8)],
                operators=[("MPI_SUM", True)],
                completions=completions,
                blocks=blocks,
                host=draw(st.text("abc-09.", max_size=64)),
                end=draw(st.sampled_from(["finalize", "exit", "abort", "limit", "cut off"])),
            )
        )
    return ranks


@given(traced_ranks())
def test_what_is_written_is_read_again(ranks: list[TracedRank]) -> None:
    with tempfile.TemporaryDirectory() as name:
        trace = Trace.create(Path(name) / "a", ranks, mpi="another tool's", program=["./app"])
        assert trace.hosts == tuple(rank.host for rank in ranks)
        assert trace.communicators[1].members == tuple(range(len(ranks)))[::-1] or len(ranks) == 1
        for number, rank in enumerate(ranks):
            rows = trace.calls(number)
            for field in set(CALL.names or ()) - {"function"}:
                np.testing.assert_array_equal(rows[field], rank.calls[field], field)
            assert list(trace.names(number)) == [rank.functions[f] for f in rank.calls["function"]]
            np.testing.assert_array_equal(trace.completions(number), rank.completions)
            for call in rows:
                for mine, told in zip(trace.blocks(number, call), _blocks(rank, call), strict=True):
                    np.testing.assert_array_equal(mine, told)
            assert trace.core.end(number) == rank.end
        trace.write(Path(name) / "b")
        again = Trace.open(Path(name) / "b")
        assert again.core == trace.core
        assert again.meta == trace.meta
        for number in range(len(ranks)):
            file = f"rank-{number:06}.bin"
            assert (Path(name) / "a" / file).read_bytes() == (Path(name) / "b" / file).read_bytes()


def _blocks(rank: TracedRank, call: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    at = int(call["blocks"])
    if at < 0:
        return rank.blocks[:0], rank.blocks[:0]
    sent = int(rank.blocks[at])
    received = int(rank.blocks[at + 1 + sent])
    return rank.blocks[at + 1 : at + 1 + sent], rank.blocks[at + 2 + sent : at + 2 + sent + received]


def test_a_folder_is_not_given_two_traces(tmp_path: Path) -> None:
    ranks = [TracedRank(new_calls(1), ["MPI_Init"], [OwnCommunicator([0])])]
    trace = Trace.create(tmp_path, ranks)
    with pytest.raises(InvalidInput, match="has a trace already"):
        trace.write(tmp_path)
    with pytest.raises(InvalidInput, match="has a trace already"):
        Trace.create(tmp_path, ranks)


def test_what_no_program_does_is_refused(tmp_path: Path) -> None:
    calls = new_calls(1)
    world = [OwnCommunicator([0])]
    with pytest.raises(InvalidInput, match=r"rank-000000.bin: .* function 0"):
        Trace.create(tmp_path, [TracedRank(calls, [], world)])
    calls["communicator"] = 7
    with pytest.raises(InvalidInput, match="communicator 7"):
        Trace.create(tmp_path, [TracedRank(calls, ["MPI_Barrier"], world)])
    with pytest.raises(InvalidInput, match="rank -1 of 1 members"):
        Trace.create(tmp_path, [TracedRank(new_calls(1), ["MPI_Barrier"], [OwnCommunicator([-1])])])
    with pytest.raises(InvalidInput, match="the end of a recording"):
        Trace.create(tmp_path, [TracedRank(new_calls(1), ["MPI_Barrier"], world, end="sudden")])
    with pytest.raises(InvalidInput, match="without ranks"):
        Trace.create(tmp_path, [])
