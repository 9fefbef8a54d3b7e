# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Chooses among candidates by simulation."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace

from hocket.search.candidates import Candidate, Candidates, nearest
from hocket.search.predict import MOST_SIMULATED, Call, decider_for, predict, serves

# What is not within this factor of the best of the first candidates is not simulated to the end, nor refined.
_HOPEFUL = 1.5
# By what share more segments must be faster to be taken.
_WORTH = 0.002
# Candidates that are no more than this slower in prediction than the best may be the fastest in truth.
RUNNER_UP_MARGIN = 0.25


@dataclass(frozen=True)
class Predicted:
    candidate: Candidate
    time_s: float


@dataclass(frozen=True)
class Decision:
    best: Predicted | None  # None: no candidate serves the call
    runners_up: tuple[Predicted, ...]  # unlike the best and nearly as fast
    tried: int  # candidates simulated
    refused: bool  # some do not keep the order of operands that the operator needs


def decide(
    candidates: Candidates,
    call: Call,
    pool: Executor | None = None,
    progress: Callable[[int], None] | None = None,
) -> Decision:
    """`progress` is called with the number of candidates simulated so far. The decision does not depend on the pool."""
    limits = candidates.limits
    is_free = limits.families is None and limits.segments is None and limits.most_segment_bytes is None
    if len(call.members) > MOST_SIMULATED and is_free:
        return _decide_by_rounds(candidates, call)
    if pool is not None:
        return _Decider(candidates, call, pool, progress).decision()
    with ThreadPoolExecutor(os.cpu_count()) as own:  # simulate releases the interpreter lock
        return _Decider(candidates, call, own, progress).decision()


def by_preference(found: Sequence[Predicted], nearly_equal: float) -> list[Predicted]:
    """Fastest first, but among the nearly fastest those of the fewest segments first."""
    limit_s = min((one.time_s for one in found), default=0.0) * (1 + nearly_equal)

    def rank(one: Predicted) -> tuple[bool, int, float]:
        is_near = one.time_s <= limit_s
        return not is_near, one.candidate.segments if is_near else 0, one.time_s

    return sorted(found, key=rank)


def _decide_by_rounds(candidates: Candidates, call: Call) -> Decision:
    """Without simulations, as `hocket run --network` decides in the program."""
    if not call.commutative:
        return Decision(None, (), 0, True)
    found = decider_for(candidates.network, candidates.costs).fastest(
        call.collective, list(call.members), call.size_bytes
    )
    family = next(one for one in candidates.families if one.name == found.algorithm)
    order = tuple(range(len(call.members))) if found.order is None else found.order
    segments = 1
    if found.segment_bytes is not None:
        segments = family.segments_of(call.size_bytes, found.segment_bytes)
    how = "rank order" if found.order is None else "depth first"
    best = Predicted(Candidate(family, order, segments, found.segment_bytes, how), found.predicted_s or 0.0)
    return Decision(best, (), 1, False)


