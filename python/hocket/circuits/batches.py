# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The algorithms of [Takizawa] as schedules on circuits, in the form of `hocket schedule --circuits`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hocket.circuits.schedules import CircuitInstance
from hocket.errors import InvalidInput

#: collective and algorithm, as `hocket cost --ports` names them
ALGORITHMS = (
    ("bcast", "linear"),
    ("bcast", "binomial"),
    ("allgather", "ring"),
    ("allgather", "recursive_doubling"),
)


@dataclass(frozen=True)
class CircuitPlan:
    makespan_s: float
    schedule: dict[str, Any]  #: `blocks` of `block_bytes`, `circuits` and `messages`


def schedule_of(instance: CircuitInstance, algorithm: str, naive: bool = False) -> CircuitPlan:
    """As many consecutive steps in a batch of circuits as the ports allow; `naive`: a circuit for each message.

    Raises InvalidInput for an algorithm that is not among ALGORITHMS, or not for so many nodes.
    """
    from hocket import circuit_steps_schedule

    if (instance.collective, algorithm) not in ALGORITHMS:
        known = ", ".join(name for collective, name in ALGORITHMS if collective == instance.collective)
        raise InvalidInput(f"no schedule of {instance.collective} by {algorithm!r}", f"accepted: {known or 'none'}")
    if algorithm == "recursive_doubling" and instance.p & (instance.p - 1):
        raise InvalidInput(f"recursive doubling on {instance.p} nodes: expected a power of two")
    asked = asdict(instance)
    for key in ("segments", "root", "matrix"):
        del asked[key]
    if naive:
        asked["k"] = 1
    found = circuit_steps_schedule(**asked, algorithm=algorithm, joins=not naive)
    assert found is not None
    return CircuitPlan(*found)
