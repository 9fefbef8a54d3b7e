# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which of several schedules for the same calls is used, and the evidence that it is faster than native.

A trial launch of all candidates chooses; the evidence comes from launches after it. So the winner keeps no luck from
the trial, as it would if the same times chose and proved.

Time is limited, so it goes where it decides most: in each launch first to what may still save or cost the program most
seconds. A schedule is not measured again once its verdict is clear: it is slower, or saves too little to matter, or is
shown to be faster with the higher confidence that an early look needs.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hocket.measure.compare import Launch, Measured
from hocket.report.result import NO_TIME
from hocket.report.text import significant
from hocket.tune.budget import Budget
from hocket.tune.evidence import EARLY_CONFIDENCE, EARLY_RESAMPLES, ratio_of
from hocket.tune.measurement import LEAST_LAUNCHES, LEAST_SHARE, Measurement

if TYPE_CHECKING:
    from hocket.advise import Choice
    from hocket.plan import PlanEntry

# The part of the time that the trial of the candidates may take; the rest is for the evidence.
TRIAL_SHARE = 1 / 4
# Where time is short there are fewer launches, at least LEAST_LAUNCHES: the start of each takes this part at most.
MOST_START_SHARE = 1 / 5
# Times of each kind that an entry gets in a launch: as few as are of use, in the trial and for evidence.
LEAST_TRIALS = 2
LEAST_TIMES = 3
# What an entry takes in a launch: beside the times these calls of each kind, which compare data and warm up; and
# at least so long, half of what short calls take at most.
CALLS_BESIDE = 2
LEAST_ENTRY_S = 0.25

# One launch that measures entries of a plan, the first ones first, for so many seconds but each at least so many times;
# the text is for people.
Measure = Callable[[Sequence["PlanEntry"], float, int, str], Sequence[Measured | None]]


@dataclass
class _Trial:
    choice: Choice
    launches: list[Launch] = field(default_factory=list)
    equal: bool = True
    verdict: Measurement | None = None
    undecided_s: float = 0.0  # of the program's time: what further launches may show to be saved, or not

    def cost_s(self, least: int) -> float:
        """Of a launch in which it is measured so many times."""
        times = [time for launch in self.launches for time in launch.native_s]
        native_s = statistics.median(times) if times else _native_s(self.choice)
        return max(LEAST_ENTRY_S, (least + CALLS_BESIDE) * (native_s + self.choice.predicted_s))


def measure_choices(
    choices: Sequence[Choice], program_s: float, launches: int, budget: Budget, measure: Measure
) -> tuple[list[Choice], list[Measurement]]:
    """The choices with the fastest of their candidates, and what was found of each within the budget.

    `program_s`: what a run of the program takes; `launches`: of each schedule, at most.
    """
    trials = [_Trial(choice, undecided_s=_most_saved_s(choice)) for choice in choices]
    for one in trials:
        if one.undecided_s < LEAST_SHARE * program_s:
            most = f"{significant(one.undecided_s * 1e3, 2)} ms of {program_s:.1f} s"
            calls = one.choice.group.calls_in_turn
            one.verdict = Measurement(reason=f"too little to gain: its {calls} calls could save at most {most}")
    _try_candidates(_open(trials), program_s, budget, measure)
    if budget.start_s > 0:
        worthwhile = int(MOST_START_SHARE * budget.left_s / budget.start_s)
        launches = min(launches, max(LEAST_LAUNCHES, worthwhile))
    for number in range(launches):
        _gather_evidence(_open(trials), program_s, number, launches, budget, measure)
    return [one.choice for one in trials], [one.verdict or _last_word(one, launches, budget) for one in trials]


def _most_saved_s(choice: Choice) -> float:
    """Of a run, if the calls took as long as the wires need."""
    return choice.group.calls_in_turn * max(0.0, _native_s(choice) - choice.lower_bound_s)


def _native_s(choice: Choice) -> float:
    """Of a call, as far as is known without measuring it."""
    return max(choice.native_s, choice.group.recorded_s or 0.0)


def _open(trials: Sequence[_Trial]) -> list[_Trial]:
    """Those without a verdict, the one whose verdict is worth most first."""
    return sorted((one for one in trials if one.verdict is None), key=lambda one: -one.undecided_s)


