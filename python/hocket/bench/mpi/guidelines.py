# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Self-consistent performance guidelines [Traff10], checked on a result as [HunoldLubbe16] does.

A function should not take longer than others that do its work (a mock-up, which the result must have too), than itself
with more data (monotony), or than k calls with a k-th of the data (split). Each check compares medians of launches by
the rank test, with Holm's correction for all checks, and needs an interval of the ratio that excludes 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from hocket.bench.mpi.comparison import Launches, chunk_medians, holm, judge, least_corrected_p, rank_test
from hocket.bench.mpi.results import Point, Results
from hocket.bench.mpi.statistics import CONFIDENCE

FUNCTION, MOCKUP = "coll.", "mockup."  # prefixes of items
LAUNCHES_TO_HOLD = 4  # with fewer the rank test shows nothing, and the interval of the ratio is too narrow
VERDICTS = ("violated", "holds", "undecided")


@dataclass(frozen=True)
class Check:
    """left <= right."""

    kind: str  # "mock-up", "monotony" or "split"
    guideline: str
    variant: str  # of the left side
    bytes: int | None
    left_s: float
    right_s: float
    ratio: float  # left / right: above 1 the function takes longer than it should
    low: float  # of the ratio's interval
    high: float
    p: float  # of the rank test, corrected
    verdict: str


@dataclass(frozen=True)
class Checks:
    checks: list[Check]
    least_p: float  # that the rank test can give with so few launches and so many checks

    @property
    def counts(self) -> dict[str, int]:
        return {verdict: sum(one.verdict == verdict for one in self.checks) for verdict in VERDICTS}

    @property
    def sentence(self) -> str:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())
        few = " There are too few launches to prove a violation." if self.least_p > 1 - CONFIDENCE else ""
        return f"{len(self.checks)} guidelines: {counts}.{few}"

    @property
    def values(self) -> dict[str, Any]:
        return {
            "format": "hocket.bench-guidelines/1",
            "checks": [asdict(one) for one in self.checks],
            "least_p": self.least_p,
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class _Pair:
    kind: str
    guideline: str
    left: Point
    right: Point
    times: int = 1  # the right side is so many runs


def check(results: Results, within: float) -> Checks:
    """`within`: a function that takes longer by at most this part keeps the guideline."""
    points = [point for point in results.points if results.chunks.get(point.index)]
    pairs = [*_mockups(points), *_sizes(points)]
    sides = [_sides(results, pair) for pair in pairs]
    p_values = holm([rank_test(right, left) for left, right in sides])
    checks = []
    for pair, (own, other), p in zip(pairs, sides, p_values, strict=True):
        found = judge(other, own, p, within)
        enough = min(len(own), len(other)) >= LAUNCHES_TO_HOLD
        holds = enough and found.verdict != "slower" and found.high <= 1 / (1 - within)
        verdict = "violated" if found.verdict == "slower" else "holds" if holds else "undecided"
        left = pair.left
        checks.append(Check(pair.kind, pair.guideline, left.variant, left.size_bytes, found.after_s, found.before_s,
                            found.ratio, found.low, found.high, p, verdict))  # fmt: skip
    return Checks(checks, least_corrected_p(sides))


def _sides(results: Results, pair: _Pair) -> tuple[Launches, Launches]:
    left, right = chunk_medians(results, pair.left), chunk_medians(results, pair.right)
    return left, [[pair.times * value for value in chunks] for chunks in right]


def _mockups(points: list[Point]) -> Iterator[_Pair]:
    """Each mock-up with the function that it imitates: the same variant but for the way."""
    functions = {(point.variant, point.size_bytes): point for point in points if point.item.startswith(FUNCTION)}
    for point in points:
        if not point.item.startswith(MOCKUP):
            continue
        way = dict(point.options)["as"]
        variant = point.variant.replace(MOCKUP, FUNCTION, 1).replace(f" as={way}", "", 1)
        if function := functions.get((variant, point.size_bytes)):
            right = " + ".join(map(_mpi_name, way.split("+")))
            yield _Pair("mock-up", f"{_mpi_name(_bare(function))} <= {right}", function, point)


def _sizes(points: list[Point]) -> Iterator[_Pair]:
    """Each function with itself: neighbouring sizes."""
    variants: dict[str, dict[int, Point]] = {}
    for point in points:
        if point.item.startswith(FUNCTION) and point.size_bytes is not None:
            variants.setdefault(point.variant, {})[point.size_bytes] = point
    for of_size in variants.values():
        for less, more in pairwise(sorted(of_size)):
            small, large = of_size[less], of_size[more]
            name = _mpi_name(_bare(small))
            yield _Pair("monotony", f"{name}({less} B) <= {name}({more} B)", small, large)
            if less and more % less == 0:
                times = more // less
                yield _Pair("split", f"{name}({more} B) <= {times} {name}({less} B)", large, small, times)


def _bare(point: Point) -> str:
    return point.item.removeprefix(FUNCTION)


def _mpi_name(name: str) -> str:
    return "MPI_" + name[0].upper() + name[1:]
