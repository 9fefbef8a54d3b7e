# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The kinds of clusters of [Hourai], figures 11 to 14, of any size: bandwidths are fitted to its times of 1 MB."""

from __future__ import annotations

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
