# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Predicts the wall time of a program with a plan from one recorded run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hocket.advise import MessageCosts
from hocket.advise.advise import simulate_call
from hocket.plan import Plan

if TYPE_CHECKING:
    from hocket import Network
    from hocket.trace import Trace


def predict_program(trace: Trace, recorded_wall_s: float, plan: Plan, network: Network, costs: MessageCosts) -> float:
    """The replayed time from MPI_Init to MPI_Finalize, and what the run spends outside them.

    That is what the recorded run spent there, and what it takes rank 0 to hand the plan out at the end of MPI_Init.
    """
    from hocket.replay import replay_at

    replayed = replay_at(costs, trace, plan)
    outside_s = max(0.0, recorded_wall_s - replayed.recorded_span_s)
    return (
        outside_s + _share_s(plan, trace.ranks, network, costs) + costs.simulate(replayed.program, network).makespan_s
    )


def _share_s(plan: Plan, ranks: int, network: Network, costs: MessageCosts) -> float:
    """One native broadcast of the plan's text."""
    from hocket import Schedule
    from hocket._core import textbook_algorithm

    if ranks < 2:
        return 0.0
    size_bytes = len(plan.to_json().encode())
    schedule = Schedule.build("bcast", textbook_algorithm("bcast", ranks, size_bytes), ranks)
    return simulate_call(schedule, range(ranks), size_bytes, network, costs)
