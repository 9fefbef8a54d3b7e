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
from hocket.calibrate.tree import Rate, Tree

_DIGITS = 3  # significant ones: no measurement has more
_ALIKE = 0.05  # directions that differ by less have one bandwidth


def link_ends(tree: Tree, names: Sequence[str]) -> dict[frozenset[int], tuple[str, str]]:
    """The lower and the upper node of each link: of the hosts in order, then of the groups from large to small."""
    ordered = sorted(tree.groups, key=lambda group: (-len(group), min(group)))
    switches = {group: _unused(f"s{i + 1}", names) for i, group in enumerate(ordered)}
    top = _unused("s0", names)

    def above(members: frozenset[int]) -> str:
        around = [group for group in ordered if members < group]
        return switches[around[-1]] if around else top

    ends = {frozenset([i]): (name, above(frozenset([i]))) for i, name in enumerate(names)}
    return ends | {group: (switches[group], above(group)) for group in ordered}


def build_network(
    name: str, tree: Tree, latencies: Latencies, hosts: Hosts, memory: Sequence[Memory | None]
) -> Network:
    lines = ['format = "hocket.network/1"', f"name = {json.dumps(name)}"]
    if hosts.of_ranks != [host for host, ranks in zip(hosts.names, hosts.ranks, strict=True) for _ in ranks]:
        lines.append(f"placement = {json.dumps(hosts.of_ranks)}")
    for host, ranks, local in zip(hosts.names, hosts.ranks, memory, strict=True):
        lines.append(f'[[node]]\nname = {json.dumps(host)}\nkind = "host"')
        if local is not None:
            lines.append(f"ranks = {len(ranks)}\nmemory_bandwidth = {_bandwidth(local.bytes_per_s)}")
            lines.append(f"memory_latency = {_duration(local.latency_s / 2)}")  # a message passes two of them
    if len(hosts.names) > 1:
        ends = link_ends(tree, hosts.names)
        switches = dict.fromkeys(node for pair in ends.values() for node in pair if node not in hosts.names)
        lines += [f'[[node]]\nname = {json.dumps(switch)}\nkind = "switch"' for switch in switches]
        for group, pair in ends.items():
            if len(group) == 1:
                (host_id,) = group
                rate, latency_s = tree.hosts[host_id], latencies.hosts[host_id]
            else:
                rate, latency_s = tree.groups[group], latencies.groups[group]
            lines.append(f"[[link]]\nbetween = {json.dumps(pair)}\n{_bandwidths(rate)}")
            if latency_s > 0:
                lines.append(f"latency = {_duration(latency_s)}")
    return Network.from_text("\n".join(lines), name)


def _bandwidths(rate: Rate) -> str:
    if abs(rate.out / rate.back - 1) < _ALIKE:
        return f"bandwidth = {_bandwidth((rate.out + rate.back) / 2)}"
    return f"bandwidth = {_bandwidth(rate.out)}\nbandwidth_back = {_bandwidth(rate.back)}"


def _bandwidth(value: float) -> str:
    return json.dumps(print_bandwidth(float(f"{value:.{_DIGITS}g}")))


def _duration(value: float) -> str:
    return json.dumps(print_duration(float(f"{value:.{_DIGITS}g}")))


def _unused(name: str, names: Sequence[str]) -> str:
    while name in names:
        name = f"switch-{name}"
    return name
