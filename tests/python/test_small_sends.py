# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

from pathlib import Path

import pytest

from hocket import CostModel, Trace
from hocket.traces.small_sends import LEAST_SENDS, SMALL_BYTES, costs_in_program, small_send_s
from hocket.traces.traced_rank import OwnCommunicator, TracedRank, new_calls

HOSTS = ("a", "a", "b", "b")
FUNCTIONS = ["MPI_Init", "MPI_Send", "MPI_Isend", "MPI_Recv", "MPI_Finalize"]


def sends(folder: Path, sent: list[tuple[str, int, int, int, float]]) -> Trace:
    """Rank 0 calls these: function, communicator, peer there, bytes, microseconds. Communicator 1 is ranks 3 and 0."""
    ranks = []
    for rank in range(len(HOSTS)):
        rows = [("MPI_Init", 0, -1, 0, 1.0), *(sent if rank == 0 else []), ("MPI_Finalize", 0, -1, 0, 1.0)]
        calls = new_calls(len(rows))
        for row, (name, communicator, peer, size, took_us), start in zip(
            calls, rows, range(1000, 1000 + 50_000 * len(rows), 50_000), strict=True
        ):
            row["function"], row["peer"], row["bytes"] = FUNCTIONS.index(name), peer, size
            row["communicator"], row["tag"] = communicator, 0
            row["enter_ns"], row["exit_ns"] = start, start + round(1000 * took_us)
        known = [OwnCommunicator(range(len(HOSTS))), *([OwnCommunicator([3, 0], made_by=0)] if rank in (0, 3) else [])]
        ranks.append(TracedRank(calls, FUNCTIONS, known, host=HOSTS[rank]))
    return Trace.create(folder, ranks)


FAR = [("MPI_Send", 0, 2, 8, 5.0), ("MPI_Send", 1, 0, SMALL_BYTES, 7.0)]
NOT_COUNTED = [
    ("MPI_Send", 0, 1, 8, 0.3),  # in the host
    ("MPI_Send", 0, 2, SMALL_BYTES + 1, 30.0),
    ("MPI_Isend", 0, 2, 8, 0.2),
    ("MPI_Send", 0, -1, 8, 0.1),  # to MPI_PROC_NULL
    ("MPI_Send", 0, 77, 8, 0.1),  # to nobody
    ("MPI_Send", -1, 0, 8, 0.1),
    ("MPI_Send", 0, 2, -1, 0.1),
]


def test_small_messages_to_other_hosts_count(tmp_path: Path) -> None:
    trace = sends(tmp_path / "trace", FAR * (LEAST_SENDS // 2) + NOT_COUNTED * LEAST_SENDS)
    assert small_send_s(trace) == pytest.approx(6e-6)


def test_few_say_nothing(tmp_path: Path) -> None:
    costs = CostModel.usual()
    few = sends(tmp_path / "few", FAR[:1] * (LEAST_SENDS - 1) + NOT_COUNTED * LEAST_SENDS)
    assert small_send_s(few) is None
    assert costs_in_program(costs, few) == costs
    assert small_send_s(sends(tmp_path / "none", [])) is None


def test_costs_are_bounded_and_not_raised(tmp_path: Path) -> None:
    trace = sends(tmp_path / "trace", FAR[:1] * LEAST_SENDS)
    dear = CostModel.usual().replace(send_overhead_s=9e-6, receive_overhead_s=4e-6, wake_s=2e-5)
    assert costs_in_program(dear, trace) == dear.replace(send_overhead_s=5e-6)
