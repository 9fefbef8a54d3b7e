# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Chooses a schedule for each group of collective calls by simulating every candidate on the network."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hocket import __version__
from hocket.advise.calls import CallGroup
from hocket.advise.candidates import (
    Candidate,
    candidates,
    chunks_below,
    one_piece_candidates,
    searched_candidates,
    without_blocked_exchanges,
)
from hocket.errors import InvalidInput
from hocket.plan import Plan, PlanEntry
from hocket.search.families import Family, searched_families

if TYPE_CHECKING:
    from hocket import CostModel, Network, Schedule

# A schedule must be predicted to win this much over what the MPI is assumed to do, as a share and in seconds: the model
# does not tell smaller differences, and where latency alone decides (barriers, small messages) the library's own path
# is the shorter one.
LEAST_GAIN = 0.1
LEAST_GAIN_S = 100e-6
# Of candidates whose predictions are this close, the one of the fewest messages is taken: what a message costs beside
# its time on the wire is the least certain part of the model.
NEARLY_EQUAL = 0.03
ROOTS_TRIED = 3
# Candidates that are no more than this slower in prediction than the best may be the fastest in truth.
RUNNER_UP_MARGIN = 0.25
NUM_RUNNERS_UP = 2

Progress = Callable[[int, int], None]  # (done, total)


