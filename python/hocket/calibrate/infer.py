# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Measures what the inference of the tree needs, step by step: alone, all at once, group against group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hocket.calibrate.structure import (
    Alone,
    Selection,
    all_pairs,
    candidates,
    crossings,
    halves,
    net_times,
    pairings,
    slow_down,
)
from hocket.calibrate.transfers import Experiment, Measure, Times, Transfer
from hocket.calibrate.tree import Tree

PROBE_BYTES = 64 * 1024
EMPTY_TIMES = 4  # in each round: they take no time, and of so short ones many are disturbed
MOST_PARTNERS = 16
# Long against a time slice of the system and the start of a TCP connection.
DURATION_S = 0.03
# Together they take two to eight times as long as alone.
TOGETHER_S = 0.02
MOST_PAIRINGS = 64


@dataclass(frozen=True)
class Measured:
    """Experiments and their times in all rounds."""

    experiments: list[Experiment]
    times: Times

    def net_s(self, alone: Alone) -> list[np.ndarray]:
        """Medians over the rounds, without what an empty message takes."""
        return net_times(alone, self.experiments, medians(self.times))


@dataclass(frozen=True)
class Inferred:
    """A tree, how well it predicts what its links were chosen by, and what was measured."""

    tree: Tree
    error: float
    errors_without: dict[frozenset[int], float]  # each link between switches
    alone: Alone
    fitted: Measured  # several transfers at once: what the tree was fitted to,
    held_out: Measured  # and what not


def infer(count: int, measure: Measure, seed: int = 1) -> Inferred:
    """The tree behind `count` hosts. `measure` runs experiments between hosts, which count from 0, in some rounds."""
    alone = measure_alone(count, measure, seed)
    groups: list[frozenset[int]] = []
    if count > 3:
        everyone = pairings(alone, TOGETHER_S, min(8 * (count - 1), MOST_PAIRINGS), seed)
        groups = candidates(slow_down(alone, everyone, net_times(alone, everyone, medians(measure(everyone)))))
    # Data that go both ways over a cable slow each other a little with TCP, whose acknowledgements wait behind them.
    # The simulator does not know that: links are judged by transfers that go one way.
    fitted = [
        *crossings(alone, groups, TOGETHER_S, seed),
        *halves(alone, TOGETHER_S, min(2 * count, MOST_PAIRINGS), seed),
    ]
    held_out = halves(alone, TOGETHER_S, min(count, MOST_PAIRINGS), seed + 1)
    times = measure([*fitted, *held_out])
    parts = [
        Measured(fitted, [of_round[: len(fitted)] for of_round in times]),
        Measured(held_out, [of_round[len(fitted) :] for of_round in times]),
    ]
    selection = Selection(alone, fitted, parts[0].net_s(alone), spread(times))
    return Inferred(*selection.select(groups), alone, *parts)


def measure_alone(count: int, measure: Measure, seed: int) -> Alone:
    pairs = all_pairs(count, MOST_PARTNERS, seed)
    ends = tuple(np.array(pairs).T)
    empty_s, start_s = np.zeros((count, count)), np.zeros((count, count))
    probes: list[Experiment] = [(Transfer(a, b, size),) for size in (*[0] * EMPTY_TIMES, PROBE_BYTES) for a, b in pairs]
    probed = np.array(measure(probes)).reshape(-1, EMPTY_TIMES + 1, len(pairs))
    empty_s[ends] = np.median(probed[:, :-1], axis=(0, 1))
    # A probe is too short for a rate, but long enough to choose the size that is not.
    # Least times: one that was disturbed would be taken off a long one, and no link is faster than it is.
    probe_s = probed[:, -1].min(axis=0)
    probed_rate = PROBE_BYTES / np.maximum(probe_s - empty_s[ends], probe_s / 10)
    sizes = np.array([max(2 * PROBE_BYTES, round(rate * DURATION_S)) for rate in probed_rate])
    long: list[Experiment] = [(Transfer(a, b, int(size)),) for (a, b), size in zip(pairs, sizes, strict=True)]
    taken = np.array(measure(long))[:, :, 0]
    # What both sizes have in common is no part of the rate: latency, the start, what a token bucket lets through.
    rounds = np.zeros((len(taken), count, count))
    for rate, some_s in zip(rounds, taken, strict=True):
        rate[ends] = (sizes - PROBE_BYTES) / np.maximum(some_s - probe_s, some_s / 10)
    rate = np.median(rounds, axis=0)
    start_s[ends] = np.median(taken, axis=0) - sizes / rate[ends]
    return Alone(empty_s, start_s, rate, rounds)


def medians(times: Times) -> list[list[float]]:
    """Over the rounds, by experiment and transfer."""
    return [
        [float(value) for value in np.median([times[r][e] for r in range(len(times))], axis=0)]
        for e in range(len(times[0]))
    ]


def spread(times: Times) -> float:
    """The mean of |log(time in a round / median over the rounds)|."""
    logs = np.log([np.concatenate(of_round) for of_round in times])
    return float(np.abs(logs - np.median(logs, axis=0)).mean())
