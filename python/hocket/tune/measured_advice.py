# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The schedules of an advice, measured beside the MPI's own functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hocket.advise import Advice, Choice, Verdict
from hocket.tune.trial import measure_choices

if TYPE_CHECKING:
    from hocket import Network
    from hocket.measure.compare import Measured
    from hocket.plan import PlanEntry
    from hocket.reporter import Reporter
    from hocket.tune.launcher import Launcher
    from hocket.tune.measurement import Measurement


def measure_advice(
    advice: Advice, network: Network, launcher: Launcher, launches: int, program_s: float, reporter: Reporter
) -> tuple[Advice, list[Measurement]]:
    """The advice with the fastest candidates, and the evidence for each entry of its plan.

    `program_s`: what the program took that made the calls which the advice is about. `launches`: of each schedule, at
    most; the launcher's budget is for all of them.
    """
    tried = in_plan(advice)
    if not tried:
        return advice, []
    budget = launcher.budget
    with reporter.stage(f"measuring {len(tried)} collective(s)", budget.left_s) as advance:

        def measure(entries: Sequence[PlanEntry], within_s: float, least: int, following: str) -> list[Measured | None]:
            advance(following)
            return launcher.compare(advice.plan.ranks, network, entries, within_s, least)

        found, measured = measure_choices(tried, program_s, launches, budget, measure)
    chosen = iter(found)
    choices = tuple(choice if choice.reason else next(chosen) for choice in advice.choices)
    plan = advice.plan.replace(entries=[choice.entry() for choice in choices if not choice.reason])
    return Advice(plan, choices), measured


def verdicts(advice: Advice, measured: Sequence[Measurement], mpi: str) -> list[Verdict]:
    """`measured`: of in_plan(advice), with the MPI of that name."""
    found = iter(measured)
    return [Verdict(choice, None) if choice.reason else next(found).verdict(choice, mpi) for choice in advice.choices]


def in_plan(advice: Advice) -> list[Choice]:
    """Those for which a schedule is predicted to be worth using."""
    return [choice for choice in advice.choices if not choice.reason]
