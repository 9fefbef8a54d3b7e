# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Predicts the wall time of a program with a plan from one recorded run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hocket.plan import Plan
from hocket.search.predict import simulate_call
from hocket.tune.native_model import native_models, textbook_entry

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.traces.trace import Collective, Trace


def predict_program(trace: Trace, recorded_wall_s: float, plan: Plan, network: Network, costs: CostModel) -> float:
    """What the recorded run took, from MPI_Init to MPI_Finalize changed as the plan changes a replay of it.

    The trace is of a run on this very network. So what the calls that the plan serves took natively is known, and need
    not be simulated: beside the replay with the plan stands one in which these calls carry no bytes, and to that comes
    their recorded time. What a replay leaves out or gets wrong, such as what ranks that poll take from those that
    compute, is in both, and cancels as far as it is in proportion to the time. Start-up, what comes after MPI_Finalize,
    and what it takes rank 0 to hand the plan out stay outside.

    Where what the program has started goes on in the background, the recorded run did not have that, and a replay has
    it: started calls go on beside the computation. Then the replay with the plan is the prediction, whole.
    """
    from hocket import simulate
    from hocket.traces.replay import NativeModel, replay_at

    after = replay_at(costs, trace, plan)
    outside_s = max(0.0, recorded_wall_s - after.recorded_span_s) + _share_s(plan, trace.ranks, network, costs)
    if plan.progress != "off" and starts_calls(trace):
        return outside_s + simulate(after.program, network, costs).makespan_s
    calls_s = served_s(trace.collectives(), plan)
    if calls_s is None:
        native = native_models(plan, network, costs)
    else:
        native = [NativeModel(textbook_entry(entry), 0.0) for entry in plan.entries]
    before_s, after_s = (
        simulate(replayed.program, network, costs).makespan_s
        for replayed in (replay_at(costs, trace, None, native), after)
    )
    before_s += calls_s or 0.0
    return outside_s + after.recorded_span_s * (after_s / before_s if before_s > 0 else 1.0)


def starts_calls(trace: Trace) -> bool:
    """That are waited for later: collectives or large messages."""
    return not {"MPI_Isend", "MPI_Issend", "MPI_Irecv"}.isdisjoint(trace.functions) or any(
        call.form != "blocking" for call in trace.collectives()
    )


def served_s(calls: Iterable[Collective], plan: Plan) -> float | None:
    """For how long at least one of the calls that the plan serves was under way, all its ranks having come.

    None where some are not blocking: nothing says how long the program had to wait for those.
    """
    served = [call for call in calls if plan.entry_for(call.collective, call.members, call.bytes, _root(call))]
    if any(call.form != "blocking" for call in served):
        return None
    total_ns = end_ns = 0
    for start_ns, exit_ns in sorted((call.last_enter_ns, call.last_exit_ns) for call in served):
        total_ns += max(0, exit_ns - max(start_ns, end_ns))
        end_ns = max(end_ns, exit_ns)
    return total_ns * 1e-9


def _root(call: Collective) -> int | None:
    return call.root if call.root >= 0 else None


def _share_s(plan: Plan, ranks: int, network: Network, costs: CostModel) -> float:
    """One native broadcast of the plan's text."""
    from hocket import Schedule
    from hocket._core import textbook_algorithm

    if ranks < 2:
        return 0.0
    size_bytes = len(plan.to_json().encode())
    schedule = Schedule.build("bcast", textbook_algorithm("bcast", ranks, size_bytes), ranks)
    return simulate_call(schedule, range(ranks), size_bytes, network, costs)
