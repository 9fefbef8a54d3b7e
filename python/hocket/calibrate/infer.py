# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Measures what the inference of the tree needs, step by step: alone, all at once, group against group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hocket.calibrate.structure import (
    Alone,
    Selection,
    all_pairs,
    candidates,
    crossings,
    halves,
    loose_pairs,
    net_times,
    pairings,
    slow_down,
)
from hocket.calibrate.tree import Tree
from hocket.measure.transfers import Experiment, Measure, Report, Times, Transfer, report_nothing

PROBE_BYTES = 64 * 1024
EMPTY_TIMES = 8  # in each round: they take no time, and of so short ones many are disturbed
MOST_PARTNERS = 16
# Long against a time slice of the system and the start of a TCP connection.
DURATION_S = 0.03
# So often are sizes chosen: again where a message was too short, or took hardly longer than a probe. One that waited
# for a busy machine has too low a rate.
MOST_CHOICES = 3
LEAST_SHARE = 0.4  # of the time of a long message that a probe does not take
# More of them beside long messages, in each round and in all, where a probe is short enough to be disturbed much.
PROBE_TIMES, PROBES = 2, 4
# What a message takes beside its bytes is no more than two empty ones, as for a rendezvous, and this share of its time.
MOST_START = 0.05
MOST_BYTES = 1 << 30
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


def infer(count: int, measure: Measure, seed: int = 1, report: Report = report_nothing) -> Inferred:
    """The tree behind `count` hosts. `measure` runs experiments between hosts, which count from 0, in some rounds."""
    alone = measure_alone(count, measure, seed, report)
    groups: list[frozenset[int]] = []
    pairs: list[frozenset[int]] = []
    if count > 3:
        report("all hosts at once")
        everyone = pairings(alone, TOGETHER_S, min(8 * (count - 1), MOST_PAIRINGS), seed)
        distance = slow_down(alone, everyone, net_times(alone, everyone, medians(measure(everyone))))
        groups, pairs = candidates(distance), loose_pairs(distance)
    # Data that go both ways over a cable slow each other a little with TCP, whose acknowledgements wait behind them.
    # The simulator does not know that: links are judged by transfers that go one way.
    fitted = [
        *crossings(alone, [*groups, *pairs], TOGETHER_S, seed),
        *halves(alone, TOGETHER_S, min(2 * count, MOST_PAIRINGS), seed),
    ]
    held_out = halves(alone, TOGETHER_S, min(count, MOST_PAIRINGS), seed + 1)
    report("groups of hosts against others")
    times = measure([*fitted, *held_out])
    parts = [
        Measured(fitted, [of_round[: len(fitted)] for of_round in times]),
        Measured(held_out, [of_round[len(fitted) :] for of_round in times]),
    ]
    selection = Selection(alone, fitted, parts[0].net_s(alone), spread(times))
    return Inferred(*selection.select(groups, pairs), alone, *parts)


def measure_alone(count: int, measure: Measure, seed: int, report: Report = report_nothing) -> Alone:
    pairs = all_pairs(count, MOST_PARTNERS, seed)
    ends = tuple(np.array(pairs).T)
    empty_s, start_s = np.zeros((count, count)), np.zeros((count, count))
    probes: list[Experiment] = [(Transfer(a, b, size),) for size in (*[0] * EMPTY_TIMES, PROBE_BYTES) for a, b in pairs]
    report("small messages between pairs of hosts")
    probed = np.array(measure(probes)).reshape(-1, EMPTY_TIMES + 1, len(pairs))
    empty_s[ends] = np.median(probed[:, :-1], axis=(0, 1))
    least_s = probed[:, :-1].min(axis=(0, 1))
    taken, sizes, probe_s = _measure_long(pairs, measure, report, least_s, probed[:, -1])
    # What both sizes have in common is not a part of the rate: latency, the start, what a token bucket lets through.
    # A message that carries no more than twice what it seems to is too short to distinguish them.
    rounds = np.zeros((len(taken), count, count))
    for rate, some_s in zip(rounds, taken, strict=True):
        rate[ends] = np.minimum((sizes - PROBE_BYTES) / np.maximum(some_s - probe_s, 1e-9), 2 * sizes / some_s)
    rate = np.median(rounds, axis=0)
    start_s[ends] = probe_s - PROBE_BYTES / rate[ends]
    return Alone(empty_s, start_s, rate, rounds)


def _measure_long(
    pairs: Sequence[tuple[int, int]], measure: Measure, report: Report, empty_s: np.ndarray, probed: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Messages long enough for a rate: their times, by round and pair, their sizes, and times of probes.

    From least times of an empty message, and times of a probe by round and pair. A probe is too short for a rate, but
    long enough to choose a size. Least times count: one that was disturbed would be taken off a long one, and no link
    is faster than it is.
    """
    probe_s = probed.min(axis=0)
    times = max(PROBE_TIMES, -(-PROBES // len(probed)))
    rates = PROBE_BYTES / np.maximum(probe_s - empty_s, probe_s / 10)
    sizes = np.clip(np.round(rates * DURATION_S), 2 * PROBE_BYTES, MOST_BYTES)
    taken = np.array([])
    again = np.ones(len(pairs), dtype=bool)
    for choice in range(MOST_CHOICES):
        which = "long messages" if choice == 0 else f"longer messages, since {again.sum()} took too little time,"
        report(f"{which} between pairs of hosts")
        repeated = again & (probe_s < DURATION_S / 2)
        long: list[Experiment] = [
            (Transfer(a, b, int(size)),) for (a, b), size, chosen in zip(pairs, sizes, again, strict=True) if chosen
        ]
        probes: list[Experiment] = [
            (Transfer(a, b, PROBE_BYTES),) for (a, b), chosen in zip(pairs, repeated, strict=True) if chosen
        ]
        found = np.array(measure([*long, *probes * times]))[:, :, 0]
        probed = found[:, len(long) :].reshape(len(found) * times, len(probes))
        probe_s[repeated] = np.minimum(probe_s[repeated], probed.min(axis=0))
        if len(taken) == 0:
            taken = found[:, : len(long)]
        else:  # a step that ran out of time has made fewer rounds
            taken = taken[: len(found)].copy()
            taken[:, again] = found[: len(taken), : len(long)]
        least_s = taken.min(axis=0)
        most_s = (PROBE_BYTES / sizes + MOST_START) * least_s + 2 * empty_s
        probe_s = np.minimum(probe_s, most_s)
        short = (least_s < DURATION_S / 2) | (least_s - probe_s < LEAST_SHARE * least_s)
        again = short & (sizes < MOST_BYTES)
        if not again.any() or choice == MOST_CHOICES - 1:
            break
        wanted = np.maximum(2 * sizes, np.round(sizes * DURATION_S / least_s))
        sizes[again] = np.minimum(wanted, MOST_BYTES)[again]
    return taken, sizes, probe_s


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
