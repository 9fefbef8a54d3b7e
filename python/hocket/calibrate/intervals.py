# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Between what the bandwidths of links came out in the rounds, and how often such an interval holds the true median."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from hocket.calibrate.infer import Inferred
from hocket.calibrate.structure import net_times, rate_over
from hocket.calibrate.tree import Rate

WANTED = 0.95
Interval = tuple[float, float]


def cut_off(count: int) -> tuple[int, float]:
    """How many of the least and of the greatest of `count` values an interval leaves out, and its confidence.

    It is the narrowest that holds the median with 95 %, by the binomial distribution; of fewer than six values all that
    there is, their range, with less.
    """
    outside = [2 * sum(math.comb(count, i) for i in range(cut + 1)) / 2**count for cut in range((count + 1) // 2)]
    cut = max((cut for cut, missed in enumerate(outside) if 1 - missed >= WANTED), default=0)
    return cut, max(0.0, 1 - outside[cut])


def num_rounds(inferred: Inferred) -> int:
    """Steps that ran out of time have made different numbers of rounds."""
    return min(len(inferred.alone.rounds), len(inferred.fitted.times))


def intervals(inferred: Inferred) -> dict[frozenset[int], tuple[Interval, Interval]]:
    """By link, a single host being a group of one: out of the group, and into it. None of one round.

    Where both directions have one bandwidth, the interval spans those of both.
    """
    if num_rounds(inferred) < 2:
        return {}
    alone, tree, fitted = inferred.alone, inferred.tree, inferred.fitted
    nets = [net_times(alone, fitted.experiments, of_round) for of_round in fitted.times]
    alones = [dataclasses.replace(alone, rate=rate) for rate in alone.rounds]
    found = {
        group: [rate_over(group, one, fitted.experiments, net) for one, net in zip(alones, nets, strict=False)]
        for group in tree.groups
    }
    found |= {frozenset([i]): [one.hosts()[i] for one in alones] for i in range(len(tree.hosts))}
    around = {group: _around(tree.rate(group), rates) for group, rates in found.items()}
    return {group: _joined(*both) if tree.joined(group) else both for group, both in around.items()}


def _joined(out: Interval, back: Interval) -> tuple[Interval, Interval]:
    both = min(out[0], back[0]), max(out[1], back[1])
    return both, both


def _around(estimate: Rate, rounds: Sequence[Rate]) -> tuple[Interval, Interval]:
    return (
        _interval(estimate.out, [rate.out for rate in rounds]),
        _interval(estimate.back, [rate.back for rate in rounds]),
    )


def _interval(estimate: float, values: Sequence[float]) -> Interval:
    cut, _ = cut_off(len(values))
    some = sorted(values)[cut : len(values) - cut]
    return min(estimate, some[0]), max(estimate, some[-1])
