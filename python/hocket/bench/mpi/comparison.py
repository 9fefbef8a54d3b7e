# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Two results side by side: which points became faster or slower, which stayed the same, and which cannot be told.

A launch is the unit of evidence: samples of one launch are more alike than those of two. A difference must be shown by
the rank test of Mann and Whitney on the medians of launches, corrected for the number of points by Holm's method. The
interval of the ratio is from a hierarchical bootstrap of launches and of chunks within them [Davison97].
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from hocket.bench.mpi.results import Point, Results
from hocket.bench.mpi.statistics import CONFIDENCE

WITHIN = 0.05  # unless the user says: ratios that differ by no more count as the same
RESAMPLES = 2000
SEED = 1
POWER = 0.9  # of points and of comparisons in which a difference is to be found
LEAST_NEEDED = 6  # launches
VERDICTS = ("faster", "slower", "same", "undecided")

# The medians of chunks of each launch.
Launches = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Difference:
    """Of one point that both results have."""

    variant: str
    number: int | None
    bytes: int | None
    before_s: float
    after_s: float
    ratio: float  # after / before: below 1 is faster
    low: float  # of the ratio's interval
    high: float
    p: float  # of the rank test, corrected
    verdict: str


@dataclass(frozen=True)
class Judged:
    """Two sets of launches of which a rank test gave `p`."""

    before_s: float
    after_s: float
    ratio: float
    low: float
    high: float
    verdict: str


@dataclass(frozen=True)
class Comparison:
    differences: list[Difference]
    only_before: list[str]  # variants that only one result has measured, with the reason of the other
    only_after: list[str]
    least_p: float  # that the rank test can give with so few launches
    launches_needed: int | None  # of each side, to show a difference as large as the margin; None: of no point known

    @property
    def counts(self) -> dict[str, int]:
        """Points of each verdict."""
        return {verdict: sum(one.verdict == verdict for one in self.differences) for verdict in VERDICTS}

    @property
    def values(self) -> dict[str, Any]:
        return {
            "format": "hocket.bench-comparison/1",
            "differences": [asdict(one) for one in self.differences],
            "only_before": self.only_before,
            "only_after": self.only_after,
            "least_p": self.least_p,
            "launches_needed": self.launches_needed,
        }


def compare(before: Results, after: Results, within: float) -> Comparison:
    """`within`: a point is the same if its ratio is between 1 - within and 1 / (1 - within), with CONFIDENCE."""
    before_points, after_points = _measured(before), _measured(after)
    launches = launches_of_both(before, after)
    p_values = holm([rank_test(*of_point) for of_point in launches])
    points = [point for key, point in before_points.items() if key in after_points]
    differences = [
        _difference(point, *of_point, p, within) for point, of_point, p in zip(points, launches, p_values, strict=True)
    ]
    return Comparison(
        differences,
        _missing(before_points, after_points, after),
        _missing(after_points, before_points, before),
        least_corrected_p(launches),
        launches_needed(launches, within),
    )


def launches_of_both(before: Results, after: Results) -> list[tuple[Launches, Launches]]:
    """Of the points that both have measured, in the order of `before`."""
    there = _measured(after)
    pairs = [(point, there[key]) for key, point in _measured(before).items() if key in there]
    return [(chunk_medians(before, one), chunk_medians(after, other)) for one, other in pairs]


def launches_needed(pairs: Sequence[tuple[Launches, Launches]], within: float) -> int | None:
    """With so many of each side nine of ten points would show a difference of `within` in nine of ten comparisons.

    From how much the launches of a point differ, by the normal approximation of the rank test, whose efficiency is 3 /
    pi; corrected for all points as the first step of Holm's method.
    """
    from statistics import NormalDist

    counts = []
    for sides in pairs:
        spreads = [spread for launches in sides if (spread := _spread(launches)) is not None]
        if not spreads:
            continue
        z = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / 2 / len(pairs)) + NormalDist().inv_cdf(POWER)
        variance = statistics.fmean(spread**2 for spread in spreads)
        counts.append(math.ceil(2 * variance * (z / math.log(1 - within)) ** 2 * math.pi / 3))
    return max(sorted(counts)[math.ceil(POWER * len(counts)) - 1], LEAST_NEEDED) if counts else None


def _spread(launches: Launches) -> float | None:
    """Standard deviation of the logarithms of the launches' medians, of several; from their median deviation, since
    some launches are disturbed."""
    logs = [math.log(value) for chunks in launches if (value := statistics.median(chunks)) > 0]
    if len(logs) < 2:
        return None
    middle = statistics.median(logs)
    return 1.4826 * statistics.median(abs(value - middle) for value in logs)


