# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A tree of hosts and switches as the groups that its links part from the rest, and what it predicts for transfers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hocket import Blueprint, Network, Program, simulate
from hocket.measure.transfers import Experiment

_ALIKE = 0.05  # directions that differ by less have one bandwidth


@dataclass(frozen=True)
class Rate:
    """Of a link, in bytes/s: from its group to the rest, and back."""

    out: float
    back: float

    @property
    def mean(self) -> float:
        return (self.out + self.back) / 2


@dataclass(frozen=True)
class Tree:
    """Hosts 0, 1, ... and the links above groups of two hosts and more; any two groups are nested or disjoint."""

    hosts: tuple[Rate, ...]
    groups: dict[frozenset[int], Rate]
    half_duplex: frozenset[frozenset[int]] = frozenset()  # links whose directions share one bandwidth

    def link_ends(self, names: Sequence[str]) -> dict[frozenset[int], tuple[str, str]]:
        """The lower and the upper node of each link: of the hosts in order, then of the groups from large to small.

        A host, with its name in `names`, is a group of one. Switches are `s0`, above all, `s1` and so on.
        """
        ordered = sorted(self.groups, key=lambda group: (-len(group), min(group)))
        switches = {group: _unused(f"s{i + 1}", names) for i, group in enumerate(ordered)}
        top = _unused("s0", names)

        def above(members: frozenset[int]) -> str:
            around = [group for group in ordered if members < group]
            return switches[around[-1]] if around else top

        ends = {frozenset([i]): (name, above(frozenset([i]))) for i, name in enumerate(names)}
        return ends | {group: (switches[group], above(group)) for group in ordered}

    def rate(self, group: frozenset[int]) -> Rate:
        """Of the link above a group, or above a host, a group of one."""
        return self.groups[group] if len(group) > 1 else self.hosts[min(group)]

    def joined(self, group: frozenset[int]) -> bool:
        """Whether both directions of a link have one bandwidth, `Rate.mean`: they share it, or are alike."""
        rate = self.rate(group)
        return group in self.half_duplex or abs(rate.out / rate.back - 1) < _ALIKE

    def network(self) -> Network:
        """Hosts are the ranks in order."""
        hosts = [f"h{i}" for i in range(len(self.hosts))]
        ends = self.link_ends(hosts)
        switches = switches_of(ends, hosts)
        number = {name: i for i, name in enumerate([*hosts, *switches])}
        cables = []
        for group, (end, above) in ends.items():
            rate, half_duplex = self.rate(group), group in self.half_duplex
            out, back = (rate.mean, rate.mean) if half_duplex else (rate.out, rate.back)
            cables.append(Blueprint.Cable(number[end], number[above], out, back, half_duplex=half_duplex))
        nodes = [*map(Blueprint.Node, hosts), *(Blueprint.Node(switch, "switch") for switch in switches)]
        return Network.build(Blueprint("tree", nodes, cables))


def switches_of(ends: dict[frozenset[int], tuple[str, str]], hosts: Sequence[str]) -> list[str]:
    """Of what `Tree.link_ends` gives for these hosts: the other nodes, each once."""
    return [node for node in dict.fromkeys(itertools.chain.from_iterable(ends.values())) if node not in hosts]


def _unused(name: str, names: Sequence[str]) -> str:
    while name in names:
        name = f"switch-{name}"
    return name


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
