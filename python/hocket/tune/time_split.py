# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where the recorded run spent its time, what a plan could gain at best, and what this plan serves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hocket.advise.calls import as_even
from hocket.report.result import Served, TimeSplit

if TYPE_CHECKING:
    from hocket.advise import Choice
    from hocket.plan import Plan
    from hocket.traces.trace import Collective, Trace


def time_split(trace: Trace, collectives: Sequence[Collective], wall_s: float, choices: Sequence[Choice]) -> TimeSplit:
    """Of the recorded run, which took `wall_s`. `choices` have the wire limits of what a plan can serve."""
    from hocket.traces.time_split import split

    found = split(trace, collectives)
    saved_s = sum(
        choice.group.calls
        * max(0.0, (choice.group.recorded_s or 0.0) - choice.lower_bound_s)
        * len(choice.group.members)
        / trace.ranks
        for choice in choices
    )
    return TimeSplit(
        wall_s=wall_s,
        computation_s=found.computation_s,
        point_to_point_s=found.point_to_point_s,
        collectives_s=found.collectives_s,
        other_mpi_s=found.other_mpi_s,
        start_up_s=max(0.0, wall_s - found.span_s),
        waiting_s=found.waiting_s,
        at_wire_limit_s=max(0.0, wall_s - min(saved_s, found.collectives_s)),
    )


def served_by(plan: Plan, collectives: Sequence[Collective], ranks: int, in_background: bool) -> Served:
    """Of the collective calls of a run; a plan serves non-blocking and persistent calls `in_background` only."""
    calls = served_calls = 0
    time_ns = served_ns = 0
    for found in collectives:
        call = as_even(found)
        if len(call.members) < 2:
            continue
        took_ns = int((call.exit_ns - call.enter_ns).sum())
        calls += 1
        time_ns += took_ns
        root = call.root if call.root >= 0 else None
        if (
            (in_background or call.form == "blocking")
            and call.uniform
            and plan.entry_for(call.collective, call.members, call.bytes, root) is not None
        ):
            served_calls += 1
            served_ns += took_ns
    return Served(calls, served_calls, time_ns * 1e-9 / ranks, served_ns * 1e-9 / ranks)
