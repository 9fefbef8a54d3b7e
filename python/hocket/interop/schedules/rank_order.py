# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A rank order as files that MPI launchers take: rank i of the program goes where rank order[i] would have been.

With that a program that sends around a ring in rank order, as many libraries do, is free of congestion.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket import Network


def rank_list(order: Sequence[int]) -> str:
    """One number a line: the old rank whose place each new rank takes."""
    return "".join(f"{rank}\n" for rank in order)


def openmpi_rankfile(network: Network, order: Sequence[int]) -> str:
    """For `mpiexec --rankfile FILE` (Open MPI 4) and `--map-by rankfile:file=FILE` (Open MPI 5). The ranks of a
    host take its slots 0, 1, ... in turn."""
    lines = []
    slots: Counter[str] = Counter()
    for rank, host in enumerate(_hosts(network, order)):
        lines.append(f"rank {rank}={host} slot={slots[host]}\n")
        slots[host] += 1
    return "".join(lines)


def hydra_hostfile(network: Network, order: Sequence[int]) -> str:
    """For `mpiexec -f FILE` of MPICH and its kin: runs of ranks on one host, as "host:count"."""
    runs: list[tuple[str, int]] = []
    for host in _hosts(network, order):
        if runs and runs[-1][0] == host:
            runs[-1] = (host, runs[-1][1] + 1)
        else:
            runs.append((host, 1))
    return "".join(f"{host}:{count}\n" for host, count in runs)


def _hosts(network: Network, order: Sequence[int]) -> list[str]:
    """The host of each network rank of the order."""
    if len(set(order)) != len(order) or not all(0 <= rank < network.num_ranks for rank in order):
        raise InvalidInput(f"the order names ranks twice or that are not there: expected 0 to {network.num_ranks - 1}")
    nodes = network.nodes
    beside = {
        link.source: link.target
        for link in network.links
        if nodes[link.source].kind == "process" and nodes[link.target].kind == "host"
    }
    hosts = [nodes[beside.get(node, node)].name for node in (network.rank_nodes[rank] for rank in order)]
    for name in hosts:
        if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]*", name):  # launchers would read another host, or more of them
            raise InvalidInput(f"{name!r} is not a name of a host", "letters, digits, dots, - and _ make up such names")
    return hosts
