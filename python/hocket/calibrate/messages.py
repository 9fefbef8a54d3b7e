# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a message costs beside its time on the wire: overhead, latency, and how its time grows with its size."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hocket.calibrate.duplex import BothWays, both_ways, kept_both_ways
from hocket.calibrate.segments import Segment, fit_segments, time_s
from hocket.calibrate.structure import Alone
from hocket.measure.transfers import CoreCosts, Measure, Transfer

LONGEST_S = 0.1  # of a message of the sweep
MOST_BYTES = 4 << 20
NUM_SIZES = 40
SHORT_S = 0.003
SHORT_TIMES = 5  # in each round, of messages that alone take less than SHORT_S
HELD_OUT = 4  # every so many-th size is kept from the fit
SMALL_BYTES = 256  # up to here a message takes as long as an empty one, beside its bytes


@dataclass(frozen=True)
class Sweep:
    """One pair of hosts: times of messages of some sizes, and of their empty answers."""

    source: int
    target: int
    sizes: np.ndarray
    times_s: np.ndarray  # medians
    segments: list[Segment]
    held_out: np.ndarray  # |predicted / measured - 1| of sizes that the fit has not seen

    def empty_s(self, rate: float) -> float:
        """An empty message and its answer, the median over small sizes without what their bytes take at `rate`."""
        fitted = (np.arange(len(self.sizes)) % HELD_OUT != HELD_OUT - 1) & (self.sizes <= SMALL_BYTES)
        return float(np.median((self.times_s - self.sizes / rate)[fitted]))


@dataclass(frozen=True)
class Messages:
    costs: CoreCosts
    both_ways: BothWays
    sweeps: list[Sweep]


def typical_pairs(alone: Alone, most: int = 3) -> list[tuple[int, int]]:
    """Pairs from the slowest to the fastest."""
    pairs = [(int(a), int(b)) for a, b in np.argwhere(alone.rate > 0)]
    pairs.sort(key=lambda pair: (alone.rate[pair], pair))
    return [pairs[i] for i in sorted({round(x) for x in np.linspace(0, len(pairs) - 1, most)})]


def sweep_sizes(rate: float, seed: int) -> list[int]:
    """From 1 byte on, at random within equal steps of the logarithm, so that no step of a protocol hides between."""
    generator = random.Random(seed)
    top = np.log(max(64.0, min(MOST_BYTES, rate * LONGEST_S)))
    return sorted({round(float(np.exp(top * (i + generator.random()) / NUM_SIZES))) for i in range(NUM_SIZES)})


def measure_messages(
    alone: Alone,
    measure: Measure,
    measure_costs: Callable[[Sequence[tuple[int, int]]], Sequence[CoreCosts]],
    rendezvous_bytes: int | None,
    seed: int,
) -> Messages:
    pairs = typical_pairs(alone)
    sizes = {pair: sweep_sizes(float(alone.rate[pair]), seed) for pair in pairs}
    # By size, so that buckets of links fill again while other pairs have their turn.
    once = sorted((size, pair) for pair in pairs for size in sizes[pair])
    short = [(size, pair) for size, pair in once if size < float(alone.rate[pair]) * SHORT_S]
    singles = [*once, *short * (SHORT_TIMES - 1)]
    ways = both_ways(alone, rendezvous_bytes, seed)
    times = measure([*((Transfer(*pair, size),) for size, pair in singles), *ways])
    taken: dict[tuple[int, tuple[int, int]], list[float]] = {}
    for of_round in times:
        for single, seconds in zip(singles, of_round, strict=False):
            taken.setdefault(single, []).append(seconds[0])
    sweeps = [
        _sweep(*pair, sizes[pair], np.array([np.median(taken[size, pair]) for size in sizes[pair]])) for pair in pairs
    ]
    # The fastest pair keeps the cores busiest with the least waiting; times that were stolen by others only add.
    costs = np.array(measure_costs(pairs[-1:]))
    least_costs = CoreCosts(*map(float, [*costs[:, :4].min(axis=0), costs[:, 4].max()]))
    return Messages(least_costs, kept_both_ways(alone, ways, [r[len(singles) :] for r in times]), sweeps)


def _sweep(source: int, target: int, sizes: Sequence[int], times_s: np.ndarray) -> Sweep:
    x, y = np.array(sizes, dtype=float), times_s
    out = np.arange(len(x)) % HELD_OUT == HELD_OUT - 1
    fitted = fit_segments(x[~out], y[~out])
    held_out = np.array([abs(time_s(fitted, size) / taken - 1) for size, taken in zip(x[out], y[out], strict=True)])
    return Sweep(source, target, x, y, fit_segments(x, y), held_out)
