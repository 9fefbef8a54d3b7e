# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The algorithms of [Takizawa] as schedules: right, and as long as the equations say."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from hocket import InvalidInput, circuit_cost
from hocket.circuits.batches import ALGORITHMS, schedule_of
from hocket.circuits.check import replay
from hocket.circuits.schedules import CircuitInstance


def _instance(collective: str, p: int, k: int, accounting: str = "equations") -> CircuitInstance:
    return CircuitInstance(collective, p, k, 1e5, 4e-3, 6e-3, 1e-4, 8e-9, accounting=accounting)


@pytest.mark.parametrize(("collective", "algorithm"), ALGORITHMS)
@pytest.mark.parametrize("accounting", ["equations", "hidden"])
@pytest.mark.parametrize("ports", [None, 1, 2, 3, 4])
def test_schedules_are_right_and_take_what_the_equations_say(
    collective: str, algorithm: str, accounting: str, ports: int | None
) -> None:
    for p in (2, 4, 8, 32) if algorithm == "recursive_doubling" else (2, 3, 5, 8, 13, 32):
        instance = _instance(collective, p, ports or 1, accounting)
        plan = schedule_of(instance, algorithm, naive=ports is None)
        replayed = replay(asdict(instance), plan.schedule)
        assert replayed.problems == ()
        cost = circuit_cost(
            collective=collective,
            algorithm=algorithm,
            num_ranks=p,
            ports=ports,
            bytes=instance.bytes,
            latency_s=instance.alpha,
            bandwidth_bytes_per_s=1 / instance.beta,
            setup_s=instance.s,
            teardown_s=instance.d,
            accounting=accounting,
        )
        assert plan.makespan_s == pytest.approx(cost["total_s"], rel=1e-12)
        assert replayed.makespan_s == pytest.approx(cost["total_s"], rel=1e-12)


def test_what_has_no_schedule() -> None:
    with pytest.raises(InvalidInput, match="no schedule of bcast by 'ring'"):
        schedule_of(_instance("bcast", 4, 2), "ring")
    with pytest.raises(InvalidInput, match="power of two"):
        schedule_of(_instance("allgather", 6, 2), "recursive_doubling")