class _Decider:
    def __init__(
        self, candidates: Candidates, call: Call, pool: Executor, progress: Callable[[int], None] | None
    ) -> None:
        self.candidates = candidates
        self.limits = candidates.limits
        self.call = call
        self.pool = pool
        self.progress = progress
        self.numbers = itertools.count(1)  # of attempts; threads draw from it
        self.limit_s = math.inf
        # So far above the best, times must be known.
        self.margin = RUNNER_UP_MARGIN if self.limits.runners_up else self.limits.nearly_equal

    def decision(self) -> Decision:
        starts = self.candidates.starts(self.call.size_bytes)
        allowed = self._in_order(starts)
        found = self._first(allowed)
        found += [one for climbed in self.pool.map(self._climb, self._hopeful(found)) for one in climbed]
        if found and self.call.collective in ("scatter", "gather"):
            found.append(self._reordered(by_preference(found, self.limits.nearly_equal)[0]))
        best: Predicted | None = None
        runners_up: list[Predicted] = []
        refused = len(allowed) < len(starts)
        for one in by_preference([one for one in found if one.time_s < math.inf], self.limits.nearly_equal):
            if best is not None:
                if len(runners_up) == self.limits.runners_up or one.time_s > best.time_s * (1 + RUNNER_UP_MARGIN):
                    break
                if not all(_is_unlike(one.candidate, other.candidate) for other in (best, *runners_up)):
                    continue
            if not serves(one.candidate, self.call):
                refused = True
            elif best is None:
                best = one
            else:
                runners_up.append(one)
        return Decision(best, tuple(runners_up), next(self.numbers) - 1, refused)

    def _in_order(self, starts: Sequence[Candidate]) -> Sequence[Candidate]:
        """Those that combine operands in the order that the operator needs; segments do not change it."""
        if self.call.commutative:
            return starts
        first = {(id(one.family), one.order): one for one in reversed(starts)}
        keeps = {pair: serves(one, self.call) for pair, one in first.items()}
        return [one for one in starts if keeps[id(one.family), one.order]]

    def _first(self, starts: Sequence[Candidate]) -> list[Predicted]:
        """Few messages are simulated soon, and limit what many may take."""

        def messages(number: int) -> int:
            return self.candidates.messages(starts[number].family) * starts[number].segments

        def attempt(number: int) -> Predicted:
            found = self._attempt(starts[number], lambda: self.limit_s)
            self.limit_s = min(self.limit_s, _HOPEFUL * found.time_s)  # a lost race only makes it looser
            return found

        numbers = sorted(range(len(starts)), key=messages)
        found = dict(zip(numbers, self.pool.map(attempt, numbers), strict=True))
        return [found[number] for number in range(len(starts))]

    def _attempt(self, candidate: Candidate, limit_s: Callable[[], float]) -> Predicted:
        network, costs = self.candidates.network, self.candidates.costs
        found = Predicted(candidate, predict(candidate, self.call, network, costs, limit_s))
        number = next(self.numbers)
        if self.progress is not None:
            self.progress(number)
        return found

    def _attempt_within(self, limit_s: float, candidate: Candidate) -> Predicted:
        return self._attempt(candidate, lambda: limit_s)

    def _hopeful(self, found: Sequence[Predicted]) -> list[Predicted]:
        """The best of each family and order, the fastest first; of orders that are equally fast only the first."""
        limit_s = _HOPEFUL * min((one.time_s for one in found), default=0.0)
        hopeful: list[Predicted] = []
        for one in sorted(found, key=lambda one: (one.time_s, one.candidate.segments)):
            family = one.candidate.family
            if one.time_s > limit_s or len(self.candidates.counts(family, self.call.size_bytes)) < 2:
                continue
            same = [other for other in hopeful if other.candidate.family is family]
            if not any(
                other.candidate.order == one.candidate.order or math.isclose(other.time_s, one.time_s) for other in same
            ):
                hopeful.append(one)
        return hopeful[: self.limits.refined]

    def _climb(self, start: Predicted) -> list[Predicted]:
        """To better numbers of segments, in steps that shrink; more segments must be worth their messages."""
        family, size_bytes = start.candidate.family, self.call.size_bytes
        counts = self.candidates.counts(family, size_bytes)
        best = start
        seen = {start.candidate.segments}  # none twice, so that it ends
        found: list[Predicted] = []

        def is_better(target: float) -> bool:
            nonlocal best
            count = nearest(counts, target)
            if count in seen:
                return False
            seen.add(count)
            candidate = self.candidates.with_segments(start.candidate, count, size_bytes)
            other = self._attempt_within(best.time_s * (1 + self.margin), candidate)
            found.append(other)
            worth = _WORTH if count > best.candidate.segments else -_WORTH
            if other.time_s >= best.time_s * (1 - worth):
                return False
            best = other
            return True

        eager = self.candidates.eager_segments(family, size_bytes)
        if max(counts[0], start.candidate.segments + 1) <= eager <= counts[-1]:
            is_better(eager)  # a step in the time, which climbing would not get over
        for factor in (4.0, 2.0, 2**0.5):
            while is_better(best.candidate.segments / factor) or is_better(best.candidate.segments * factor):
                pass
        return found

    def _reordered(self, best: Predicted) -> Predicted:
        """Moves one rank at a time to another place in the order, as long as that is faster."""
        places = range(1, len(self.call.members))
        left = min(self.limits.reorderings, self.limits.messages // self.candidates.messages(best.candidate.family))
        moved = True
        while moved:
            moved = False
            for old, new in itertools.permutations(places, 2):
                if left == 0:
                    return best
                left -= 1
                order = list(best.candidate.order)
                order.insert(new, order.pop(old))
                candidate = replace(best.candidate, order=tuple(order), ordered_how="order by local search")
                other = self._attempt_within(best.time_s, candidate)
                if other.time_s < best.time_s * (1 - 1e-9):
                    best, moved = other, True
        return best


def _is_unlike(a: Candidate, b: Candidate) -> bool:
    """The model may err on one and not on the other."""
    return a.algorithm != b.algorithm or not b.segments < 2 * a.segments < 4 * b.segments
