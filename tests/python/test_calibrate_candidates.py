# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which groups of hosts are tried as those behind a link."""

from __future__ import annotations

import numpy as np

from hocket.calibrate.structure import Alone, Selection, candidates, crossings, halves, loose_pairs
from simulated_hosts import network_of, simulated

MBIT = 1e6 / 8
# As measured with MPICH 4.0 on two hosts each behind links of 50, 100, 150 and 400 Mbit/s; all cables have 100. Hosts 4
# and 5, above which the 150 are, seem as near to 6 and 7.
MISLEADING = np.array(
    [
        [0.000, 0.179, 0.986, 0.769, 0.727, 0.946, 0.841, 0.751],
        [0.179, 0.000, 0.773, 0.811, 0.736, 0.818, 0.811, 0.821],
        [0.986, 0.773, 0.000, 0.283, 0.679, 0.676, 0.660, 0.662],
        [0.769, 0.811, 0.283, 0.000, 0.642, 0.616, 0.648, 0.632],
        [0.727, 0.736, 0.679, 0.642, 0.000, 0.316, 0.350, 0.480],
        [0.946, 0.818, 0.676, 0.616, 0.316, 0.000, 0.298, 0.256],
        [0.841, 0.811, 0.660, 0.648, 0.350, 0.298, 0.000, 0.193],
        [0.751, 0.821, 0.662, 0.632, 0.480, 0.256, 0.193, 0.000],
    ]
)


def test_candidates_are_nested_and_once() -> None:
    distance = np.ones((6, 6)) - np.eye(6)
    for group in ([0, 1], [2, 3], [0, 1, 2, 3]):
        distance[np.ix_(group, group)] /= 2
    np.fill_diagonal(distance, 0)
    found = candidates(distance)
    assert frozenset([0, 1]) in found
    assert frozenset([2, 3]) in found
    everyone = frozenset(range(6))
    assert len({min(group, everyone - group, key=sorted) for group in found}) == len(found)


def test_pairs_that_clustering_tears_apart_are_tried_too() -> None:
    assert frozenset([4, 5]) not in candidates(MISLEADING)
    assert loose_pairs(MISLEADING) == [frozenset([4, 5])]
    assert loose_pairs(1 - np.eye(2)) == []
    assert len(loose_pairs(np.abs(np.subtract.outer(np.arange(20.0) ** 2, np.arange(20.0) ** 2)))) <= 20


def test_a_link_above_a_pair_that_clustering_tears_apart_is_found() -> None:
    uplinks = [("l0", "r", 50.0), ("l1", "r", 100.0), ("l2", "r", 150.0), ("l3", "r", 400.0)]
    network = network_of([(f"l{i // 2}", 100.0) for i in range(8)], uplinks)
    rate = np.full((8, 8), 100 * MBIT)
    rate[:2, 2:] = rate[2:, :2] = 50 * MBIT
    np.fill_diagonal(rate, 0)
    alone = Alone(np.zeros((8, 8)), np.zeros((8, 8)), rate, rate[None])
    groups, pairs = candidates(MISLEADING), loose_pairs(MISLEADING)
    experiments = [*crossings(alone, [*groups, *pairs], 0.02, seed=1), *halves(alone, 0.02, 16, seed=1)]
    times = [np.array(seconds) for seconds in simulated(network, noise=0.0, seed=1)(experiments)[0]]
    selection = Selection(alone, experiments, times, noise=0.0)
    assert selection.select(groups)[0].groups.keys() == {frozenset([0, 1]), frozenset([2, 3])}
    tree, error, without = selection.select(groups, pairs)
    assert tree.groups.keys() == without.keys() == {frozenset([0, 1]), frozenset([2, 3]), frozenset([4, 5])}
    assert error < min(without.values())
    found = tree.groups[frozenset([4, 5])]
    assert abs(found.out / MBIT - 150) < 3
    assert abs(found.back / MBIT - 150) < 3
