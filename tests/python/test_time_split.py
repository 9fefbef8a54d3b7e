# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where a recorded run spent its time, by calls made up here."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from hocket.advise import CallGroup
from hocket.plan import Plan, PlanEntry
from hocket.traces.time_split import split
from hocket.traces.trace import CALL, Collective
from hocket.tune.time_split import served_by, time_split

FUNCTIONS = [
    "MPI_Init", "MPI_Finalize", "MPI_Send", "MPI_Irecv", "MPI_Waitall", "MPI_Wait", "MPI_Allreduce", "MPI_Ibcast",
    "MPI_Comm_split", "MPI_Reduce_scatter_block_c", "MPI_Sendrecv_replace",
]  # fmt: skip
SECOND = 10**9


class MadeTrace:
    """Of each rank: (function, enter in s, exit in s, request, thread)."""

    functions = FUNCTIONS

    def __init__(self, *ranks):
        self.ranks = len(ranks)
        self._calls = [self._rows(rows) for rows in ranks]

    def calls(self, rank):
        return self._calls[rank]

    @staticmethod
    def _rows(rows):
        calls = np.zeros(len(rows), CALL)
        for call, (name, enter_s, exit_s, *more) in zip(calls, rows, strict=True):
            call["function"] = FUNCTIONS.index(name)
            call["enter_ns"], call["exit_ns"] = round(enter_s * SECOND), round(exit_s * SECOND)
            call["request"], call["thread"], call["outside_ns"] = (*more, 0, 0, 0)[:3]
        return calls


def collective(name="allreduce", enter_s=(1.0, 1.0), exit_s=(2.0, 2.0), size=8, members=(0, 1), **more):
    enter_ns, exit_ns = (np.array([round(time * SECOND) for time in times]) for times in (enter_s, exit_s))
    given = {"form": "blocking", "uniform": True, "root": -1, **more}
    return Collective(
        collective=name, communicator=0, members=members, bytes=size, op="", commutative=True, datatype="MPI_BYTE",
        in_place=False, first_enter_ns=int(enter_ns.min()), last_enter_ns=int(enter_ns.max()),
        last_exit_ns=int(exit_ns.max()), enter_ns=enter_ns, exit_ns=exit_ns, **given,
    )  # fmt: skip


RANK = [
    ("MPI_Init", 0, 1),
    ("MPI_Comm_split", 1, 1.25),
    ("MPI_Send", 2, 2.5),
    ("MPI_Irecv", 2.5, 2.5, 7),
    ("MPI_Waitall", 2.5, 3, 7),
    ("MPI_Allreduce", 4, 6),
    ("MPI_Ibcast", 6, 6, 8),
    ("MPI_Wait", 6.5, 7, 8),
    ("MPI_Reduce_scatter_block_c", 7, 8),
    ("MPI_Sendrecv_replace", 8, 8.25),
    ("MPI_Finalize", 9, 10),
]


def test_the_parts_of_a_run():
    found = split(MadeTrace(RANK, RANK), [])
    assert (found.point_to_point_s, found.collectives_s, found.other_mpi_s) == (1.25, 3.5, 0.25)
    assert found.computation_s == 8 - 5
    assert found.span_s == 8  # from the end of MPI_Init to MPI_Finalize


def test_means_over_the_ranks_and_calls_of_other_threads():
    idle = [("MPI_Init", 0, 1), ("MPI_Finalize", 9, 10)]
    beside = [*RANK[:-1], ("MPI_Allreduce", 1, 9, 0, 1), RANK[-1]]
    found = split(MadeTrace(beside, idle), [])
    assert found.collectives_s == 3.5 / 2
    assert found.computation_s == (3 + 8) / 2


def test_what_lies_between_polls_is_computation():
    polls = [RANK[0], ("MPI_Wait", 2, 8, 7, 0, 4 * SECOND), RANK[-1]]
    found = split(MadeTrace(polls), [])
    assert (found.point_to_point_s, found.computation_s) == (2, 6)


def test_a_trace_without_calls_or_ends():
    assert split(MadeTrace([], []), []).span_s == 0
    assert split(MadeTrace(RANK[2:5]), []).span_s == 1  # from the first call to the last


def test_waiting_for_late_ranks():
    late = collective(enter_s=(4, 5.5), exit_s=(6, 6))
    early = collective("bcast", enter_s=(1, 2), exit_s=(1.5, 2.5))  # rank 0 left before rank 1 came
    hidden = collective(form="nonblocking", enter_s=(0, 9), exit_s=(10, 10))
    found = split(MadeTrace(RANK, RANK), [late, early, hidden])
    assert found.waiting_s == (1.5 + 0.5) / 2
    assert split(MadeTrace(RANK, RANK), [late] * 100).waiting_s == 3.5  # never more than all collectives


def choice(recorded_s, lower_bound_s, calls=10, members=(0, 1)):
    return SimpleNamespace(
        group=CallGroup("allreduce", members, 8, 8, (0,), calls, True, recorded_s), lower_bound_s=lower_bound_s
    )


def test_what_is_possible_at_best():
    trace = MadeTrace(RANK, RANK)
    found = time_split(trace, [], 12.0, [choice(0.2, 0.1), choice(0.4, 0.2, members=(0,)), choice(0.1, 0.5)])
    parts = (found.computation_s, found.point_to_point_s, found.collectives_s, found.other_mpi_s, found.start_up_s)
    assert sum(parts) == found.wall_s == 12.0
    assert found.start_up_s == 4.0
    # 10 calls of 0.1 s less; 10 of 0.2 s less on one of two ranks; nothing that is faster than its limit already
    assert found.at_wire_limit_s == pytest.approx(12 - 1 - 1)
    assert found.without_collectives_s == 12 - 3.5
    assert time_split(trace, [], 12.0, [choice(9.0, 0.0)]).at_wire_limit_s == 12 - 3.5
    assert time_split(trace, [], 12.0, [choice(None, 0.1)]).at_wire_limit_s == 12


def test_what_the_plan_serves():
    entry = PlanEntry("allreduce", (0, 1), 8, 64, "ring")
    rooted = PlanEntry("bcast", (0, 1), 8, 64, "linear", root=1)
    plan = Plan(2, "star", (entry, rooted))
    calls = [
        collective(),  # served: 1 s on each rank
        collective("bcast", root=1, exit_s=(1.5, 2)),  # served
        collective("bcast", root=0),
        collective(size=128),
        collective(uniform=False),
        collective(form="nonblocking"),
        collective(members=(1,), enter_s=(1,), exit_s=(2,)),  # nothing to serve
    ]
    found = served_by(plan, calls, 2, False)
    assert (found.calls, found.served_calls, found.time_s, found.served_s) == (6, 2, 5.75, 1.75)
    assert served_by(plan, calls, 2, True).served_calls == 3
