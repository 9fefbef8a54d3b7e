# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a message costs beside its time on the wire: overhead, latency, and how its time grows with its size."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hocket.calibrate.segments import Segment, fit_segments, time_s
from hocket.calibrate.structure import Alone, net_times, sized
from hocket.calibrate.transfers import CoreCosts, Experiment, Measure, Times, Transfer

LONGEST_S = 0.1  # of a message of the sweep
MOST_BYTES = 4 << 20
NUM_SIZES = 40
DUPLEX_S = 0.03  # alone
HELD_OUT = 4  # every so many-th size is kept from the fit


@dataclass(frozen=True)
class Sweep:
    """One pair of hosts: times of messages of some sizes, and of their empty answers."""

    source: int
    target: int
    sizes: np.ndarray
    times_s: np.ndarray  # the least over the rounds
    segments: list[Segment]
    held_out: np.ndarray  # |predicted / measured - 1| of sizes that the fit has not seen


@dataclass(frozen=True)
class Messages:
    costs: CoreCosts
    duplex: float  # what each of two transfers in opposite directions keeps of its rate alone
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
    alone: Alone, measure: Measure, measure_costs: Callable[[Sequence[tuple[int, int]]], Sequence[CoreCosts]], seed: int
) -> Messages:
    pairs = typical_pairs(alone)
    experiments: list[Experiment] = []
    sizes = [sweep_sizes(float(alone.rate[pair]), seed) for pair in pairs]
    for (a, b), some in zip(pairs, sizes, strict=True):
        experiments += [(Transfer(a, b, size),) for size in some]
    singles = len(experiments)
    experiments += [sized(alone, [(a, b), (b, a)], DUPLEX_S) for a, b in pairs]
    # The least over the rounds: what a message takes if nothing disturbs it. Of small ones a disturbance is a multiple.
    times = measure(experiments)
    least = np.array([of_round[:singles] for of_round in times])[:, :, 0].min(axis=0)
    sweeps, at = [], 0
    for (a, b), some in zip(pairs, sizes, strict=True):
        sweeps.append(_sweep(a, b, some, least[at : at + len(some)]))
        at += len(some)
    # The fastest pair keeps the cores busiest with the least waiting; times that were stolen by others only add.
    costs = np.array(measure_costs(pairs[-1:]))
    least_costs = CoreCosts(*map(float, [*costs[:, :4].min(axis=0), costs[:, 4].max()]))
    return Messages(least_costs, _duplex(alone, experiments[singles:], [r[singles:] for r in times]), sweeps)


def _duplex(alone: Alone, experiments: Sequence[Experiment], times: Times) -> float:
    medians = [list(np.median([of_round[i] for of_round in times], axis=0)) for i in range(len(experiments))]
    kept = [
        transfer.size_bytes / alone.expected_rate(transfer.source, transfer.target) / taken
        for experiment, seconds in zip(experiments, net_times(alone, experiments, medians), strict=True)
        for transfer, taken in zip(experiment, seconds, strict=True)
    ]
    return float(min(1.0, np.median(kept)))


def _sweep(source: int, target: int, sizes: Sequence[int], times_s: np.ndarray) -> Sweep:
    x, y = np.array(sizes, dtype=float), times_s
    out = np.arange(len(x)) % HELD_OUT == HELD_OUT - 1
    fitted = fit_segments(x[~out], y[~out])
    held_out = np.array([abs(time_s(fitted, size) / taken - 1) for size, taken in zip(x[out], y[out], strict=True)])
    return Sweep(source, target, x, y, fit_segments(x, y), held_out)
