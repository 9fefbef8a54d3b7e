# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a schedule takes on a network, by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from hocket import CostModel, Network, Schedule
    from hocket._core import Decider
    from hocket.plan import PlanEntry

ROOTS_TRIED = 3
# Of more ranks a schedule is predicted by its rounds: simulations of all candidates would take minutes.
MOST_SIMULATED = 256


@dataclass(frozen=True)
class Call:
    """A collective call that a schedule is wanted for."""

    collective: str
    members: tuple[int, ...]  # network ranks in the order of the communicator; roots are positions in it
    size_bytes: int  # as in `lower`
    roots: tuple[int, ...] = (0,)  # that the schedule must serve, the most frequent first
    commutative: bool = True  # operands may be combined in any order


class _HasSchedule(Protocol):
    def schedule(self, root: int) -> Schedule: ...

    def entry(self, call: Call) -> PlanEntry | None:
        """Of an algorithm with a name, for this call; None for what a plan carries whole."""


@lru_cache(maxsize=1)
def decider_for(network: Network, costs: CostModel) -> Decider:
    """It keeps what it has found."""
    from hocket._core import Decider

    return Decider(network, costs)


def predict(
    candidate: _HasSchedule,
    call: Call,
    network: Network,
    costs: CostModel,
    limit_s: Callable[[], float] | None = None,
) -> float:
    """Mean over the most frequent roots; where it is above the limit, it may be infinite. Of many ranks the schedules
    of the textbook are not simulated, and the roots are some that lie evenly over the ranks."""
    entry = candidate.entry(call) if len(call.members) > MOST_SIMULATED else None
    if entry is not None:
        return decider_for(network, costs).predicted_s(entry, list(call.members), call.size_bytes)
    roots = call.roots[:ROOTS_TRIED]
    total_s = 0.0
    for root in roots:
        left_s = (lambda spent=total_s: limit_s() * len(roots) - spent) if limit_s is not None else None
        total_s += simulate_call(candidate.schedule(root), call.members, call.size_bytes, network, costs, left_s)
        if total_s == math.inf:
            break
    return total_s / len(roots)


def simulate_call(
    schedule: Schedule,
    members: Sequence[int],
    size_bytes: int,
    network: Network,
    costs: CostModel,
    limit_s: Callable[[], float] | None = None,
) -> float:
    """Infinite if it was stopped at the limit, which may change meanwhile."""
    from hocket import lower, simulate
    from hocket._core import place

    program = place(lower(schedule, size_bytes), list(members), network.num_ranks)
    if limit_s is None:
        return simulate(program, network, costs).makespan_s

    def goes_on(done: int, total: int, simulated_s: float) -> bool:
        return simulated_s <= limit_s()

    timeline = simulate(program, network, costs, on_progress=goes_on)
    return timeline.makespan_s if timeline.completed else math.inf


def serves(candidate: _HasSchedule, call: Call) -> bool:
    """The schedule is right for each root tried, and keeps the order of operands where the operator needs it."""
    from hocket import validate

    checks = [validate(candidate.schedule(root)) for root in call.roots[:ROOTS_TRIED]]
    return all(check.ok and (call.commutative or check.preserves_order) for check in checks)
