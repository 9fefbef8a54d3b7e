# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Latencies of links from those of pairs: none below 0, with the least absolute errors, relative to the times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hocket.calibrate.tree import Tree
from hocket.measure.transfers import CoreCosts

ITERATIONS = 20
LEAST_ERROR = 0.001


def leveled(empty_s: np.ndarray, swept_s: Mapping[tuple[int, int], float]) -> tuple[np.ndarray, float]:
    """Empty messages of all pairs as they are among others of their pair, and how many times as long they took.

    `empty_s`: n x n, 0 where not measured, of few messages that came between those of other pairs. `swept_s`: of some
    pairs by many messages, which show by how much the others are off. None gets below the least of these by that.
    """
    pairs = [pair for pair in swept_s if empty_s[pair] > 0]
    offset_s = float(np.median([swept_s[pair] - empty_s[pair] for pair in pairs]))
    found = np.where(empty_s > 0, np.maximum(empty_s + offset_s, np.minimum(empty_s, min(swept_s.values()))), 0)
    for pair in pairs:
        found[pair] = swept_s[pair]
    return found, float(np.median([empty_s[pair] / swept_s[pair] for pair in pairs]))


def within(costs: CoreCosts, empty_s: float) -> CoreCosts:
    """Costs of messages such that a message and its answer, which take `empty_s`, have time for those of all ends.

    CPU time is more than that where some of it is not on the way of the message.
    """
    part = min(1.0, empty_s / 2 / (costs.send_s + costs.receive_s))
    return costs._replace(send_s=costs.send_s * part, receive_s=costs.receive_s * part)


@dataclass(frozen=True)
class Latencies:
    """In seconds, the same both ways."""

    hosts: tuple[float, ...]
    groups: dict[frozenset[int], float]


def fit_latencies(tree: Tree, pair_s: np.ndarray) -> Latencies:
    """`pair_s`: n x n, one way, 0 where not measured."""
    from scipy.optimize import nnls

    count = len(tree.hosts)
    groups = list(tree.groups)
    measured = np.argwhere(pair_s > 0)
    crossed = np.zeros((len(measured), count + len(groups)))
    for row, (a, b) in enumerate(measured):
        crossed[row, [a, b]] = 1
        crossed[row, count:] = [(a in group) != (b in group) for group in groups]
    if not len(measured):
        return Latencies((0.0,) * count, dict.fromkeys(groups, 0.0))
    pairs_s = pair_s[tuple(measured.T)]
    weight = 1 / pairs_s
    for _ in range(ITERATIONS):  # least squares, with weights that make of them the least absolute errors
        solution, _ = nnls(crossed * weight[:, None], pairs_s * weight)
        off = np.abs(crossed @ solution / pairs_s - 1)
        weight = 1 / (pairs_s * np.sqrt(np.maximum(off, LEAST_ERROR)))
    return Latencies(tuple(map(float, solution[:count])), dict(zip(groups, map(float, solution[count:]), strict=True)))
