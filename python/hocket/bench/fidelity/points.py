# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What was predicted and measured, and what it says of the model."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

LARGE_BYTES = 64 << 10
NEAR_WIRE_BYTES = 1 << 20
NEAR_WIRE = ("bcast", "reduce", "allgather", "allreduce")


@dataclass(frozen=True)
class Point:
    """One collective of one size with one schedule; times are medians over all measuring launches."""

    network: str
    mpi: str
    placement: str
    collective: str
    algorithm: str
    bytes: int  # the buffer of a rank
    segments: int
    predicted_s: float
    measured_s: float
    measured_launches_s: tuple[float, ...]  # the medians of the launches
    native_s: float
    beside_native_s: float  # as measured_s, of the launches alone that have native calls, in turns with these
    wire_limit_s: float
    ratio_interval: tuple[float, float] | None  # of the speed-up, 95 % confidence; None: of too few launches
    first: bool  # the schedule that the model calls best for this case
    kept: bool  # launches before these showed that it is faster than native
    equal: bool  # both left the same data

    @property
    def error(self) -> float:
        return self.predicted_s / self.measured_s - 1

    @property
    def speedup(self) -> float:
        """Of the schedule itself, whether it would be kept or not."""
        return self.native_s / self.beside_native_s

    @property
    def gained(self) -> float:
        """What a user gets: native where the schedule was not shown to be faster."""
        return self.speedup if self.kept else 1.0

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "error": self.error, "speedup": self.speedup}


@dataclass(frozen=True)
class Errors:
    """Of predictions: |predicted / measured - 1|."""

    points: int
    median: float
    p95: float

    @classmethod
    def of(cls, points: Sequence[Point]) -> Errors | None:
        errors = sorted(abs(point.error) for point in points)
        if not errors:
            return None
        return cls(
            len(errors), statistics.median(errors), errors[min(len(errors) - 1, round(0.95 * (len(errors) - 1)))]
        )


def summary(points: Sequence[Point]) -> dict[str, Any]:
    """Errors over all points; gains and wire ratios of what a user gets in each case.

    That is the schedule that was kept, of several the one that the model likes best, or native if none was.
    """
    cases: dict[tuple[str, ...], list[Point]] = {}
    for point in points:
        key = (point.network, point.mpi, point.placement, point.collective, str(point.bytes))
        cases.setdefault(key, []).append(point)
    used = [max(some, key=lambda p: (p.kept, p.first)) for some in cases.values()]
    large = [point for point in used if point.bytes >= LARGE_BYTES]
    wire = [
        (p.measured_s if p.kept else p.native_s) / p.wire_limit_s
        for p in used
        if p.bytes >= NEAR_WIRE_BYTES and p.collective in NEAR_WIRE and p.wire_limit_s > 0
    ]
    launches = [p.measured_launches_s for p in points if len(p.measured_launches_s) > 1]
    errors = {
        "all": Errors.of(points),
        "small": Errors.of([p for p in points if p.bytes < LARGE_BYTES]),
        "large": Errors.of([p for p in points if p.bytes >= LARGE_BYTES]),
    }
    return {
        "points": len(points),
        "cases": len(used),
        "errors": {name: asdict(value) for name, value in errors.items() if value is not None},
        "launches_differ_median": statistics.median(max(s) / min(s) - 1 for s in launches) if launches else None,
        "kept": sum(point.kept for point in used),
        "speedup_large_geometric_mean": statistics.geometric_mean([p.gained for p in large]) if large else None,
        "speedup_least": min((p.gained for p in used), default=None),
        "slower_than_native": sum(p.gained < 0.97 for p in used),
        "wire_ratio_median": statistics.median(wire) if wire else None,
        "wire_ratio_within_1_15": sum(ratio <= 1.15 for ratio in wire),
        "wire_ratio_points": len(wire),
        "unequal": sum(not point.equal for point in points),
    }
