# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Predicts the wall time of a program with a plan from one recorded run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hocket.advise.advise import simulate_call
from hocket.plan import Plan

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.trace import Trace


def predict_program(trace: Trace, recorded_wall_s: float, plan: Plan, network: Network, costs: CostModel) -> float:
    """What the recorded run took, from MPI_Init to MPI_Finalize changed as the plan changes a replay of it.

    The trace is of a run on this very network. It is replayed twice: with native calls that take what was measured of
    them alone, and with the plan. What a replay leaves out or gets wrong, such as what ranks that poll take from those
    that compute, is in both, and cancels as far as it is in proportion to the time. Start-up, what comes after
    MPI_Finalize, and what it takes rank 0 to hand the plan out stay outside.
    """
    from hocket import simulate
    from hocket.replay import replay_at
    from hocket.tune.native_model import native_models

    native = native_models(plan, network, costs)
    before = replay_at(costs, trace, None, native)
    before_s, after_s = (
        simulate(replayed.program, network, costs).makespan_s
        for replayed in (before, replay_at(costs, trace, plan, native))
    )
    span_s = before.recorded_span_s * (after_s / before_s if before_s > 0 else 1.0)
    outside_s = max(0.0, recorded_wall_s - before.recorded_span_s)
    return outside_s + _share_s(plan, trace.ranks, network, costs) + span_s


def _share_s(plan: Plan, ranks: int, network: Network, costs: CostModel) -> float:
    """One native broadcast of the plan's text."""
    from hocket import Schedule
    from hocket._core import textbook_algorithm

    if ranks < 2:
        return 0.0
    size_bytes = len(plan.to_json().encode())
    schedule = Schedule.build("bcast", textbook_algorithm("bcast", ranks, size_bytes), ranks)
    return simulate_call(schedule, range(ranks), size_bytes, network, costs)
