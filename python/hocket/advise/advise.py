# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Chooses a schedule for each group of collective calls by simulating every candidate on the network."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hocket import __version__
from hocket.advise.calls import CallGroup
from hocket.errors import InvalidInput
from hocket.plan import ROOTED, Plan, PlanEntry
from hocket.search.candidates import Candidate, Candidates
from hocket.search.decide import Decision, Predicted, decide
from hocket.search.families import family_if_possible
from hocket.search.limits import Limits
from hocket.search.predict import predict

if TYPE_CHECKING:
    from hocket import CostModel, Network

# A schedule must be predicted to win this much over what the MPI is assumed to do, as a share and in seconds: the model
# does not show smaller differences, and where latency alone decides (barriers, small messages) the library's own path
# is the shorter one.
LEAST_GAIN = 0.1
LEAST_GAIN_S = 100e-6
# What non-blocking calls take is not recorded, since they have the program's computation in them. So they are taken to
# be as slow as has been seen, to be measured: where ranks exchange, one direction after the other
# (docs/notebook/progress-with-plan.md).
IN_TURN = 2.0

Progress = Callable[[int], None]  # called with the number of schedules simulated for the group at hand


@dataclass(frozen=True)
class Choice:
    """What advise decided for one group."""

    group: CallGroup
    best: Candidate
    predicted_s: float
    native_model: Candidate  # the textbook algorithm that the MPI is assumed to use
    native_model_s: float
    native_s: float  # taken for the time of a native call: of the model, or longer if recorded so, or not recorded
    lower_bound_s: float
    reason: str = ""  # why the calls stay with the MPI's own algorithm; empty = they are in the plan
    runners_up: tuple[tuple[Candidate, float], ...] = ()  # unlike the best and nearly as fast: each with its prediction

    def with_candidate(self, number: int) -> Choice | None:
        """The choice with its best (0) or a runner-up (1, ...) as the best, if there are so many."""
        if number == 0:
            return self
        if number > len(self.runners_up):
            return None
        candidate, predicted_s = self.runners_up[number - 1]
        return replace(self, best=candidate, predicted_s=predicted_s)

    def entry(self) -> PlanEntry:
        best = self.best
        custom = best.schedule(self.group.roots[0]) if best.is_carried else None
        return PlanEntry(
            collective=self.group.collective,
            members=self.group.members,
            bytes_min=self.group.bytes_min,
            bytes_max=self.group.bytes_max,
            algorithm="custom" if custom else best.algorithm,
            segments=1 if custom or best.segment_bytes else best.segments,
            segment_bytes=best.segment_bytes,
            order=None if custom or _is_rank_order(best.order, self.group.collective) else best.order,
            custom=custom,
            starts=best.family.starts,
            root=self.group.root,
            predicted_s=self.predicted_s,
            lower_bound_s=self.lower_bound_s,
            calls=self.group.calls,
            other_members=self.group.other_members,
        )


@dataclass(frozen=True)
class Advice:
    plan: Plan
    choices: tuple[Choice, ...]  # one a group


def advise(
    groups: Sequence[CallGroup],
    network: Network,
    ranks: int,
    costs: CostModel | None = None,
    recorded_here: bool = False,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Chooses schedules for the calls of a program of `ranks` ranks, rank r of which sits on rank r of the network.

    `recorded_here`: the trace was taken on this very network, so its times show how fast the MPI's own algorithms are.
    `limits`: of schedules, `Limits.of_plan` if None.
    """
    check_ranks(network, ranks)
    from hocket import CostModel

    costs = costs or CostModel.usual()
    limits = limits or Limits.of_plan(costs)
    known: dict[tuple[str, tuple[int, ...], tuple[int, ...]], Candidates] = {}  # the search for orders takes time
    choices = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for group in groups:
            key = (group.collective, group.members, group.roots)
            if key not in known:
                known[key] = Candidates(network, costs, *key, limits)
            decision = decide(known[key], group.call(), pool, progress)
            choices.append(_choose(group, decision, network, costs, recorded_here))
    entries = tuple(choice.entry() for choice in choices if not choice.reason)
    return Advice(Plan(ranks, network.name, entries, f"hocket {__version__}"), tuple(choices))


def check_ranks(network: Network, ranks: int) -> None:
    if ranks > network.num_ranks:
        raise InvalidInput(
            f'the program has {ranks} ranks, but the network "{network.name}" has places for {network.num_ranks}',
            hint=f"start at most {network.num_ranks} ranks, or add hosts (or ranks to hosts) in the network file",
        )


def native_model_of(group: CallGroup) -> Candidate:
    """The textbook algorithm that the MPI is assumed to use for the largest of the calls."""
    from hocket import algorithms
    from hocket._core import textbook_algorithm

    order = tuple(range(len(group.members)))
    name = textbook_algorithm(group.collective, len(order), group.bytes_max)
    of_collective = [one for one in algorithms() if one.collective == group.collective]
    usual_first = sorted(of_collective, key=lambda one: one.name != name)
    family = next(found for one in usual_first if (found := family_if_possible(one, order)) is not None)
    return Candidate(family, order)


def _choose(group: CallGroup, decision: Decision, network: Network, costs: CostModel, recorded_here: bool) -> Choice:
    from hocket import wire_limit_s

    native_model = native_model_of(group)
    native_model_s = predict(native_model, group.call(), network, costs)
    lower_bound_s = min(
        wire_limit_s(
            group.collective,
            network,
            list(group.members),
            group.bytes_max,
            root,
            costs.burst_bytes,
            costs.burst_s,
        )
        for root in group.roots
    )
    best = decision.best or Predicted(native_model, native_model_s)
    native_s = native_model_s
    if recorded_here and lower_bound_s >= LEAST_GAIN_S:  # else the algorithm is not what took long
        native_s = max(native_s, IN_TURN * lower_bound_s if group.recorded_s is None else group.recorded_s)
    gain_s = native_s - best.time_s
    reason = ""
    if gain_s < LEAST_GAIN_S:
        reason = f"no schedule is predicted to gain {LEAST_GAIN_S * 1e3:g} ms"
        if predict(best.candidate, group.call(min(1, group.bytes_max)), network, costs) > best.time_s / 2:
            reason = f"latency decides: {reason}"
    elif gain_s < LEAST_GAIN * native_s:
        reason = f"predicted gain below {LEAST_GAIN:.0%}"
    if reason and decision.refused:
        reason += " in the order that the operator needs"
    return Choice(
        group,
        best.candidate,
        best.time_s,
        native_model,
        native_model_s,
        native_s,
        lower_bound_s,
        reason,
        tuple((one.candidate, one.time_s) for one in decision.runners_up),
    )


def _is_rank_order(order: tuple[int, ...], collective: str) -> bool:
    """Or so much like it that it gives the same schedules: with a root the order is a cycle."""
    first = order[0] if collective in ROOTED else 0
    return order == (*range(first, len(order)), *range(first))
