# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Algorithms of collectives as steps that each need circuits of all nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hocket.circuits.network import LESS_THAN_POSSIBLE, CircuitNetwork
from hocket.errors import InvalidInput

#: Circuits of one step: each joins two nodes, the lower one first.
Pairs = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class AlgorithmSteps:
    """An algorithm as steps that each need circuits."""

    algorithm: str
    messages_s: float
    steps: tuple[Pairs, ...]
    in_any_order: bool


def algorithms_in_steps(
    collective: str, num_bytes: int, root: int, network: CircuitNetwork, algorithms: Sequence[str]
) -> list[AlgorithmSteps]:
    """Of the algorithms that may be chosen, those that are whole steps of all nodes.

    Raises InvalidInput if there is none.
    """
    found = []
    for algorithm in allowed(collective, algorithms):
        steps, in_any_order = _steps(algorithm, network.ranks, root)
        if algorithm == "linear" and collective in ("reduce", "gather"):
            steps = _to_root(network, root)
        if all(degree(step) <= network.ports for step in steps) and (steps or network.ranks == 1):
            if (collective, algorithm) in ON_A_RING:
                messages_s = ON_A_RING[collective, algorithm](network, num_bytes)
            else:
                messages_s = network.cost(collective, algorithm, num_bytes, network.ports)["messages_s"]
            found.append(AlgorithmSteps(algorithm, messages_s, steps, in_any_order))
    if not found:
        raise InvalidInput(
            f"no algorithm of {collective} in steps of all nodes with {network.ports} port{'s' * (network.ports != 1)}"
        )
    return found


def allowed(collective: str, algorithms: Sequence[str]) -> list[str]:
    """Algorithms of a collective; `algorithms` names some of it as "bcast:ring", or none of it for all."""
    named = [name.partition(":")[2] for name in algorithms if name.partition(":")[0] == collective]
    return named or closed_forms(collective) + [algorithm for known, algorithm in ON_A_RING if known == collective]


def closed_forms(collective: str) -> list[str]:
    """Those that there can be; `LESS_THAN_POSSIBLE` is only for those who name it."""
    from hocket import circuit_algorithms

    return [one for one in circuit_algorithms(collective) if (collective, one) != LESS_THAN_POSSIBLE]


def _message_s(network: CircuitNetwork, num_bytes: float) -> float:
    return network.latency_s + num_bytes / network.bandwidth_bytes_per_s


def _round_the_ring(network: CircuitNetwork, num_bytes: float) -> float:
    """Both ways from the root, which sends one message at a time: the farther half first."""
    return math.ceil(network.ranks / 2) * _message_s(network, num_bytes) if network.ranks > 1 else 0.0


#: What goes round a ring that stays up, beside the closed forms: (collective, algorithm) -> time of its messages.
ON_A_RING: dict[tuple[str, str], Callable[[CircuitNetwork, float], float]] = {
    ("bcast", "ring"): _round_the_ring,
    ("reduce", "ring"): _round_the_ring,
    # Reduce-scatter and allgather, each p - 1 messages of a block.
    ("allreduce", "ring"): lambda network, n: 2 * (network.ranks - 1) * _message_s(network, n / network.ranks),
    # To node 0 and back.
    ("barrier", "ring"): lambda network, n: 2 * _round_the_ring(network, 0),
    # Node 0 sends or receives a block at a time, that of the farthest node first.
    ("scatter", "ring"): lambda network, n: (network.ranks - 1) * _message_s(network, n),
    ("gather", "ring"): lambda network, n: (network.ranks - 1) * _message_s(network, n),
}


def _steps(algorithm: str, p: int, root: int) -> tuple[tuple[Pairs, ...], bool]:
    """The circuits of each step, and whether the steps may come in any order; none: the algorithm has no such steps."""
    if algorithm == "ring":
        return ((frozenset((min(i, (i + 1) % p), max(i, (i + 1) % p)) for i in range(p)),) if p > 1 else ()), True
    if algorithm == "pairwise" and p & (p - 1) == 0:
        return tuple(_exchange(mask, p) for mask in range(1, p)), True
    if algorithm == "binomial":
        steps = tuple(_exchange(1 << bit, p) for bit in range((p - 1).bit_length()))
        return (steps if p & (p - 1) == 0 else tuple(_turned(step, root, p) for step in steps)), True
    if algorithm in ("recursive_doubling", "hypercube"):
        power = 1 << (p.bit_length() - 1)
        within = tuple(_exchange(1 << bit, power) for bit in range(power.bit_length() - 1))
        if power == p:
            return within, True
        outside = frozenset((i - power, i) for i in range(power, p))
        return (outside, *within, outside), False
    return (), True


def _to_root(network: CircuitNetwork, root: int) -> tuple[Pairs, ...]:
    """The root receives on all its ports at a time. No steps if a binomial tree has as few messages one after another:
    it needs no more configurations then."""
    others = [rank for rank in range(network.ranks) if rank != root]
    if math.ceil(len(others) / network.ports) >= len(others).bit_length():
        return ()
    return tuple(
        frozenset((min(root, one), max(root, one)) for one in others[first : first + network.ports])
        for first in range(0, len(others), network.ports)
    )


def _exchange(mask: int, p: int) -> Pairs:
    return frozenset((i, i ^ mask) for i in range(p) if i < i ^ mask < p)


def _turned(pairs: Pairs, root: int, p: int) -> Pairs:
    """The same around another root."""
    turned = (((a + root) % p, (b + root) % p) for a, b in pairs)
    return frozenset((min(a, b), max(a, b)) for a, b in turned)


def degree(pairs: Iterable[tuple[int, int]]) -> int:
    """Ports of the node that needs the most."""
    count: dict[int, int] = {}
    for pair in pairs:
        for node in pair:
            count[node] = count.get(node, 0) + 1
    return max(count.values(), default=0)
