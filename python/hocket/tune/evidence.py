# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Whether a schedule was shown to be faster: the ratio of native and new time, with its confidence interval."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
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
    launches' ratios. The interval of a single launch tells nothing of the next one.
    """
    import numpy as np

    value = statistics.median(_all(launches, "native_s")) / statistics.median(_all(launches, "tuned_s"))
    native_s, tuned_s = _resampled(launches, resamples)
    ratios = np.median(native_s, axis=1) / np.median(tuned_s, axis=1)
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

    native_s, tuned_s = _resampled(launches, RESAMPLES)
    if np.quantile(native_s.mean(axis=1) / tuned_s.mean(axis=1), MOSTLY) >= 1:
        return None
    return statistics.fmean(_all(launches, "native_s")) / statistics.fmean(_all(launches, "tuned_s"))


def _all(launches: Sequence[Launch], kind: str) -> list[float]:
    return [time for launch in launches for time in getattr(launch, kind)]


def _resampled(launches: Sequence[Launch], resamples: int) -> tuple[FloatArray, FloatArray]:
    """Native and tuned times of the hierarchical bootstrap, a row for each resample."""
    import numpy as np

    random = np.random.default_rng(SEED)
    counts = np.array([len(launch.native_s) for launch in launches])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    drawn = random.integers(len(launches), size=(resamples, len(launches)))
    # As many pairs from each drawn launch, so that none counts more than another.
    places = random.random((resamples, len(launches), int(counts.max()))) * counts[drawn][..., None]
    pairs = (starts[drawn][..., None] + places.astype(np.int64)).reshape(resamples, -1)
    return np.array(_all(launches, "native_s"))[pairs], np.array(_all(launches, "tuned_s"))[pairs]


def _student(launches: Sequence[Launch], confidence: float) -> tuple[float, ...]:
    from scipy.stats import t

    if len(launches) < 2:
        return ()
    logs = [math.log(statistics.median(one.native_s) / statistics.median(one.tuned_s)) for one in launches]
    quantile = float(t.ppf((1 + confidence) / 2, len(logs) - 1))
    half = quantile * statistics.stdev(logs) / math.sqrt(len(logs))
    centre = statistics.fmean(logs)
    return math.exp(min(700.0, centre - half)), math.exp(min(700.0, centre + half))
