# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The network that was found."""

from __future__ import annotations

from collections.abc import Sequence

from hocket import Blueprint, Network
from hocket.calibrate.hosts import Hosts
from hocket.calibrate.latency import Latencies
from hocket.calibrate.memory import Memory
from hocket.calibrate.tree import Tree, switches_of

_DIGITS = 3  # significant ones: no measurement has more


def build_network(
    name: str, tree: Tree, latencies: Latencies, hosts: Hosts, memory: Sequence[Memory | None]
) -> Network:
    ends = tree.link_ends(hosts.names)
    switches = switches_of(ends, hosts.names)
    number = {node: i for i, node in enumerate([*hosts.names, *switches])}
    nodes = [
        _host(host, len(ranks), local) for host, ranks, local in zip(hosts.names, hosts.ranks, memory, strict=True)
    ]
    nodes += [Blueprint.Node(switch, "switch") for switch in switches]
    cables = []
    for group, (lower, upper) in ends.items():
        rate, latency_s = tree.rate(group), latencies.groups[group] if len(group) > 1 else latencies.hosts[min(group)]
        out, back = (rate.mean, rate.mean) if tree.joined(group) else (rate.out, rate.back)
        cables.append(
            Blueprint.Cable(
                number[lower],
                number[upper],
                rounded(out),
                rounded(back),
                rounded(max(0.0, latency_s)),
                half_duplex=group in tree.half_duplex,
            )
        )
    return Network.build(Blueprint(name, nodes, cables, [number[host] for host in hosts.of_ranks]))


def _host(name: str, ranks: int, memory: Memory | None) -> Blueprint.Node:
    if memory is None:
        return Blueprint.Node(name)
    # A message passes two of these links.
    return Blueprint.Node(name, "host", ranks, rounded(memory.bytes_per_s), rounded(memory.latency_s / 2))


def rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
