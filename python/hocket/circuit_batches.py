# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The algorithms of [Takizawa] as schedules on circuits, in the form of `hocket schedule --circuits`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hocket.circuit_schedules import CircuitInstance
from hocket.errors import InvalidInput


@dataclass(frozen=True)
class _Send:
    sender: int
    receiver: int
    blocks: tuple[int, ...]


_Step = list[_Send]  # at the same time
_Batch = list[_Step]  # on the same circuits


def _linear(p: int) -> list[_Step]:
    return [[_Send(0, node, (0,))] for node in range(1, p)]


def _binomial(p: int) -> list[_Step]:
    steps: list[_Step] = []
    have = 1
    while have < p:
        steps.append([_Send(node, node + have, (0,)) for node in range(min(have, p - have))])
        have *= 2
    return steps


def _ring(p: int) -> list[_Step]:
    return [[_Send(node, (node + 1) % p, ((node - step) % p,)) for node in range(p)] for step in range(p - 1)]


def _recursive_doubling(p: int) -> list[_Step]:
    if p & (p - 1):
        raise InvalidInput(f"recursive doubling on {p} nodes: expected a power of two")
    steps: list[_Step] = []
    have = 1
    while have < p:
        first = [node // have * have for node in range(p)]
        steps.append([_Send(node, node ^ have, tuple(range(first[node], first[node] + have))) for node in range(p)])
        have *= 2
    return steps


_STEPS: dict[tuple[str, str], Callable[[int], list[_Step]]] = {
    ("bcast", "linear"): _linear,
    ("bcast", "binomial"): _binomial,
    ("allgather", "ring"): _ring,
    ("allgather", "recursive_doubling"): _recursive_doubling,
}
ALGORITHMS = tuple(_STEPS)  #: collective and algorithm, as `hocket cost --ports` names them


@dataclass(frozen=True)
class CircuitPlan:
    makespan_s: float
    schedule: dict[str, Any]  #: `blocks` of `block_bytes`, `circuits` and `messages`


def schedule_of(instance: CircuitInstance, algorithm: str, naive: bool = False) -> CircuitPlan:
    """As many consecutive steps in a batch of circuits as the ports allow; `naive`: a circuit for each message.

    Raises InvalidInput for an algorithm that is not among ALGORITHMS.
    """
    make = _STEPS.get((instance.collective, algorithm))
    if make is None:
        known = ", ".join(name for collective, name in ALGORITHMS if collective == instance.collective)
        raise InvalidInput(f"no schedule of {instance.collective} by {algorithm!r}", f"accepted: {known or 'none'}")
    steps = [part for step in make(instance.p) for part in _fitting(step, 1 if naive else instance.k)]
    batches = [[step] for step in steps] if naive else _batches(steps, instance.k)
    return _timed(instance, batches)


def _partners(steps: Sequence[_Step]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for step in steps:
        for send in step:
            found.setdefault(send.sender, set()).add(send.receiver)
            found.setdefault(send.receiver, set()).add(send.sender)
    return found


def _fits(steps: Sequence[_Step], ports: int) -> bool:
    return all(len(partners) <= ports for partners in _partners(steps).values())


def _fitting(step: _Step, ports: int) -> list[_Step]:
    """Parts of a step that needs more ports than a node has."""
    parts: list[_Step] = []
    for send in step:
        part = next((part for part in parts if _fits([[*part, send]], ports)), None)
        if part is None:
            parts.append([send])
        else:
            part.append(send)
    return parts


def _batches(steps: Sequence[_Step], ports: int) -> list[_Batch]:
    batches: list[_Batch] = []
    for step in steps:
        if batches and _fits([*batches[-1], step], ports):
            batches[-1].append(step)
        else:
            batches.append([step])
    return batches


def _timed(instance: CircuitInstance, batches: Sequence[_Batch]) -> CircuitPlan:
    """A batch is set up, its steps follow one another, and it is torn down."""
    setup_s, teardown_s = instance.s, instance.d
    circuits: list[dict[str, Any]] = []
    messages: list[dict[str, Any]] = []
    begin_s, open_s = 0.0, setup_s
    for number, batch in enumerate(batches):
        pairs = sorted({(min(a, b), max(a, b)) for a, partners in _partners(batch).items() for b in partners})
        circuit_of = {pair: len(circuits) + i for i, pair in enumerate(pairs)}
        now_s = open_s
        for step in batch:
            longest_s = 0.0
            for send in step:
                took_s = instance.alpha + len(send.blocks) * instance.bytes * instance.beta
                longest_s = max(longest_s, took_s)
                messages.append(
                    {
                        "circuit": circuit_of[min(send.sender, send.receiver), max(send.sender, send.receiver)],
                        "from": send.sender,
                        "to": send.receiver,
                        "blocks": list(send.blocks),
                        "time_s": [now_s, now_s + took_s],
                    }
                )
            now_s += longest_s
        circuits += [
            {
                "nodes": list(pair),
                "configuration": number,
                "setup_s": [begin_s, begin_s + setup_s],
                "teardown_s": [now_s, now_s + teardown_s],
            }
            for pair in pairs
        ]
        hidden = instance.accounting == "hidden"
        open_s = now_s + (max(setup_s, teardown_s) if hidden else setup_s + teardown_s)
        begin_s = open_s - setup_s
    makespan_s = max((circuit["teardown_s"][1] for circuit in circuits), default=0.0)
    blocks = 1 if instance.collective == "bcast" else instance.p
    schedule = {"blocks": blocks, "block_bytes": instance.bytes, "circuits": circuits, "messages": messages}
    return CircuitPlan(makespan_s, schedule)
