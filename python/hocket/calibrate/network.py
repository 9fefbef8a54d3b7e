# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The network that was found, as text of a network file."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hocket import Network, print_bandwidth, print_duration
from hocket.calibrate.hosts import Hosts
from hocket.calibrate.latency import Latencies
from hocket.calibrate.memory import Memory
from hocket.calibrate.tree import Tree, switches_of

_DIGITS = 3  # significant ones: no measurement has more


def build_network(
    name: str, tree: Tree, latencies: Latencies, hosts: Hosts, memory: Sequence[Memory | None]
) -> Network:
    lines = ['format = "hocket.network/1"', f"name = {json.dumps(name)}"]
    if hosts.of_ranks != [host for host, ranks in zip(hosts.names, hosts.ranks, strict=True) for _ in ranks]:
        lines.append(f"placement = {json.dumps(hosts.of_ranks)}")
    for host, ranks, local in zip(hosts.names, hosts.ranks, memory, strict=True):
        lines.append(f'[[node]]\nname = {json.dumps(host)}\nkind = "host"')
        if local is not None:
            lines.append(f"ranks = {len(ranks)}\nmemory_bandwidth = {quoted_bandwidth(local.bytes_per_s)}")
            lines.append(f"memory_latency = {quoted_duration(local.latency_s / 2)}")  # a message passes two of them
    ends = tree.link_ends(hosts.names)
    lines += [f'[[node]]\nname = {json.dumps(switch)}\nkind = "switch"' for switch in switches_of(ends, hosts.names)]
    for group, pair in ends.items():
        latency_s = latencies.groups[group] if len(group) > 1 else latencies.hosts[min(group)]
        lines.append(f"[[link]]\nbetween = {json.dumps(pair)}\n{_bandwidths(tree, group)}")
        if latency_s > 0:
            lines.append(f"latency = {quoted_duration(latency_s)}")
    return Network.from_text("\n".join(lines), name)


def _bandwidths(tree: Tree, group: frozenset[int]) -> str:
    rate = tree.rate(group)
    if tree.joined(group):
        duplex = '\nduplex = "half"' if group in tree.half_duplex else ""
        return f"bandwidth = {quoted_bandwidth(rate.mean)}{duplex}"
    return f"bandwidth = {quoted_bandwidth(rate.out)}\nbandwidth_back = {quoted_bandwidth(rate.back)}"


def quoted_bandwidth(value: float) -> str:
    return json.dumps(print_bandwidth(float(f"{value:.{_DIGITS}g}")))


def quoted_duration(value: float) -> str:
    return json.dumps(print_duration(float(f"{value:.{_DIGITS}g}")))
