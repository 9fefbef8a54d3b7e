# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Whether a schedule was shown to be faster: the ratio of native and new time, with its confidence interval."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hocket.measure.compare import Launch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 10_000
# Before its last launch a schedule passes only at this confidence: each look at the evidence may err, so that their
# errors add up. Fewer resamples will do for a question that is asked after every launch.
EARLY_CONFIDENCE = 0.99
EARLY_RESAMPLES = 2_000
SEED = 1
# Part of the resamples in which the mean must be slower before a schedule is refused for it.
MOSTLY = 0.75
# Of two kinds of runs that take equally long, one is taken for the shorter in so many cases at most.
FALSE_ALARMS = 0.05
# With fewer runs of each kind no outcome is as rare as that: of three and three it is all nine pairs.
LEAST_RUNS = 3
# Times that are resampled at once: some tens of megabytes.
MOST_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class Ratio:
    """How many times as fast as native, and the interval that holds the truth with CONFIDENCE."""

    value: float
    low: float
    high: float

    @property
    def is_faster(self) -> bool:
        return self.low > 1

    def __str__(self) -> str:
        return f"{self.value:.2f} times ({self.low:.2f} to {self.high:.2f})"


def ratio_of(launches: Sequence[Launch], confidence: float = CONFIDENCE, resamples: int = RESAMPLES) -> Ratio:
    """The ratio of the medians of all native and all tuned times, and the wider of two intervals for it.

    By a hierarchical bootstrap: each resample draws launches with replacement and, within each, pairs of neighbouring
    calls, since calls of one launch are more alike than those of two [Davison97, section 3.8]; the interval is between
    percentiles of the ratios. Of few launches that is too narrow if they differ: with three, and a spread of 5 %
    between them, 9 % of schedules as fast as native would pass. So also Student's interval of the mean logarithm of the
    launches' ratios. The interval of a single launch says nothing about the next one.
    """
    import numpy as np

    value = statistics.median(_all(launches, "native_s")) / statistics.median(_all(launches, "tuned_s"))
    ratios = _resampled(launches, resamples, np.median)
    low, high = np.quantile(ratios, [(1 - confidence) / 2, (1 + confidence) / 2])
    ends = [value, float(low), float(high), *_student(launches, confidence)]
    return Ratio(value, min(ends), max(ends))


def slower_on_average(launches: Sequence[Launch]) -> float | None:
    """The ratio of the means, if at least three in four resamples have it below 1; else None.

    A program takes the sum of its calls. A schedule may win the median and lose the sum, where some of its calls take
    many times as long, as when queues of a switch overflow. A single such call proves nothing: about a third of the
    resamples do not have it.
    """
    import numpy as np

    if np.quantile(_resampled(launches, RESAMPLES, np.mean), MOSTLY) >= 1:
        return None
    return statistics.fmean(_all(launches, "native_s")) / statistics.fmean(_all(launches, "tuned_s"))


def are_shorter(some_s: Sequence[float], than_s: Sequence[float]) -> bool:
    """Whether these runs of a program are shown to take less time than those, by Mann and Whitney's one-sided test."""
    if min(len(some_s), len(than_s)) < LEAST_RUNS:
        return False
    from scipy.stats import mannwhitneyu

    return bool(mannwhitneyu(some_s, than_s, alternative="less").pvalue <= FALSE_ALARMS)


def _all(launches: Sequence[Launch], kind: str) -> list[float]:
    return [time for launch in launches for time in getattr(launch, kind)]


def _resampled(launches: Sequence[Launch], resamples: int, middle: Callable[..., FloatArray]) -> FloatArray:
    """Native over tuned middle times in each resample of the hierarchical bootstrap, some of them at a time."""
    import numpy as np

    random = np.random.default_rng(SEED)
    counts = np.array([len(launch.native_s) for launch in launches])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    native_s, tuned_s = np.array(_all(launches, "native_s")), np.array(_all(launches, "tuned_s"))
    # As many pairs from each drawn launch, so that none counts more than another.
    width = len(launches) * int(counts.max())
    at_once = max(1, MOST_AT_ONCE // width)
    found = []
    for first in range(0, resamples, at_once):
        rows = min(at_once, resamples - first)
        drawn = random.integers(len(launches), size=(rows, len(launches)))
        places = random.random((rows, len(launches), int(counts.max()))) * counts[drawn][..., None]
        pairs = (starts[drawn][..., None] + places.astype(np.int64)).reshape(rows, width)
        found.append(middle(native_s[pairs], axis=1) / middle(tuned_s[pairs], axis=1))
    return np.concatenate(found)


def _student(launches: Sequence[Launch], confidence: float) -> tuple[float, ...]:
    from scipy.special import stdtrit  # a third of what importing scipy.stats takes

    if len(launches) < 2:
        return ()
    logs = [math.log(statistics.median(one.native_s) / statistics.median(one.tuned_s)) for one in launches]
    quantile = float(stdtrit(len(logs) - 1, (1 + confidence) / 2))
    half = quantile * statistics.stdev(logs) / math.sqrt(len(logs))
    centre = statistics.fmean(logs)
    return math.exp(min(700.0, centre - half)), math.exp(min(700.0, centre + half))
