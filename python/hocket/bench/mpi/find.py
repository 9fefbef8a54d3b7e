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
from dataclasses import replace

from hocket.bench.mpi.comparison import launches_needed, launches_of_both
from hocket.bench.mpi.launcher import Launcher
from hocket.bench.mpi.measure import measure
from hocket.bench.mpi.progress import Progress
from hocket.bench.mpi.results import Results
from hocket.reporter import Reporter

FIRST = 10  # launches, from which the first estimate is
MOST = 1000
FIRST_PART = 0.25  # of the budget, at most, for these


def find_difference(launchers: Sequence[Launcher], part: float, reporter: Reporter) -> list[Results]:
    """Goes on until nine of ten points would show a difference of `part` in nine of ten comparisons of the first
    command with each other one, or the budget is over; results in the same order. Raises Error, InvalidInput."""
    first = launchers[0].launches or FIRST
    budget_s = launchers[0].budget_s or float(json.loads(launchers[0].print_plan())["budget_s"])

    def launch(launches: int) -> list[Results]:
        limit_s = budget_s * (FIRST_PART if launches == first else 1)
        return measure([replace(one, launches=launches, rounds=1, budget_s=limit_s) for one in launchers], reporter)

    def needed(results: Sequence[Results]) -> int:
        own, *others = results
        return max(launches_needed(launches_of_both(other, own), part) or FIRST for other in others)

    begin_s, before = time.monotonic(), min(Progress(one.output).ended for one in launchers)

    def affordable(launches: int) -> int:
        # Short launches take as long to start as to measure.
        each_s = (time.monotonic() - begin_s) / len(launchers) / max(launches - before, 1)
        return int(budget_s / each_s)

    results, launches, wanted = until_enough(launch, needed, affordable, first)
    if wanted > launches:
        reporter.message(
            f"a difference of {part:.0%} would be found with about {wanted} launches of each command; there was time "
            f"for {launches}: give more with --budget"
        )
    return results


def until_enough(
    launch: Callable[[int], list[Results]],
    needed: Callable[[Sequence[Results]], int],
    affordable: Callable[[int], int],
    first: int,
) -> tuple[list[Results], int, int]:
    """`launch`: goes on to so many launches. The results, their launches, and how many are needed."""
    launches = first
    while True:
        results = launch(launches)
        wanted = min(needed(results), MOST)
        following = min(wanted, max(affordable(launches), launches))
        if following <= launches:
            return results, launches, wanted
        launches = following
