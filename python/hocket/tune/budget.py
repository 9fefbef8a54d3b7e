# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The time that tuning may take, and the part of it that is for the measuring of collectives."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

from hocket.tune.evidence import LEAST_RUNS

# As much as people wait for, or, where it is more, as runs of the program.
USUAL_S = 60.0
USUAL_RUNS = 10
# Runs of the program with the plan, and without, if there is time for them; LEAST_RUNS in any case.
MOST_RUNS = 5
# What a run with the plan takes is not known while the time for measuring is set. This part of a native run is assumed.
TUNED_SHARE = 0.8
# The part of the limit that is for measuring, whatever hocket's own computing has taken before.
LEAST_MEASURING_SHARE = 0.25


@dataclass
class TimeLimit:
    """Seconds from the start of the recorded run to the end of the last run. Infinite: whatever it takes."""

    program_s: float  # of the recorded run
    limit_s: float
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def usual(cls, program_s: float) -> TimeLimit:
        """For a program whose recorded run has just ended."""
        return cls(program_s, usual_s(program_s), time.monotonic() - program_s)

    @property
    def left_s(self) -> float:
        return self.limit_s - (time.monotonic() - self.began)

    @property
    def for_measuring_s(self) -> float:
        """What is left without the least number of runs that compare the program with and without the plan."""
        return max(LEAST_MEASURING_SHARE * self.limit_s, self.left_s - self.least_runs_s)

    def with_pairs(self, pairs: int) -> TimeLimit:
        """The same, longer by so many pairs of runs of the program."""
        return replace(self, limit_s=self.limit_s + pairs * 2 * self.program_s)

    @property
    def least_runs_s(self) -> float:
        """About what the least number of runs takes that compare the program with and without the plan."""
        return LEAST_RUNS * (1 + TUNED_SHARE) * self.program_s

    def runs(self, most: int, made: int, pair_s: float, beside_s: float) -> int:
        """Of each kind, of which so many are made; two take `pair_s`, and `beside_s` is kept for something else."""
        left_s = self.left_s - beside_s
        if left_s >= (most - made) * pair_s:
            return most
        return min(most, max(LEAST_RUNS, made + max(0, int(left_s / pair_s))))

    def has_time_for(self, seconds: float) -> bool:
        return seconds <= self.left_s

    @property
    def over(self) -> str:
        """Why something was left out."""
        return f"the {self.limit_s:.0f} s for tuning were over (--repetitions or --measure-time lifts that limit)"


def usual_s(program_s: float) -> float:
    return max(USUAL_S, USUAL_RUNS * program_s)


def unlimited(program_s: float) -> TimeLimit:
    return TimeLimit(program_s, math.inf)


@dataclass
class Budget:
    """Seconds for the launches of the programs that measure, the start of each included."""

    limit_s: float
    spent_s: float = 0.0
    start_s: float = 0.0  # that a launch takes beside what it measures

    @property
    def left_s(self) -> float:
        return max(0.0, self.limit_s - self.spent_s)

    def for_launch(self, launches: int, share: float = 1.0) -> float:
        """What one of so many launches may measure for, if all may take this share of what is left."""
        return max(0.0, share * self.left_s / launches - self.start_s)

    @property
    def over(self) -> str:
        """Why something was not measured."""
        return f"the {self.limit_s:.0f} s for measuring were over (--measure-time)"
