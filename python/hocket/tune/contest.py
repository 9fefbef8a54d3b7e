# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which of several schedules for the same calls is used, and the evidence that it is faster than native.

A trial launch of each candidate chooses; the evidence comes from launches after it. So the winner keeps no luck from
the contest, as it would if the same times chose and proved.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hocket.tune.compare import Measurement
from hocket.tune.evidence import Launch

if TYPE_CHECKING:
    from hocket.advise import Choice
    from hocket.plan import PlanEntry

# Measures entries of a plan, in one launch: for each its times and whether its data are equal.
MeasureOnce = Callable[[Sequence["PlanEntry"]], list[tuple[Launch, bool]]]


def select(choices: Sequence[Choice], measure: MeasureOnce) -> list[Choice]:
    """The choices; `best` of each is now the candidate that gained most over native, among those with equal data."""
    contests = [choice for choice in choices if choice.runners_up]
    if not contests:
        return list(choices)
    best: dict[int, tuple[float, Choice]] = {}
    for turn in range(1 + max(len(choice.runners_up) for choice in contests)):
        tried = [(choice, one) for choice in contests if (one := choice.with_candidate(turn)) is not None]
        for (original, changed), (launch, equal) in zip(tried, measure([c.entry() for _, c in tried]), strict=True):
            speed = statistics.median(launch.native_s) / statistics.median(launch.tuned_s) if equal else 0.0
            if id(original) not in best or speed > best[id(original)][0]:
                best[id(original)] = speed, changed
    return [best[id(choice)][1] if id(choice) in best else choice for choice in choices]


def prove(entries: Sequence[PlanEntry], launches: int, measure: MeasureOnce) -> list[Measurement]:
    """Each entry measured in several launches and judged."""
    if not entries:
        return []
    measured = [measure(entries) for _ in range(launches)]
    return [
        Measurement.judged([launch for launch, _ in one], all(equal for _, equal in one))
        for one in zip(*measured, strict=True)
    ]
