# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Links whose two directions share one bandwidth, from transfers between two hosts in opposite directions at once."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from hocket.calibrate.structure import Alone, net_times, sized
from hocket.calibrate.tree import Tree
from hocket.measure.transfers import Experiment, Times, Transfer

DUPLEX_S = 0.03  # alone
LEAST_BYTES, MOST_BYTES = 1 << 12, 1 << 20  # of a message
# Of its rate alone a transfer keeps all where directions are independent, and half where they share. Acknowledgements
# that wait behind data, and noise, take a quarter of the first at times.
HALF = 0.6
# By (a, b): what both transfers keep of their rate until the last of them has ended.
BothWays = dict[tuple[int, int], float]


def both_ways(alone: Alone, rendezvous_bytes: int | None, seed: int) -> list[Experiment]:
    """Each host with two others, in a random ring: both directions at once, and each alone in the same messages.

    In messages below `rendezvous_bytes`: of Open MPI two larger ones go one after the other, whatever the link, since
    the answer that each waits for queues behind the data of the other.
    """
    count = len(alone.rate)
    order = random.Random(seed).sample(range(count), count)
    pairs = [(order[i - 1], order[i]) for i in range(count if count > 2 else 1)]
    found: list[Experiment] = []
    for a, b in pairs:
        there, back = (_in_messages(t, rendezvous_bytes) for t in sized(alone, [(a, b), (b, a)], DUPLEX_S))
        found += [(there, back), (there,), (back,)]
    return found


def _in_messages(transfer: Transfer, rendezvous_bytes: int | None) -> Transfer:
    most_bytes = MOST_BYTES if rendezvous_bytes is None else min(MOST_BYTES, max(LEAST_BYTES, rendezvous_bytes // 2))
    messages = -(-transfer.size_bytes // most_bytes)
    return transfer._replace(size_bytes=transfer.size_bytes // messages, messages=messages)


def kept_both_ways(alone: Alone, experiments: Sequence[Experiment], times: Times) -> BothWays:
    medians = [list(np.median([of_round[i] for of_round in times], axis=0)) for i in range(len(experiments))]
    net = net_times(alone, experiments, medians)
    kept = {}
    for i in range(0, len(experiments), 3):
        transfer = experiments[i][0]
        both, there, back = (float(taken.max()) for taken in net[i : i + 3])
        kept[transfer.source, transfer.target] = min(1.0, max(there, back) / both)
    return kept


def half_duplex_links(tree: Tree, kept: BothWays) -> frozenset[frozenset[int]]:
    """The fewest links, a host's being a group of one, that explain which pairs are slow both ways.

    None that a pair crosses at full rate both ways, or that is faster than what the pair needs for both ways at once.
    """
    groups = [*tree.groups, *(frozenset([host]) for host in range(len(tree.hosts)))]
    route = {(a, b): [group for group in groups if (a in group) != (b in group)] for a, b in kept}

    def rate(group: frozenset[int]) -> float:
        return min(tree.rate(group).out, tree.rate(group).back)

    slow = {pair for pair, share in kept.items() if share < HALF}
    busy = {pair: [g for g in route[pair] if rate(g) < 2 * HALF * min(map(rate, route[pair]))] for pair in kept}
    innocent = {group for pair in kept.keys() - slow for group in busy[pair]}
    found: set[frozenset[int]] = set()
    while slow:
        blamed = {group: sum(group in busy[pair] for pair in slow) for group in groups if group not in innocent}
        most = max(blamed, key=lambda group: blamed[group], default=None)
        if most is None or blamed[most] == 0:
            break
        found.add(most)
        slow = {pair for pair in slow if most not in busy[pair]}
    return frozenset(found)
