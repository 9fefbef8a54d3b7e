# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What samples say of a point, and how sure that is.

Neighbouring samples resemble each other: a disturbance lasts for many of them. An interval that takes them as
independent is far too narrow. So the samples of a point come in chunks that are spread over the launch, and the median
of a chunk is one observation. Blocks of neighbouring chunks are about ten, of all launches together; with six launches
or more a block is a launch. The interval is between order statistics of the block medians: the k-th least and the k-th
largest of n enclose the median unless fewer than k of n lie on one side of it, which is a matter of coin tosses. But
blocks of one launch resemble each other too: of two to five launches the interval is between the outermost blocks. For
5 recorded launches of 2 chunks on a busy machine (tests/samples/bench-launches.jsonl.gz) the second least and largest
of 10 would cover the median of 7 other launches in 88.5 % of 720 trials, the outermost in 94.2 %.

Of more launches coins are asked for 99 %. Launches too resemble their neighbours, and measuring ends when the interval
is narrow, so that it is the narrower ones that are kept. In replays of two recorded MPIs
(tests/samples/bench-medians-ps.json.gz), five launches and more until half of the interval is within 5 %, or 49, the
intervals with 95 % would hold the median of the other launches in 86 and 93 % of 2,000 trials each, with 99 % they do
in 94 and 96 %.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hocket.bench.mpi.results import Chunk

CONFIDENCE = 0.95
OF_LAUNCHES = 0.99  # as coins have it, for CONFIDENCE in fact
BLOCKS = 10
LEAST_LAUNCHES = 6  # whose medians alone give an interval: the least and the largest of six enclose with 96.9 %
TRIMMED = 0.1  # of the samples at either end that a trimmed mean leaves out
AVERAGES = ("median", "mean", "trimmed", "harmonic")

Interval = tuple[float, float]


@dataclass(frozen=True)
class Summary:
    """Of one point, in seconds of a run."""

    samples: int
    chunks: int
    launches: int
    median_s: float  # of the medians of chunks
    interval_s: Interval | None  # that holds the median with CONFIDENCE; None: too few chunks
    least_s: float
    percentiles_s: dict[int, float]  # 5, 25, 50, 75, 95 and 99, of all samples
    most_s: float
    averages_s: dict[str, float]  # by AVERAGES, of all samples
    first_s: float  # median of the first runs after a set-up
    autocorrelation: float  # of neighbouring samples in a chunk
    bytes_moved: int  # by all ranks together in a run
    bytes_per_s: float | None  # bytes_moved / median_s
    operations: int
    parts_s: dict[str, float]  # parts of a run by name, medians of chunks
    overlap: float | None  # the part of communication or computation that the other one hides; outside 0..1 by noise

    def is_known(self, target: float) -> bool:
        """Whether half of the interval is at most this part of the median."""
        return self.interval_s is not None and self.interval_s[1] - self.interval_s[0] <= 2 * target * self.median_s


def summarize(launches: Sequence[Sequence[Chunk]]) -> Summary:
    """Of at least one chunk."""
    chunks = [chunk for launch in launches for chunk in launch]
    samples = sorted(value for chunk in chunks for value in chunk.run_s)
    medians = [[statistics.median(chunk.run_s) for chunk in launch] for launch in launches]
    median_s = statistics.median(value for launch in medians for value in launch)
    cut = int(TRIMMED * len(samples))
    return Summary(
        samples=len(samples),
        chunks=len(chunks),
        launches=len(launches),
        median_s=median_s,
        interval_s=interval(medians),
        least_s=samples[0],
        percentiles_s={percent: _percentile(samples, percent) for percent in (5, 25, 50, 75, 95, 99)},
        most_s=samples[-1],
        averages_s={
            "median": statistics.median(samples),
            "mean": statistics.fmean(samples),
            "trimmed": statistics.fmean(samples[cut : len(samples) - cut]),
            "harmonic": statistics.harmonic_mean(samples),
        },
        first_s=1e-9 * statistics.median(chunk.first_ns for chunk in chunks),
        autocorrelation=_autocorrelation([chunk.run_s for chunk in chunks]),
        bytes_moved=chunks[0].bytes_moved,
        bytes_per_s=chunks[0].bytes_moved / median_s if chunks[0].bytes_moved and median_s > 0 else None,
        operations=chunks[0].operations,
        parts_s=_parts_s(chunks),
        overlap=_overlap(chunks),
    )


def interval(launches: Sequence[Sequence[float]]) -> Interval | None:
    """Of the median, from the medians of each launch's chunks; None with too few of them for CONFIDENCE.

    As mpi/bench/runner/statistics.cpp, which decides with it when a point is known.
    """
    blocks = sorted(block_medians(launches))
    # 2 P(fewer than k of n coins show heads) is the chance that the interval misses the median.
    n, k, outside = len(blocks), 0, 0.0
    while k < n // 2 and (outside := outside + 2 * _coins(n, k)) <= 1 - _confidence(k, launches):
        k += 1
    if k and 1 < len(launches) < LEAST_LAUNCHES:
        k = 1
    return (blocks[k - 1], blocks[n - k]) if k else None


def _coins(n: int, k: int) -> float:
    """The chance that exactly k of n show heads."""
    return math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2))


def _confidence(k: int, launches: Sequence[Sequence[float]]) -> float:
    """The outermost of six or seven launches do."""
    return OF_LAUNCHES if k > 0 and len(launches) >= LEAST_LAUNCHES else CONFIDENCE


def block_medians(launches: Sequence[Sequence[float]]) -> list[float]:
    of_each = 1 if len(launches) >= LEAST_LAUNCHES else math.ceil(BLOCKS / len(launches))
    found = []
    for chunks in launches:
        blocks = min(of_each, len(chunks))
        ends = [i * len(chunks) // blocks for i in range(blocks + 1)]
        found += [statistics.median(chunks[begin:end]) for begin, end in pairwise(ends)]
    return found


def _parts_s(chunks: Sequence[Chunk]) -> dict[str, float]:
    names = dict.fromkeys(name for chunk in chunks for name in chunk.parts_ns)
    return {name: 1e-9 * statistics.median(c.parts_ns[name] for c in chunks if name in c.parts_ns) for name in names}


def _overlap(chunks: Sequence[Chunk]) -> float | None:
    """Of the chunks whose parts have the operation alone ("pure") and the computation alone ("compute"), the median."""
    found = []
    for chunk in chunks:
        pure, compute = chunk.parts_ns.get("pure", 0.0), chunk.parts_ns.get("compute", 0.0)
        if pure > 0 and compute > 0:
            both = 1e9 * statistics.median(chunk.run_s)
            found.append((pure + compute - both) / min(pure, compute))
    return statistics.median(found) if found else None


def _percentile(ordered: Sequence[float], percent: int) -> float:
    """With linear interpolation between neighbours."""
    place = (len(ordered) - 1) * percent / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def _autocorrelation(chunks: Sequence[Sequence[float]]) -> float:
    values = [value for chunk in chunks for value in chunk]
    mean = statistics.fmean(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    products = [(one - mean) * (other - mean) for chunk in chunks for one, other in pairwise(chunk)]
    return statistics.fmean(products) / variance if products and variance > 0 else 0.0
