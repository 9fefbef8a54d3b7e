# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A time that is linear in the size between a few sizes at which the protocol changes.

Segments by dynamic programming over all places to part the sizes, their number by the Bayesian information criterion
[Schwarz78]; errors are relative, since times span decades.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_SEGMENTS = 4
LEAST_SIZES = 4  # of a segment
# The last segment may be no further off at its end, by the median of its last LEAST_SIZES sizes: many times of small
# messages, which differ by several times, would outvote the few of large ones.
_OFF_AT_END = 0.05
_ALIKE = 0.03  # segments whose predictions differ by less where they meet are one


@dataclass(frozen=True)
class Segment:
    """From `from_bytes` on a message takes `start_s + bytes * s_per_byte`."""

    from_bytes: int
    start_s: float
    s_per_byte: float

    def time_s(self, size_bytes: float) -> float:
        return self.start_s + size_bytes * self.s_per_byte


def time_s(segments: list[Segment], size_bytes: float) -> float:
    return [s for s in segments if s.from_bytes <= size_bytes or s is segments[0]][-1].time_s(size_bytes)


def fit_segments(sizes: np.ndarray, times_s: np.ndarray) -> list[Segment]:
    """`sizes` ascending, without repetition; at least `LEAST_SIZES` of them."""
    count = len(sizes)
    cost = np.full((count + 1, count + 1), np.inf)
    lines: dict[tuple[int, int], tuple[float, float]] = {}
    for i in range(count):
        for j in range(i + LEAST_SIZES, count + 1):
            lines[i, j], cost[i, j] = _line(sizes[i:j], times_s[i:j])
    off = np.array(
        [_off_at_end(lines[i, count], sizes, times_s) if (i, count) in lines else np.inf for i in range(count)]
    )
    cost[:count, count][off > max(_OFF_AT_END, off.min())] = np.inf
    most = max(1, min(MOST_SEGMENTS, count // LEAST_SIZES))
    best = np.full((most + 1, count + 1), np.inf)  # [k][j]: the least cost of the first j sizes in k segments
    best[0, 0] = 0
    last = np.zeros((most + 1, count + 1), dtype=int)
    for k in range(1, most + 1):
        for j in range(1, count + 1):
            costs = best[k - 1, :j] + cost[:j, j]
            last[k, j] = int(np.argmin(costs))
            best[k, j] = costs[last[k, j]]
    # Each segment has two coefficients and a place. What no measurement resolves is not zero: it is taken for 0.1 %.
    criterion = [
        count * np.log(max(best[k, count] / count, 1e-6)) + (3 * k - 1) * np.log(count) for k in range(1, most + 1)
    ]
    parts, j = [], count
    for k in range(1 + int(np.argmin(criterion)), 0, -1):
        parts.append((int(last[k, j]), j))
        j = int(last[k, j])
    return _merged([(i, j) for i, j in reversed(parts)], lines, sizes, times_s)


def _merged(
    parts: list[tuple[int, int]],
    lines: dict[tuple[int, int], tuple[float, float]],
    sizes: np.ndarray,
    times_s: np.ndarray,
) -> list[Segment]:
    kept = [parts[0]]
    for part in parts[1:]:
        (a, b), (c, d) = lines[kept[-1]], lines[part]
        ends = sizes[kept[-1][0]], sizes[part[1] - 1]
        if all(abs((a + b * x) / (c + d * x) - 1) < _ALIKE for x in ends):
            kept[-1] = (kept[-1][0], part[1])
            lines[kept[-1]], _ = _line(sizes[kept[-1][0] : part[1]], times_s[kept[-1][0] : part[1]])
        else:
            kept.append(part)
    return [Segment(0 if n == 0 else int(sizes[i]), *lines[i, j]) for n, (i, j) in enumerate(kept)]


def _off_at_end(line: tuple[float, float], sizes: np.ndarray, times_s: np.ndarray) -> float:
    start_s, s_per_byte = line
    return abs(float(np.median(((start_s + s_per_byte * sizes) / times_s)[-LEAST_SIZES:])) - 1)


def _line(x: np.ndarray, y: np.ndarray) -> tuple[tuple[float, float], float]:
    """Start and slope, neither below 0, and the sum of the squared relative errors."""
    weight = 1 / y**2
    fits = [(float((weight * y).sum() / weight.sum()), 0.0)]
    if (weight * x * x).sum() > 0:
        fits.append((0.0, float((weight * x * y).sum() / (weight * x * x).sum())))
    mean = (weight * x).sum() / weight.sum()
    if (variance := (weight * (x - mean) ** 2).sum()) > 0:
        slope = float((weight * (x - mean) * y).sum() / variance)
        start = float((weight * (y - slope * x)).sum() / weight.sum())
        if slope >= 0 and start >= 0:
            fits = [(start, slope)]
    errors = [float((((a + b * x) / y - 1) ** 2).sum()) for a, b in fits]
    least = int(np.argmin(errors))
    return fits[least], errors[least]
