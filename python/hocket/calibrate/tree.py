# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A tree of hosts and switches as the groups that its links part from the rest, and what it predicts for transfers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hocket import Network, Program, simulate
from hocket.calibrate.transfers import Experiment


@dataclass(frozen=True)
class Rate:
    """Of a link, in bytes/s: from its group to the rest, and back."""

    out: float
    back: float


@dataclass(frozen=True)
class Tree:
    """Hosts 0, 1, ... and the links above groups of two hosts and more; any two groups are nested or disjoint."""

    hosts: tuple[Rate, ...]
    groups: dict[frozenset[int], Rate]

    def network(self) -> Network:
        """Hosts are the ranks in order."""
        ordered = sorted(self.groups, key=lambda group: (-len(group), min(group)))

        def above(members: frozenset[int]) -> str:
            around = [i for i, group in enumerate(ordered) if members < group]
            return f"s{around[-1] + 1}" if around else "s0"

        lines = ['format = "hocket.network/1"']
        lines += [f'[[node]]\nname = "h{i}"\nkind = "host"' for i in range(len(self.hosts))]
        lines += [f'[[node]]\nname = "s{i}"\nkind = "switch"' for i in range(len(ordered) + 1)]
        below = [(frozenset([i]), f"h{i}", rate) for i, rate in enumerate(self.hosts)]
        below += [(group, f"s{i + 1}", self.groups[group]) for i, group in enumerate(ordered)]
        for members, end, rate in below:
            lines.append(f'[[link]]\nbetween = ["{end}", "{above(members)}"]')
            lines.append(f'bandwidth = "{rate.out!r} B/s"\nbandwidth_back = "{rate.back!r} B/s"')
        return Network.from_text("\n".join(lines), "tree")


def program_of(experiment: Experiment, num_hosts: int) -> Program:
    """All transfers start at 0, as one message each."""
    lines: list[list[str]] = [[] for _ in range(num_hosts)]
    for tag, (source, target, size_bytes, messages) in enumerate(experiment):
        lines[source].append(f"l{len(lines[source])}: send {size_bytes * messages}b to {target} tag {tag}")
        lines[target].append(f"l{len(lines[target])}: recv {size_bytes * messages}b from {source} tag {tag}")
    ranks = [f"rank {rank} {{\n" + "\n".join(ops) + "\n}" for rank, ops in enumerate(lines)]
    return Program.from_goal(f"num_ranks {num_hosts}\n" + "\n".join(ranks) + "\n")


class Predictor:
    """Predicts the seconds of every transfer of some experiments on one tree after the other, by max-min sharing."""

    def __init__(self, experiments: Sequence[Experiment], num_hosts: int) -> None:
        self._programs = [program_of(experiment, num_hosts) for experiment in experiments]
        self._sends: list[list[tuple[int, int]]] = []  # where in its source's operations each transfer stands
        for experiment in experiments:
            count = [0] * num_hosts
            places = []
            for source, target, _, _ in experiment:
                places.append((source, count[source]))
                count[source] += 1
                count[target] += 1
            self._sends.append(places)

    def times_s(self, tree: Tree) -> list[np.ndarray]:
        network = tree.network()
        predicted = []
        for program, sends in zip(self._programs, self._sends, strict=True):
            timeline = simulate(program, network)
            predicted.append(np.array([timeline.end_s(rank)[place] for rank, place in sends]))
        return predicted
