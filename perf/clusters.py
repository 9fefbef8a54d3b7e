# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The kinds of clusters of [Hourai], figures 11 to 14, of any size: bandwidths are fitted to its times of 1 MB.

And random trees: no two cables need be alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hocket import Blueprint, Network, parse_bandwidth, parse_duration

BYTES = 1_000_000
MEMORY, GIGABIT, FAST_ETHERNET = "3636.364 Mbit/s", "792.079 Mbit/s", "93.023 Mbit/s"


@dataclass(frozen=True)
class Cluster:
    """Nodes of some processors each, on one switch or on two that are joined."""

    name: str
    switches: tuple[tuple[int, str], ...]  # nodes on it, and their cables
    between: str = ""
    processors: int = 2
    latency: str = "0 us"  # of the cables
    memory_latency: str = "0 us"

    def network(self) -> Network:
        nodes: list[Blueprint.Node] = []
        cables: list[Blueprint.Cable] = []
        tops = []
        for switch, (count, bandwidth) in enumerate(self.switches):
            first, top = len(nodes), len(nodes) + count
            nodes += [self._node(f"n{switch}-{i}") for i in range(count)]
            nodes.append(Blueprint.Node(f"s{switch}", "switch"))
            cables += [self._cable(node, top, bandwidth) for node in range(first, top)]
            tops.append(top)
        if len(tops) == 2:
            cables.append(self._cable(*tops, self.between))
        return Network.build(Blueprint(self.name, nodes, cables))

    def _node(self, name: str) -> Blueprint.Node:
        if self.processors == 1:
            return Blueprint.Node(name)
        memory = parse_bandwidth(MEMORY), parse_duration(self.memory_latency)
        return Blueprint.Node(name, "host", self.processors, *memory)

    def _cable(self, first: int, second: int, bandwidth: str) -> Blueprint.Cable:
        return Blueprint.Cable(first, second, parse_bandwidth(bandwidth), latency_s=parse_duration(self.latency))


def star(computers: int, latency: str = "0 us") -> Cluster:
    return Cluster(f"star {computers}", ((computers, GIGABIT),), processors=1, latency=latency)


def dual(nodes: int, latency: str = "0 us", memory_latency: str = "0 us") -> Cluster:
    return Cluster(f"2x{nodes}", ((nodes, GIGABIT),), latency=latency, memory_latency=memory_latency)


def two_clusters(nodes: int) -> Cluster:
    return Cluster(f"2x{nodes}x2", ((nodes, GIGABIT), (nodes, GIGABIT)), GIGABIT)


def unequal(nodes: int) -> Cluster:
    return Cluster(f"2x{nodes}x(1+1)", ((nodes, FAST_ETHERNET), (nodes, GIGABIT)), FAST_ETHERNET)


def _random(seed: int) -> Callable[[int], int]:
    """0 .. n-1 for each n, by SplitMix64 [Steele14]: the same on every version of Python."""
    mask = (1 << 64) - 1

    def below(n: int) -> int:
        nonlocal seed
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return (z ^ (z >> 31)) % n

    return below


@dataclass(frozen=True)
class RandomTree:
    """Computers on switches, up to one for three of them, that are joined at random; 10 to 100 MB/s, in steps of 10."""

    leaves: int
    seed: int
    latency: str = "0 us"

    @property
    def name(self) -> str:
        return f"random {self.leaves}, seed {self.seed}"

    def network(self) -> Network:
        below = _random(self.seed)
        nodes: list[Blueprint.Node] = []
        cables: list[Blueprint.Cable] = []
        latency_s = parse_duration(self.latency)

        def add(name: str, kind: str, num_switches: int) -> None:
            nodes.append(Blueprint.Node(name, kind))
            if num_switches > 0:
                bandwidth = (1 + below(10)) * 10e6
                cables.append(Blueprint.Cable(below(num_switches), len(nodes) - 1, bandwidth, latency_s=latency_s))

        switches = 1 + below(self.leaves // 3 + 1)
        for i in range(switches):
            add(f"s{i}", "switch", i)
        for i in range(self.leaves):
            add(f"c{i}", "host", switches)
        return Network.build(Blueprint("random", nodes, cables))