def least_corrected_p(pairs: Sequence[tuple[Launches, Launches]]) -> float:
    """What the most extreme of these tests could give at best, corrected."""
    least = min((least_p(len(one), len(other)) for one, other in pairs), default=1.0)
    return min(1.0, least * len(pairs))


def rank_test(before: Launches, after: Launches) -> float:
    """The two-sided p-value of Mann and Whitney's test on the medians of launches."""
    from scipy.stats import mannwhitneyu

    ends = [[statistics.median(chunks) for chunks in launches] for launches in (before, after)]
    exact = len(set(ends[0] + ends[1])) == len(ends[0] + ends[1])  # without ties
    method: Literal["exact", "asymptotic"] = "exact" if exact else "asymptotic"
    return float(mannwhitneyu(ends[0], ends[1], alternative="two-sided", method=method).pvalue)


def least_p(before: int, after: int) -> float:
    """What the test gives at best for so many launches: one order of two samples, and its reverse, of all."""
    return 2 / math.comb(before + after, before)


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrected for the number of tests [Holm79]."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[i]))
        corrected[i] = largest
    return corrected


def ratio_interval(before: Launches, after: Launches) -> tuple[float, float]:
    """Of the ratio of the medians, after / before."""
    import numpy as np

    random = np.random.default_rng(SEED)
    middles = [_resampled(launches, random) for launches in (before, after)]
    low, high = np.quantile(middles[1] / middles[0], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def _resampled(launches: Launches, random: Any) -> Any:
    """Median of launch medians in each resample: launches with replacement, and chunks within each."""
    import numpy as np

    count, width = len(launches), max(len(chunks) for chunks in launches)
    sizes = np.array([len(chunks) for chunks in launches])
    table = np.zeros((count, width))
    for i, chunks in enumerate(launches):
        table[i, : len(chunks)] = chunks
    drawn = random.integers(count, size=(RESAMPLES, count))
    medians = np.empty((RESAMPLES, count))
    for size in np.unique(sizes):  # a launch gives as many chunks as it has
        rows, places = np.nonzero(sizes[drawn] == size)
        chosen = random.integers(size, size=(len(rows), int(size)))
        medians[rows, places] = np.median(table[drawn[rows, places][:, None], chosen], axis=1)
    return np.median(medians, axis=1)


def judge(before: Launches, after: Launches, p: float, within: float) -> Judged:
    """`p`: of the rank test, corrected for the number of tests."""
    ends = [statistics.median(statistics.median(chunks) for chunks in launches) for launches in (before, after)]
    low, high = ratio_interval(before, after)
    if low >= 1 - within and high <= 1 / (1 - within) and min(len(before), len(after)) > 1:
        verdict = "same"
    elif p <= 1 - CONFIDENCE and not low <= 1 <= high:
        verdict = "faster" if high < 1 else "slower"
    else:
        verdict = "undecided"
    ratio = ends[1] / ends[0]
    return Judged(ends[0], ends[1], ratio, min(low, ratio), max(high, ratio), verdict)


def _difference(point: Point, before: Launches, after: Launches, p: float, within: float) -> Difference:
    found = judge(before, after, p, within)
    return Difference(
        point.variant, point.number, point.size_bytes, found.before_s, found.after_s, found.ratio, found.low,
        found.high, p, found.verdict,
    )  # fmt: skip


def chunk_medians(results: Results, point: Point) -> list[list[float]]:
    """Of each launch, in seconds of a run."""
    return [[statistics.median(chunk.run_s) for chunk in launch] for launch in results.launches(point)]


def _measured(results: Results) -> dict[Any, Point]:
    return {point.key: point for point in results.points if results.chunks.get(point.index)}


def _missing(there: dict[Any, Point], here: dict[Any, Point], results: Results) -> list[str]:
    """Variants of `there` of which no point is in `here`, with what `results`, whose points these are, says of them."""
    found = {point.variant for point in here.values()}
    lines = {}
    for point in there.values():
        if point.variant in found or point.variant in lines:
            continue
        same = next((one for one in results.points if one.key == point.key), None)
        outcome = results.outcome(same) if same else None
        if same is None:
            lines[point.variant] = "not among its points"
        elif outcome is None or outcome.status == "ok":
            lines[point.variant] = "not measured"
        else:
            lines[point.variant] = f"{outcome.status}: {outcome.message}"
    return [f"{variant} ({reason})" for variant, reason in lines.items()]
