# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Latencies of links from those of pairs: none below 0, with the least absolute errors, relative to the times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hocket.calibrate.tree import Tree

ITERATIONS = 20
LEAST_ERROR = 0.001


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
