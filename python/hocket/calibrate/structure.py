# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The tree behind the hosts, from who slows whom down.

Hosts send to partners all at once, over and over in other pairings. Two hosts under one switch reach each other at full
rate whatever the others do; the more links with too little bandwidth lie between two hosts, the more often their
transfers are slowed. So the mean slow-down is a distance, and clustering by it gives the groups that a link might part
from the rest (`candidates`). Which of these links exist, as far as transfers can show, is decided by prediction: a link
is kept when without it the simulator explains the measured times less well (`Selection`). Its bandwidth is the
most that was carried over it: where it limited anything it was full.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hocket.calibrate.tree import Predictor, Rate, Tree
from hocket.measure.transfers import Experiment, Transfer

# A link is kept if without it predictions are worse on the whole by this share of the times; by this part of the spread
# of the times over the rounds, since what was carried fits some of the noise too; and by this part of the error that
# remains with all links, since what the simulator does not know, such as a busy core, may look like a link.
LEAST_GAIN = 0.002
LEAST_GAIN_OF_NOISE = 0.1
LEAST_GAIN_OF_ERROR = 0.1
# And it carries less than this part of what the hosts on its smaller side carry alone: sharing alone loses some.
MOST_OF_HOSTS = 0.9
# Pairings of each group with the rest, each the best of some that are drawn at random.
CROSSINGS, DRAWN = 3, 4
MOST_LOOSE_PAIRS = 16


@dataclass(frozen=True)
class Alone:
    """What pairs of hosts do alone. n x n arrays; 0 where not measured."""

    empty_s: np.ndarray  # an empty message and its answer: the median
    start_s: np.ndarray  # what a long message takes beside bytes / rate; below 0 where links let a burst pass at once
    rate: np.ndarray  # bytes/s: medians over the rounds
    rounds: np.ndarray  # the same of each round

    def hosts(self) -> tuple[Rate, ...]:
        """The most that each host sent and received."""
        return tuple(
            Rate(_near_the_most(out), _near_the_most(back)) for out, back in zip(self.rate, self.rate.T, strict=True)
        )

    def expected_rate(self, source: int, target: int) -> float:
        measured = float(self.rate[source, target])
        return measured or min(float(self.rate[source].max()), float(self.rate[:, target].max()))


def pairings(alone: Alone, duration_s: float, most: int, seed: int) -> list[Experiment]:
    """Random pairings in which every host sends once and receives once; every pair occurs equally often.

    Sizes are such that each transfer alone takes `duration_s`.
    """
    count = len(alone.rate)
    generator = random.Random(seed)
    experiments: list[Experiment] = []
    while len(experiments) < most:
        order = generator.sample(range(count), count)
        for shift in range(1, count):  # together these have every pair once
            pairs = [(order[i], order[(i + shift) % count]) for i in range(count)]
            experiments.append(sized(alone, pairs, duration_s))
    return experiments[:most]


