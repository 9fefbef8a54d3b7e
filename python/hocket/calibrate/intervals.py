# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""95 % intervals of bandwidths by the bootstrap: the rounds drawn again with replacement [Efron79]."""

from __future__ import annotations

import numpy as np

from hocket.calibrate.infer import Inferred, medians
from hocket.calibrate.structure import net_times, rate_over
from hocket.calibrate.tree import Rate

DRAWS = 200
Interval = tuple[float, float]


def intervals(inferred: Inferred, seed: int) -> dict[frozenset[int], tuple[Interval, Interval]]:
    """By link, a single host being a group of one: out of the group, and into it."""
    generator = np.random.default_rng(seed)
    drawn: dict[frozenset[int], list[Rate]] = {group: [] for group in inferred.tree.groups}
    times = inferred.fitted.times
    for _ in range(DRAWS):
        rounds = [times[i] for i in generator.integers(len(times), size=len(times))]
        net = net_times(inferred.alone, inferred.fitted.experiments, medians(rounds))
        for group, rates in drawn.items():
            rates.append(rate_over(group, inferred.fitted.experiments, net))
    for host in range(len(inferred.tree.hosts)):
        rates = drawn.setdefault(frozenset([host]), [])
        for _ in range(DRAWS):
            draw = inferred.alone.rounds[
                generator.integers(len(inferred.alone.rounds), size=len(inferred.alone.rounds))
            ]
            rate = np.median(draw, axis=0)
            rates.append(Rate(float(rate[host].max()), float(rate[:, host].max())))
    return {
        group: (_interval([rate.out for rate in rates]), _interval([rate.back for rate in rates]))
        for group, rates in drawn.items()
    }


def _interval(values: list[float]) -> Interval:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)
