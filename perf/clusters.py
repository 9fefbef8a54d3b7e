# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The kinds of clusters of [Hourai], figures 11 to 14, of any size: bandwidths are fitted to its times of 1 MB.

And random trees: no two cables need be alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hocket import Network

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
        nodes, links = [], []
        for switch, (count, bandwidth) in enumerate(self.switches):
            for i in range(count):
                nodes.append(self._node(f"n{switch}-{i}"))
                links.append(self._link(f"n{switch}-{i}", f"s{switch}", bandwidth))
            nodes.append(f'[[node]]\nname = "s{switch}"\nkind = "switch"\n')
        if len(self.switches) == 2:
            links.append(self._link("s0", "s1", self.between))
        head = f'format = "hocket.network/1"\nname = "{self.name}"\n'
        return Network.from_text(head + "".join(nodes + links), self.name)

    def _node(self, name: str) -> str:
        text = f'[[node]]\nname = "{name}"\nkind = "host"\n'
        if self.processors > 1:
            text += f'ranks = {self.processors}\nmemory_bandwidth = "{MEMORY}"\n'
            text += f'memory_latency = "{self.memory_latency}"\n'
        return text

    def _link(self, a: str, b: str, bandwidth: str) -> str:
        return f'[[link]]\nbetween = ["{a}", "{b}"]\nbandwidth = "{bandwidth}"\nlatency = "{self.latency}"\n'


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
        nodes, links = [], []

        def add(name: str, kind: str, num_switches: int) -> None:
            nodes.append(f'[[node]]\nname = "{name}"\nkind = "{kind}"\n')
            if num_switches == 0:
                return
            bandwidth = (1 + below(10)) * 10
            ends = f'between = ["s{below(num_switches)}", "{name}"]'
            links.append(f'[[link]]\n{ends}\nbandwidth = "{bandwidth} MB/s"\nlatency = "{self.latency}"\n')

        switches = 1 + below(self.leaves // 3 + 1)
        for i in range(switches):
            add(f"s{i}", "switch", i)
        for i in range(self.leaves):
            add(f"c{i}", "host", switches)
        return Network.from_text('format = "hocket.network/1"\nname = "random"\n' + "".join(nodes + links), self.name)