def halves(alone: Alone, duration_s: float, number: int, seed: int) -> list[Experiment]:
    """Random pairings in which half of the hosts send to the other half: no cable carries data both ways."""
    count = len(alone.rate)
    generator = random.Random(seed)
    experiments = []
    for _ in range(number):
        order = generator.sample(range(count), count)
        experiments.append(sized(alone, list(zip(order[: count // 2], order[count // 2 :], strict=False)), duration_s))
    return experiments


def sized(alone: Alone, pairs: Sequence[tuple[int, int]], duration_s: float) -> Experiment:
    return tuple(Transfer(a, b, max(1, round(alone.expected_rate(a, b) * duration_s))) for a, b in pairs)


def net_times(alone: Alone, experiments: Sequence[Experiment], times: Sequence[Sequence[float]]) -> list[np.ndarray]:
    """Without what does not grow with the bytes; at least a tenth remains, so that noise cannot make it negative."""
    measured = alone.rate > 0
    start_s = np.where(measured, alone.start_s, np.median(alone.start_s[measured]))
    net = []
    for experiment, seconds in zip(experiments, times, strict=True):
        taken = np.asarray(seconds)
        net.append(np.maximum(taken - [start_s[t.source, t.target] for t in experiment], taken / 10))
    return net


def slow_down(alone: Alone, experiments: Sequence[Experiment], net: Sequence[np.ndarray]) -> np.ndarray:
    """Of all pairs (n x n, symmetric, 0 on the diagonal): the mean over the experiments of log(time / time alone)."""
    count = len(alone.rate)
    total, number = np.zeros((count, count)), np.zeros((count, count))
    for experiment, seconds in zip(experiments, net, strict=True):
        for transfer, taken in zip(experiment, seconds, strict=True):
            alone_s = transfer.size_bytes / alone.expected_rate(transfer.source, transfer.target)
            total[transfer.source, transfer.target] += max(0.0, float(np.log(taken / alone_s)))
            number[transfer.source, transfer.target] += 1
    total, number = total + total.T, number + number.T
    usual = total.sum() / number.sum()  # of many hosts not all pairs were measured
    mean = np.where(number > 0, total / np.maximum(number, 1), usual)
    np.fill_diagonal(mean, 0)
    return mean


def candidates(distance: np.ndarray) -> list[frozenset[int]]:
    """Groups that a link may part from the rest, from the smallest on: those of average-linkage clustering."""
    joined = _joined(distance)
    everything = joined[-1][0] | joined[-1][1]
    found: list[frozenset[int]] = []
    for group in (a | b for a, b in joined[:-1]):
        if len(everything - group) > 1 and everything - group not in found:
            found.append(group)
    return found


def loose_pairs(distance: np.ndarray) -> list[frozenset[int]]:
    """Pairs of hosts that clustering has put to larger groups one by one: the nearest.

    A link above two hosts slows them only when both send to others that are fast enough, and then by a quarter, say: in
    noise they may seem as near to others as to each other.
    """
    if len(distance) < 5:  # of four hosts, two and the other two are parted by the same link
        return []
    joined = _joined(distance)
    loose = sorted(host for ends in joined if sum(map(len, ends)) > 2 for end in ends if len(end) == 1 for host in end)
    pairs = sorted(itertools.combinations(loose, 2), key=lambda pair: float(distance[pair]))
    return [frozenset(pair) for pair in pairs[:MOST_LOOSE_PAIRS]]


def _joined(distance: np.ndarray) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Which two groups become one, step by step."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    groups = [frozenset([i]) for i in range(len(distance))]
    joined = []
    for a, b, _, _ in linkage(squareform(distance, checks=False), "average"):
        joined.append((groups[int(a)], groups[int(b)]))
        groups.append(joined[-1][0] | joined[-1][1])
    return joined


def crossings(alone: Alone, groups: Sequence[frozenset[int]], duration_s: float, seed: int) -> list[Experiment]:
    """For each group as many transfers at once out of it, and into it, as there can be without sharing a host.

    Of random pairings those that would carry most if no two shared a link: partners that are slow alone do not fill
    the group's link.
    """
    generator = random.Random(seed)
    everyone = frozenset(range(len(alone.rate)))
    experiments = []
    for group in groups:
        inside, outside = sorted(group), sorted(everyone - group)
        for _ in range(CROSSINGS):
            drawn = [
                list(zip(generator.sample(inside, len(inside)), generator.sample(outside, len(outside)), strict=False))
                for _ in range(DRAWN)
            ]
            for way in (drawn, [[(b, a) for a, b in pairs] for pairs in drawn]):
                pairs = max(way, key=lambda pairs: sum(alone.expected_rate(a, b) for a, b in pairs))
                experiments.append(sized(alone, pairs, duration_s))
    return experiments


def rate_over(
    group: frozenset[int], alone: Alone, experiments: Sequence[Experiment], net: Sequence[np.ndarray]
) -> Rate:
    """What was carried out of a group, and into it, until the last of the transfers ended, where that was most.

    No less than what one transfer alone carries, which shares the link with nobody.
    """
    carried: dict[bool, list[float]] = {True: [], False: []}
    for experiment, seconds in zip(experiments, net, strict=True):
        for out in (True, False):
            crosses = [i for i, t in enumerate(experiment) if (t.source in group) == out and (t.target in group) != out]
            if crosses:
                size_bytes = sum(experiment[i].size_bytes * experiment[i].messages for i in crosses)
                carried[out].append(size_bytes / float(seconds[crosses].max()))
    inside = np.isin(np.arange(len(alone.rate)), list(group))
    return Rate(
        max(_near_the_most(carried[True]), _near_the_most(alone.rate[inside][:, ~inside].ravel())),
        max(_near_the_most(carried[False]), _near_the_most(alone.rate[~inside][:, inside].ravel())),
    )


class Selection:
    """Trees judged by how well they predict what was measured."""

    def __init__(
        self, alone: Alone, experiments: Sequence[Experiment], net: Sequence[np.ndarray], noise: float
    ) -> None:
        """`noise`: the mean of |log(time in a round / median over the rounds)|."""
        self._alone = alone
        self._hosts = alone.hosts()
        self._noise = noise
        self._experiments = list(experiments)
        self._net = list(net)
        self._predictor = Predictor(experiments, len(alone.rate))

    def error(self, tree: Tree) -> float:
        """The mean of |log(predicted / measured)| over all transfers; each counts for 1 at most."""
        predicted, measured = np.concatenate(self._predictor.times_s(tree)), np.concatenate(self._net)
        return float(np.minimum(np.abs(np.log(predicted / measured)), 1.0).mean())

    def select(
        self, groups: Sequence[frozenset[int]], others: Sequence[frozenset[int]] = ()
    ) -> tuple[Tree, float, dict[frozenset[int], float]]:
        """The tree with those links that are needed to explain the times, its error, and the error without each.

        Of `groups`, any two of which are nested or apart, and then of `others` that are so with those that stay.
        """
        tree = Tree(self._hosts, self._limiting(groups))
        least_gain = max(LEAST_GAIN, LEAST_GAIN_OF_NOISE * self._noise, LEAST_GAIN_OF_ERROR * self.error(tree))
        tree, error = self._needed(tree, least_gain)
        limiting = self._limiting(others)
        while True:
            more = [
                Tree(self._hosts, {**tree.groups, group: rate})
                for group, rate in limiting.items()
                if all(group < known or not group & known for known in tree.groups)
            ]
            best = min(more, key=self.error, default=tree)
            if self.error(best) > error - least_gain:
                break
            tree, error = best, self.error(best)
        tree, error = self._needed(tree, least_gain)
        return tree, error, {group: self.error(self._without(tree, [group])) for group in tree.groups}

    def _needed(self, tree: Tree, least_gain: float) -> tuple[Tree, float]:
        """Without those links that do not make the error smaller by so much."""
        error = self.error(tree)
        while tree.groups:
            errors = {group: self.error(self._without(tree, [group])) for group in tree.groups}
            least = min(errors, key=lambda group: errors[group])
            if errors[least] >= error + least_gain:
                break
            # Most candidates limit nothing, and go at once.
            idle = [group for group in errors if errors[group] < error + least_gain / 10]
            together = self._without(tree, idle)
            if idle and (error_together := self.error(together)) < error + least_gain / 2:
                tree, error = together, error_together
            else:
                tree, error = self._without(tree, [least]), errors[least]
        return tree, error

    def _limiting(self, groups: Sequence[frozenset[int]]) -> dict[frozenset[int], Rate]:
        rates = {group: rate_over(group, self._alone, self._experiments, self._net) for group in groups}
        return {group: rate for group, rate in rates.items() if self._limits(group, rate)}

    def _limits(self, group: frozenset[int], rate: Rate) -> bool:
        inside = [rate for host, rate in enumerate(self._hosts) if host in group]
        outside = [rate for host, rate in enumerate(self._hosts) if host not in group]
        most_out = min(sum(rate.out for rate in inside), sum(rate.back for rate in outside))
        most_back = min(sum(rate.back for rate in inside), sum(rate.out for rate in outside))
        return rate.out < MOST_OF_HOSTS * most_out or rate.back < MOST_OF_HOSTS * most_back

    def _without(self, tree: Tree, groups: Sequence[frozenset[int]]) -> Tree:
        return Tree(self._hosts, {group: rate for group, rate in tree.groups.items() if group not in groups})


def _near_the_most(values: Sequence[float] | np.ndarray) -> float:
    """Where a link limits, it carries the same every time; one measurement may have been lucky."""
    least = 0.9 * max(values)
    return float(np.median([value for value in values if value >= least]))


def all_pairs(count: int, most_partners: int, seed: int) -> list[tuple[int, int]]:
    """Ordered pairs of hosts; of many hosts each with some of the others, both ways."""
    if count - 1 <= most_partners:
        return list(itertools.permutations(range(count), 2))
    order = random.Random(seed).sample(range(count), count)
    shifts = random.Random(seed).sample(range(1, (count + 1) // 2), most_partners // 2)
    pairs = [(order[i], order[(i + shift) % count]) for shift in shifts for i in range(count)]
    return [*pairs, *((b, a) for a, b in pairs)]