@dataclass(frozen=True)
class Choice:
    """What advise decided for one group."""

    group: CallGroup
    best: Candidate
    predicted_s: float
    native_model: Candidate  # the textbook algorithm that the MPI is assumed to use
    native_model_s: float
    native_s: float  # taken for the time of a native call: that of the model, or what was recorded if that is longer
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
        identity = tuple(range(len(self.group.members)))
        custom = self.best.custom() if self.best.custom else None
        return PlanEntry(
            collective=self.group.collective,
            members=self.group.members,
            bytes_min=self.group.bytes_min,
            bytes_max=self.group.bytes_max,
            algorithm="custom" if custom else self.best.algorithm,
            pieces=1 if custom or self.best.segment_bytes else self.best.pieces,
            segment_bytes=self.best.segment_bytes,
            order=None if custom or self.best.order == identity else self.best.order,
            custom=custom,
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
    chunk_bytes: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Chooses schedules for the calls of a program of `ranks` ranks, rank r of which sits on rank r of the network.

    `recorded_here`: the trace was taken on this very network, so its times tell how fast the MPI's own algorithms are.
    """
    check_ranks(network, ranks)
    from hocket import CostModel

    costs = costs or CostModel.usual()
    chunk_bytes = chunk_bytes or chunks_below(costs.rendezvous_limit_bytes)
    families: dict[tuple[str, tuple[int, ...], int], list[Family]] = {}  # the search for orders takes time
    limit = costs.rendezvous_limit_bytes
    work = [
        (
            group,
            without_blocked_exchanges(
                _candidates(network, group, chunk_bytes, families), group.roots[0], group.bytes_max, limit
            ),
        )
        for group in groups
    ]
    total = sum(len(choices) for _, choices in work)
    done = 0
    decided = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # simulate releases the interpreter lock
        for group, found in work:
            times = []
            for time in pool.map(lambda candidate, group=group: predict(candidate, group, network, costs), found):
                times.append(time)
                done += 1
                if progress:
                    progress(done, total)
            decided.append(_choose(group, found, times, network, costs, recorded_here))
    entries = tuple(choice.entry() for choice in decided if not choice.reason)
    return Advice(Plan(ranks, network.name, entries, f"hocket {__version__}"), tuple(decided))


def _candidates(
    network: Network,
    group: CallGroup,
    chunk_bytes: Sequence[int],
    known: dict[tuple[str, tuple[int, ...], int], list[Family]],
) -> list[Candidate]:
    found = list(candidates(network, group.collective, group.members, group.bytes_max, chunk_bytes))
    if len(group.roots) > 1:  # a schedule carried whole serves one root
        return found
    key = (group.collective, group.members, group.roots[0])
    if key not in known:
        known[key] = searched_families(group.collective, network, group.members, group.roots[0])
    found += searched_candidates(group.collective, known[key], group.bytes_max, chunk_bytes)
    return found + one_piece_candidates(network, group.collective, group.members, group.bytes_max, group.roots[0])


def check_ranks(network: Network, ranks: int) -> None:
    if ranks > network.num_ranks:
        raise InvalidInput(
            f'the program has {ranks} ranks, but the network "{network.name}" has places for {network.num_ranks}',
            hint=f"start at most {network.num_ranks} ranks, or add hosts (or ranks to hosts) in the network file",
        )


def predict(candidate: Candidate, group: CallGroup, network: Network, costs: CostModel) -> float:
    """Mean over the most frequent roots."""
    return statistics.fmean(
        simulate_call(candidate.schedule(root), group.members, group.bytes_max, network, costs)
        for root in group.roots[:ROOTS_TRIED]
    )


def native_model_of(group: CallGroup) -> Candidate:
    """The textbook algorithm that the MPI is assumed to use for the largest of the calls."""
    from hocket._core import textbook_algorithm

    identity = tuple(range(len(group.members)))
    return Candidate(
        group.collective, textbook_algorithm(group.collective, len(identity), group.bytes_max), 1, identity
    )


def best_textbook(group: CallGroup, network: Network, costs: CostModel) -> Candidate:
    """The textbook algorithm, with order and segments, that is predicted to be fastest for the largest of the calls."""
    limit = costs.rendezvous_limit_bytes
    every = list(candidates(network, group.collective, group.members, group.bytes_max, chunks_below(limit)))
    found = without_blocked_exchanges(every, group.roots[0], group.bytes_max, limit)
    times = [predict(candidate, group, network, costs) for candidate in found]
    return by_preference(times, found)[0][1]


def simulate_call(
    schedule: Schedule, members: Sequence[int], size_bytes: int, network: Network, costs: CostModel
) -> float:
    from hocket import lower, simulate
    from hocket._core import place

    program = place(lower(schedule, size_bytes), list(members), network.num_ranks)
    return simulate(program, network, costs).makespan_s


def _choose(
    group: CallGroup,
    found: Sequence[Candidate],
    times: Sequence[float],
    network: Network,
    costs: CostModel,
    recorded_here: bool,
) -> Choice:
    from hocket import wire_limit_s

    native_model = native_model_of(group)
    native_model_s = predict(native_model, group, network, costs)
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
    best, predicted_s = native_model, native_model_s
    refused = False
    runners_up: list[tuple[Candidate, float]] = []
    served = False
    for time, candidate in by_preference(times, found):
        if served and time > predicted_s * (1 + RUNNER_UP_MARGIN):
            break
        if served and not all(_is_unlike(candidate, other) for other in (best, *(one for one, _ in runners_up))):
            continue
        if not serves(candidate, group):
            refused = refused or not served
            continue
        if served:
            runners_up.append((candidate, time))
            if len(runners_up) == NUM_RUNNERS_UP:
                break
        else:
            best, predicted_s, served = candidate, time, True
    native_s = native_model_s
    if recorded_here and lower_bound_s >= LEAST_GAIN_S:  # else the algorithm is not what took long
        native_s = max(native_s, group.recorded_s or 0)
    gain_s = native_s - predicted_s
    reason = ""
    if gain_s < LEAST_GAIN_S:
        reason = f"no schedule is predicted to gain {LEAST_GAIN_S * 1e3:g} ms"
        if predict(best, replace(group, bytes_max=min(1, group.bytes_max)), network, costs) > predicted_s / 2:
            reason = f"latency decides: {reason}"
    elif gain_s < LEAST_GAIN * native_s:
        reason = f"predicted gain below {LEAST_GAIN:.0%}"
    if reason and refused and not group.commutative:
        reason += " in the order that the operator needs"
    return Choice(
        group, best, predicted_s, native_model, native_model_s, native_s, lower_bound_s, reason, tuple(runners_up)
    )


def _is_unlike(a: Candidate, b: Candidate) -> bool:
    """The model may err on one and not on the other."""
    return a.algorithm != b.algorithm or not b.pieces < 2 * a.pieces < 4 * b.pieces


def by_preference(times: Sequence[float], found: Sequence[Candidate]) -> list[tuple[float, Candidate]]:
    """Fastest first, but among the nearly fastest those of the fewest pieces first."""
    limit = min(times, default=0.0) * (1 + NEARLY_EQUAL)

    def rank(pair: tuple[float, Candidate]) -> tuple[bool, int, float]:
        time, candidate = pair
        return (True, 0, time) if time > limit else (False, candidate.pieces, time)

    return sorted(zip(times, found, strict=True), key=rank)


def serves(candidate: Candidate, group: CallGroup) -> bool:
    """The schedule is right for each root tried, and keeps the order of operands where the operator needs it."""
    from hocket import validate

    checks = [validate(candidate.schedule(root)) for root in group.roots[:ROOTS_TRIED]]
    return all(check.ok and (group.commutative or check.preserves_order) for check in checks)
