# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Schedules of non-blocking calls on which whole runs of the program decide.

hocket-compare measures calls that are waited for at once. Beside a computation, and moved on in the background, a
native call may take twice as long (docs/notebook/progress-with-plan.md). So where a schedule was not shown to be
slower, the program runs with and without it in turns, with progress in the background either way.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hocket.advise.advise import LEAST_GAIN
from hocket.tune.evidence import are_shorter

if TYPE_CHECKING:
    from hocket.advise import Choice
    from hocket.errors import Error
    from hocket.measure.runner import Run
    from hocket.tune.measurement import Measurement


def with_undecided(choices: Sequence[Choice], measured: Sequence[Measurement]) -> list[Measurement]:
    """`measured`, of these choices, with the undecided ones kept."""
    return [
        replace(one, reason="", by_runs=True) if _is_undecided(choice, one) else one
        for choice, one in zip(choices, measured, strict=True)
    ]


def _is_undecided(choice: Choice, found: Measurement) -> bool:
    """Its data are right, and it is not shown to be slower by more than a gain would have to be."""
    return (
        choice.group.nonblocking_calls > 0
        and found.equal is True
        and found.ratio is not None
        and found.ratio.high > 1 - LEAST_GAIN
        and found.reason != ""
    )


def refused(measured: Sequence[Measurement], tried: Sequence[Measurement]) -> list[Measurement]:
    """`measured`, where those kept in `tried` alone say that whole runs were not shown to be faster with them."""
    more = "; nor was the program with its schedule"
    return [
        replace(one, reason=one.reason + more) if other.by_runs else one
        for one, other in zip(measured, tried, strict=True)
    ]


def verdict(without: Sequence[Run], with_them: Sequence[Run], schedules: int) -> tuple[bool, str]:
    """Whether the program was shorter with so many schedules than without, and a note."""
    without_s, with_s = ([run.wall_s for run in runs] for runs in (without, with_them))
    kept = are_shorter(with_s, without_s)
    ending = "the plan has them" if kept else "not shown to be faster, so these calls stay native"
    note = (
        f"{schedules} schedule(s) of non-blocking calls did not gain enough in calls that are waited for at once. "
        f"The program took {statistics.median(without_s):.2f} s without them and "
        f"{statistics.median(with_s):.2f} s with them, progress in the background either way ({len(with_s)} runs of "
        f"each): {ending}"
    )
    return kept, note


def no_verdict(schedules: int, error: Error) -> str:
    """A note: one of these runs has failed."""
    why = str(error).splitlines()[0]
    return (
        f"{schedules} schedule(s) of non-blocking calls were left out, since one of the runs that decide on them "
        f"failed: {why}"
    )