def _in_time(trials: Sequence[_Trial], within_s: float, least: int) -> tuple[list[_Trial], int]:
    """Those that fit into a launch, the first ones first, and how often each is measured: once if the first is long."""
    if trials and trials[0].cost_s(least) > within_s:
        least = 1
    chosen = []
    for one in trials:
        if one.cost_s(least) <= within_s:
            chosen.append(one)
            within_s -= one.cost_s(least)
    return chosen, least


def _try_candidates(trials: Sequence[_Trial], program_s: float, budget: Budget, measure: Measure) -> None:
    """`choice` of each is then the candidate that gained most over native, among those with equal data."""
    several = [one for one in trials if one.choice.runners_up]
    candidates = [
        replace(one, choice=choice)
        for one in several
        for number in range(1 + len(one.choice.runners_up))
        if (choice := one.choice.with_candidate(number)) is not None
    ]
    within_s = budget.for_launch(1, TRIAL_SHARE)
    tried, least = _in_time(candidates, within_s, LEAST_TRIALS)
    if not tried:
        return
    what = f"a trial of {len(tried)} schedules"
    found = measure([one.choice.entry() for one in tried], within_s, least, what)
    best: dict[int, tuple[float, Choice, Launch, bool]] = {}
    for candidate, measured in zip(tried, found, strict=True):
        if measured is None:
            continue
        launch, equal = measured
        speed = statistics.median(launch.native_s) / statistics.median(launch.tuned_s) if equal else 0.0
        group = id(candidate.choice.group)
        if group not in best or speed > best[group][0]:
            best[group] = speed, candidate.choice, launch, equal
    for one in several:
        if id(one.choice.group) in best:
            _, one.choice, launch, equal = best[id(one.choice.group)]
            _judge_early(one, [launch], equal, program_s)


def _gather_evidence(
    trials: Sequence[_Trial], program_s: float, number: int, launches: int, budget: Budget, measure: Measure
) -> None:
    """One launch, the one of that number of so many."""
    within_s = budget.for_launch(launches - number)
    measured, least = _in_time(trials, within_s, LEAST_TIMES)
    if not measured:
        return
    what = f"launch {number + 1} of at most {launches}, {len(measured)} collective(s)"
    found = measure([one.choice.entry() for one in measured], within_s, least, what)
    for one, times in zip(measured, found, strict=True):
        if times is not None:
            one.launches.append(times[0])
            one.equal = one.equal and times[1]
            if number + 1 < launches:
                _judge_early(one, one.launches, one.equal, program_s)


def _judge_early(one: _Trial, launches: Sequence[Launch], equal: bool, program_s: float) -> None:
    """A verdict if it is clear, else what it is worth to know more."""
    if not equal:
        one.verdict = Measurement.judged(launches, equal)
        return
    if sum(len(launch.native_s) for launch in launches) < LEAST_TIMES:
        return
    ratio = ratio_of(launches, EARLY_CONFIDENCE, EARLY_RESAMPLES)
    native_s = statistics.median(time for launch in launches for time in launch.native_s)
    calls_s = one.choice.group.calls_in_turn * native_s
    if ratio.high < 1 or (ratio.is_faster and len(launches) >= LEAST_LAUNCHES):
        found = Measurement.judged(launches, equal)
        one.verdict = found if ratio.high < 1 or not found.reason else None
    elif calls_s * (1 - 1 / ratio.high) < LEAST_SHARE * program_s:
        found = replace(Measurement.judged(launches, equal), reason="")
        one.verdict = found.worth(one.choice.group.calls_in_turn, program_s)
    # Before LEAST_LAUNCHES nothing is kept, however sure the first one is.
    at_worst = 1 / ratio.low if len(launches) >= LEAST_LAUNCHES else 1.0
    one.undecided_s = calls_s * min(1.0, at_worst - 1 / ratio.high)


def _last_word(one: _Trial, launches: int, budget: Budget) -> Measurement:
    """On what had no verdict before the end."""
    if not one.launches:
        return Measurement(reason=f"{NO_TIME}: {budget.over}")
    found = Measurement.judged(one.launches, one.equal)
    if len(one.launches) == launches or (not found.reason and len(one.launches) >= LEAST_LAUNCHES):
        return found
    return replace(found, reason=f"{NO_TIME} in {launches} launches: {found.ratio}; {budget.over}")
