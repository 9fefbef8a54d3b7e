# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which of several schedules for the same calls is used, and the evidence that it is faster than native.

A trial launch of all candidates chooses; the evidence comes from launches after it. So the winner keeps no luck from
the contest, as it would if the same times chose and proved.

Time is limited, so it goes where it decides most: in each launch first to what may still save or cost the program most
seconds. A schedule is not measured again once its verdict is clear: it is slower, or saves too little to matter, or is
shown to be faster beyond the doubt that an early look needs.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hocket.tune.budget import Budget
from hocket.tune.compare import LEAST_SHARE, Measured, Measurement
from hocket.tune.evidence import EARLY_CONFIDENCE, EARLY_RESAMPLES, Launch, ratio_of

if TYPE_CHECKING:
    from hocket.advise import Choice
    from hocket.plan import PlanEntry

# The part of the time that the trial of the candidates may take; the rest is for the evidence.
TRIAL_SHARE = 1 / 3
# Time for an entry in one launch with which its times tell something: half of what short calls take at most.
LEAST_ENTRY_S = 0.25
# The interval of a single launch tells nothing of the next one.
LEAST_LAUNCHES = 2

# One launch that measures entries of a plan, the first ones first, for so many seconds; `str` is for people.
Measure = Callable[[Sequence["PlanEntry"], float, str], Sequence[Measured | None]]


@dataclass
class _Contestant:
    choice: Choice
    launches: list[Launch] = field(default_factory=list)
    equal: bool = True
    verdict: Measurement | None = None
    undecided_s: float = 0.0  # of the program's time: what further launches may show to be saved, or not


def measure_choices(
    choices: Sequence[Choice], program_s: float, launches: int, budget: Budget, measure: Measure
) -> tuple[list[Choice], list[Measurement]]:
    """The choices with the fastest of their candidates, and what was found of each within the budget.

    `program_s`: what a run of the program takes; `launches`: of each schedule, at most.
    """
    contestants = [_Contestant(choice, undecided_s=_most_saved_s(choice)) for choice in choices]
    for one in contestants:
        if one.undecided_s < LEAST_SHARE * program_s:
            one.verdict = Measurement(
                reason=f"not measured: its {one.choice.group.calls} calls could save {one.undecided_s * 1e3:.2g} ms "
                f"of {program_s:.1f} s at most"
            )
    _try_candidates(_open(contestants), program_s, budget, measure)
    for number in range(launches):
        _gather_evidence(_open(contestants), program_s, number, launches, budget, measure)
    return [one.choice for one in contestants], [one.verdict or _last_word(one, budget) for one in contestants]


def _most_saved_s(choice: Choice) -> float:
    """Of a run, if the calls took as long as the wires need."""
    native_s = max(choice.native_model_s, choice.group.recorded_s or 0.0)
    return choice.group.calls * max(0.0, native_s - choice.lower_bound_s)


def _open(contestants: Sequence[_Contestant]) -> list[_Contestant]:
    """Those without a verdict, the one whose verdict is worth most first."""
    return sorted((one for one in contestants if one.verdict is None), key=lambda one: -one.undecided_s)


def _try_candidates(contestants: Sequence[_Contestant], program_s: float, budget: Budget, measure: Measure) -> None:
    """`choice` of each is then the candidate that gained most over native, among those with equal data."""
    tried = [
        (one, candidate)
        for one in contestants
        if one.choice.runners_up
        for number in range(1 + len(one.choice.runners_up))
        if (candidate := one.choice.with_candidate(number)) is not None
    ]
    within_s = budget.for_launch(1, TRIAL_SHARE)
    tried = tried[: int(within_s / LEAST_ENTRY_S)]
    if not tried:
        return
    best: dict[int, tuple[float, Choice, Launch, bool]] = {}
    found = measure([candidate.entry() for _, candidate in tried], within_s, f"a trial of {len(tried)} schedules")
    for (one, candidate), measured in zip(tried, found, strict=True):
        if measured is None:
            continue
        launch, equal = measured
        speed = statistics.median(launch.native_s) / statistics.median(launch.tuned_s) if equal else 0.0
        if id(one) not in best or speed > best[id(one)][0]:
            best[id(one)] = speed, candidate, launch, equal
    for one in contestants:
        if id(one) in best:
            _, one.choice, launch, equal = best[id(one)]
            _judge_early(one, [launch], equal, program_s)


def _gather_evidence(
    contestants: Sequence[_Contestant], program_s: float, number: int, launches: int, budget: Budget, measure: Measure
) -> None:
    """One launch, the one of that number of so many."""
    within_s = budget.for_launch(launches - number)
    measured = contestants[: int(within_s / LEAST_ENTRY_S)]
    if not measured:
        return
    what = f"launch {number + 1} of at most {launches}, {len(measured)} collective(s)"
    found = measure([one.choice.entry() for one in measured], within_s, what)
    for one, times in zip(measured, found, strict=True):
        if times is not None:
            one.launches.append(times[0])
            one.equal = one.equal and times[1]
            if number + 1 < launches:
                _judge_early(one, one.launches, one.equal, program_s)


def _judge_early(one: _Contestant, launches: Sequence[Launch], equal: bool, program_s: float) -> None:
    """A verdict if it is clear, else what it is worth to know more."""
    ratio = ratio_of(launches, EARLY_CONFIDENCE, EARLY_RESAMPLES)
    native_s = statistics.median(time for launch in launches for time in launch.native_s)
    calls_s = one.choice.group.calls * native_s
    proven = ratio.is_faster and len(launches) >= LEAST_LAUNCHES
    if not equal or ratio.high < 1 or proven:
        one.verdict = Measurement.judged(launches, equal)
    elif calls_s * (1 - 1 / ratio.high) < LEAST_SHARE * program_s:
        one.verdict = Measurement.judged(launches, equal).worth(one.choice.group.calls, program_s)
    one.undecided_s = calls_s * min(1.0, 1 / ratio.low - 1 / ratio.high)


def _last_word(one: _Contestant, budget: Budget) -> Measurement:
    if len(one.launches) >= LEAST_LAUNCHES or not one.equal:
        return Measurement.judged(one.launches, one.equal)
    times = {0: "not measured", 1: "measured once only"}[len(one.launches)]
    return Measurement(
        tuple(one.launches), one.equal if one.launches else None, None,
        f"{times}: {budget.over}",
    )  # fmt: skip
