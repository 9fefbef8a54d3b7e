# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Measures commands in turns for as many launches as it takes to find a difference of a given size.

The first launches say how much launches differ, and from that follows how many are needed. That estimate takes the
launches of each command by themselves and never looks at what is between the commands, so that to go on for its sake
makes no difference more likely where there is none [Wittes90]. Launches are short, of one round: what differs most is
not within them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from hocket.bench.mpi.comparison import launches_needed, launches_of_both
from hocket.bench.mpi.launcher import Launcher
from hocket.bench.mpi.measure import measure
from hocket.bench.mpi.progress import Progress
from hocket.bench.mpi.results import Results
from hocket.reporter import Reporter

T = TypeVar("T")

FIRST = 10  # launches, from which the first estimate is
MOST = 1000


@dataclass(frozen=True)
class Found:
    """How far it came."""

    part: float  # the difference that was to be found
    launches: int  # of each command
    needed: int | None  # as the last estimate has it; None: nothing was measured on both sides

    @property
    def is_reached(self) -> bool:
        return self.needed is not None and self.launches >= self.needed

    @property
    def sentence(self) -> str:
        made, difference = f"{self.launches} launches of each command", f"a difference of {100 * self.part:g}%"
        if self.is_reached:
            return f"{made}: enough to find {difference}"
        if self.needed is None:
            return f"{made}: how many find {difference} is not known; give more with --budget"
        return f"{made}: {difference} needs about {self.needed}; give more with --budget or --launches"


def find_difference(launchers: Sequence[Launcher], part: float, reporter: Reporter) -> tuple[list[Results], Found]:
    """Goes on until nine of ten points would show a difference of `part` in nine of ten comparisons of the first
    command with each other one, or the budget or the launches that were asked for are over; results in the same order.
    Raises Error, InvalidInput."""
    most = launchers[0].launches or MOST
    budget_s = launchers[0].budget_s or float(json.loads(launchers[0].print_plan())["budget_s"])
    begin_s, before = time.monotonic(), min(Progress(one.output).ended for one in launchers)

    def launch(launches: int) -> list[Results]:
        return measure([replace(one, launches=launches, rounds=1, budget_s=budget_s) for one in launchers], reporter)

    def needed(results: Sequence[Results]) -> int | None:
        own, *others = results
        found = [launches_needed(launches_of_both(other, own), part) for other in others]
        return max((one for one in found if one is not None), default=None)

    def affordable(launches: int) -> int:
        # Short launches take as long to start as to measure.
        each_s = (time.monotonic() - begin_s) / len(launchers) / max(launches - before, 1)
        return min(most, int(budget_s / each_s))

    results, launches, wanted = until_enough(launch, made, needed, affordable, min(FIRST, most))
    return results, Found(part, launches, wanted)


def made(results: Sequence[Results]) -> int:
    """Launches of the command that has fewest."""
    return min(len(one.ended) for one in results)


def until_enough(
    launch: Callable[[int], list[T]],
    made: Callable[[list[T]], int],
    needed: Callable[[list[T]], int | None],
    affordable: Callable[[int], int],
    first: int,
) -> tuple[list[T], int, int | None]:
    """`launch`: goes on to so many launches, or to fewer if the time is over. The results, how many launches each has,
    and how many are needed."""
    asked = first
    while True:
        results = launch(asked)
        launches, wanted = made(results), needed(results)
        following = min(wanted or asked, affordable(launches))
        if launches < asked or following <= launches:
            return results, launches, wanted
        asked = following
