# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Extends a plan from the sizes and roots that were recorded to those between and beyond them.

The model decides for sizes a factor of two apart, from STRETCH times below the smallest size recorded to STRETCH times
above the largest. It chooses among the schedules that were good at recorded sizes and the best textbook algorithms at
both ends. Its predictions are corrected by what was measured at the nearest recorded size. A size at which the MPI's
own function was found to be best stays with it. What is derived has no evidence, so that the running program compares
it with native calls early.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from hocket.advise.advise import LEAST_GAIN, LEAST_GAIN_S, Choice, native_model_of
from hocket.plan import ROOTED, PlanEntry
from hocket.search.candidates import Candidate, Candidates, without_waiting_exchanges
from hocket.search.decide import RUNNER_UP_MARGIN, Predicted, by_preference, decide
from hocket.search.limits import Limits
from hocket.search.predict import ROOTS_TRIED, Call, predict, serves

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.advise.calls import CallGroup

# The model's costs were fitted to, or are usual for, sizes like the recorded ones. Much further away other effects may
# decide: growth of TCP windows, memory, other algorithms of the MPI.
STRETCH = 8
TEXTBOOK_TRIED = 10  # about so many are tried for a size: algorithms, orders, segments
# As far from a size whose winner was measured, that one is preferred to others that are predicted to be nearly as fast.
TRUSTED_DISTANCE = 4
# Messages that are simulated in all, some tens of seconds. With many ranks fewer sizes are derived; those of the calls
# that take longest come first.
MOST_MESSAGES = 20_000_000
# Of the messages that one schedule in a plan may have, all those for sizes that the program has not used get one part:
# every rank receives and reads the whole plan when it starts (20,000 messages: 1.2 MB, and 0.12 s of CPU).
DERIVED_SHARE = 8


@dataclass(frozen=True)
class Verdict:
    """What was found for one group of recorded calls. Times are medians of a call as measured; None = not measured."""

    choice: Choice
    entry: PlanEntry | None  # serves the calls of the group; None: they stay with the MPI's own function
    native_s: float | None = None
    tuned_s: float | None = None
    is_open: bool = False  # no entry, only because it was not measured, or would save little: the model decides

    @property
    def size_bytes(self) -> int:
        return self.choice.group.bytes_max

    @property
    def native_factor(self) -> float:
        """What a native call takes, over what the model of native calls predicts."""
        native_s = self.choice.native_s if self.native_s is None else self.native_s
        return native_s / self.choice.native_model_s if self.choice.native_model_s > 0 else 1.0

    @property
    def tuned_factor(self) -> float:
        """The same of the schedule."""
        return 1.0 if self.tuned_s is None or self.choice.predicted_s <= 0 else self.tuned_s / self.choice.predicted_s


def cover(verdicts: Sequence[Verdict], network: Network, costs: CostModel) -> tuple[PlanEntry, ...]:
    """The entries of the verdicts, and those derived from them; none are derived where no recorded call is served."""
    measured = tuple(verdict.entry for verdict in verdicts if verdict.entry is not None)
    if not measured:
        return ()
    shapes: dict[tuple[str, tuple[int, ...]], list[Verdict]] = {}
    for verdict in verdicts:
        group = verdict.choice.group
        if group.collective != "barrier":  # has no size
            shapes.setdefault((group.collective, group.members), []).append(verdict)
    derived: list[PlanEntry] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # simulate releases the interpreter lock
        # A schedule that is carried whole serves one root.
        limits = Limits.of_plan(costs)
        room = _Budget((limits.carried_messages or 0) // DERIVED_SHARE)
        limits = replace(limits, carried_messages=0)
        model = _Model(network, costs, limits, room, pool, _Budget(MOST_MESSAGES))
        for of_shape in shapes.values():
            derived += _Shape(of_shape, model).entries()
    return (*measured, *derived)


@dataclass
class _Budget:
    messages: int

    def take(self, messages: int) -> bool:
        self.messages -= messages
        return self.messages >= 0


@dataclass(frozen=True)
class _Model:
    network: Network
    costs: CostModel
    limits: Limits
    room: _Budget  # in the plan, for messages of schedules that are carried whole
    pool: ThreadPoolExecutor
    budget: _Budget

    def predict(self, candidates: Sequence[Candidate], call: Call) -> list[Predicted]:
        times = self.pool.map(lambda one: predict(one, call, self.network, self.costs), candidates)
        return [Predicted(one, time_s) for one, time_s in zip(candidates, times, strict=True)]


class _Shape:
    """The calls of one collective on communicators of one shape."""

    def __init__(self, verdicts: Sequence[Verdict], model: _Model) -> None:
        self.verdicts = sorted(verdicts, key=lambda verdict: verdict.size_bytes)
        self.model = model
        groups = [verdict.choice.group for verdict in self.verdicts]
        self.group = replace(
            groups[-1],
            roots=tuple(dict.fromkeys(root for group in groups for root in group.roots)),
            commutative=all(group.commutative for group in groups),
            other_members=tuple(dict.fromkeys(members for group in groups for members in group.other_members)),
            recorded_s=None,
        )
        low, high = self.verdicts[0].size_bytes / STRETCH, self.verdicts[-1].size_bytes * STRETCH
        exponents = range(math.floor(math.log2(max(1.0, low))), math.ceil(math.log2(max(1.0, high))) + 1)
        # Each stands for the sizes within a factor of the square root of two.
        self.sizes = [1 << exponent for exponent in exponents]
        self.textbook = self._textbook()
        self.carried = {_key(verdict.choice.best) for verdict in self.verdicts}  # what is in the plan already

    def entries(self) -> list[PlanEntry]:
        roots = self.group.roots
        if self.group.collective not in ROOTED:
            return self._ranges(self._decide_all(roots, with_whole=True), None)
        every = tuple(dict.fromkeys((*roots, *range(len(self.group.members)))))
        found = self._ranges(self._decide_all(every, with_whole=False), None)
        if len(roots) > 1:
            return found
        # Schedules that are carried whole serve one root. Where none is best, what is for any root serves it too.
        best = self._decide_all(roots, with_whole=True)
        whole = {size: one if one is not None and one.is_carried else None for size, one in best.items()}
        return [*self._ranges(whole, roots[0]), *found]

    def _textbook(self) -> list[Candidate]:
        """Those that were good at some recorded size, or are best at the ends of what is derived."""
        good = [one for verdict in self.verdicts for one in _good(verdict) if not one.is_carried]
        model, group = self.model, self.group
        segment_bytes = model.limits.segment_bytes
        candidates: Candidates | None = None
        for size in (self.sizes[0], self.sizes[-1]):
            if model.budget.take(TEXTBOOK_TRIED * _num_messages(group, -(-size // min(segment_bytes)))):
                candidates = candidates or Candidates(
                    model.network, model.costs, group.collective, group.members, group.roots, model.limits
                )
                best = decide(candidates, group.call(size), model.pool).best
                good += [best.candidate] if best is not None else []
        found: dict[object, Candidate] = {}
        for one in good:
            for segment in segment_bytes if one.segment_bytes is not None else (None,):
                candidate = replace(one, segment_bytes=segment)
                found.setdefault(_key(candidate), candidate)
        return list(found.values())

    def _whole_near(self, size: int) -> list[Candidate]:
        """The schedules carried whole that were good at the recorded sizes next to this one."""
        below = [verdict for verdict in self.verdicts if verdict.size_bytes <= size][-1:]
        above = [verdict for verdict in self.verdicts if verdict.size_bytes > size][:1]
        good = [one for verdict in (*below, *above) for one in _good(verdict) if one.is_carried]
        return list({_key(cut): cut for one in good for cut in self._cut(one, size)}.values())

    def _cut(self, one: Candidate, size: int) -> list[Candidate]:
        """A schedule carried whole, in numbers of segments that keep their bytes for all that this size stands for."""
        if not one.family.pipelines:
            return [one]
        largest = _edge(2 * size) - 1
        counts = {one.family.segments_of(largest, segment) for segment in self.model.limits.segment_bytes}
        root = self.group.roots[0]
        cut = [replace(one, segments=count) for count in sorted(counts)]
        return [new for new in cut if _key(new) in self.carried or new.num_messages(root) <= self.model.room.messages]

    def _at(self, size: int, roots: tuple[int, ...]) -> CallGroup:
        return replace(self.group, bytes_min=size, bytes_max=size, roots=roots)

    def _nearest(self, size: int) -> Verdict:
        return min(self.verdicts, key=lambda verdict: _distance(verdict.size_bytes, size))

    def _decide_all(self, roots: tuple[int, ...], with_whole: bool) -> dict[int, Candidate | None]:
        """For each size the schedule to use, or None for the MPI's own function."""
        decided: dict[int, Candidate | None] = {}
        # Those nearest to recorded sizes first, while the budget lasts.
        for size in sorted(self.sizes, key=lambda size: _distance(self._nearest(size).size_bytes, size)):
            candidates = [*self.textbook, *(self._whole_near(size) if with_whole else [])]
            decided[size] = best = self._decide(self._at(size, roots), candidates)
            if best is not None and best.is_carried and _key(best) not in self.carried:
                self.carried.add(_key(best))
                self.model.room.take(best.num_messages(roots[0]))
        return {size: decided[size] for size in self.sizes}

    def _decide(self, group: CallGroup, candidates: Sequence[Candidate]) -> Candidate | None:
        size, model = group.bytes_max, self.model
        call = group.call()
        # Several sizes of segments may come to one number of them.
        tried = {(_family(c), c.order, c.segments): (known, c) for known in candidates for c in [known.at(size)]}
        free = without_waiting_exchanges(
            [c for _, c in tried.values()], group.roots[0], size, model.costs.rendezvous_limit_bytes
        )
        pairs = [(known, c) for known, c in tried.values() if c in free and (group.commutative or serves(c, call))]
        if not pairs or not model.budget.take(sum(_num_messages(group, c.segments) for _, c in pairs)):
            return None
        predicted = model.predict([c for _, c in pairs], call)
        preferred = by_preference(predicted, model.limits.nearly_equal)[0]
        nearest = self._nearest(size)
        if nearest.entry is not None and _distance(nearest.size_bytes, size) <= TRUSTED_DISTANCE:
            kind = _kind(nearest.choice.best)
            of_kind = [one for (known, _), one in zip(pairs, predicted, strict=True) if _kind(known) == kind]
            winner = by_preference(of_kind, model.limits.nearly_equal)[:1]
            if winner and winner[0].time_s <= preferred.time_s * (1 + RUNNER_UP_MARGIN):
                preferred = winner[0]
        native_s = predict(native_model_of(group), call, model.network, model.costs) * nearest.native_factor
        gain_s = native_s - preferred.time_s * nearest.tuned_factor
        best = next(known for (known, _), one in zip(pairs, predicted, strict=True) if one is preferred)
        return best if gain_s >= max(LEAST_GAIN_S, LEAST_GAIN * native_s) else None

    def _ranges(self, decided: Mapping[int, Candidate | None], root: int | None) -> list[PlanEntry]:
        """Entries of neighbouring sizes with one schedule, without the sizes that the verdicts have decided."""
        taken = sorted(self._taken(root))
        found = []
        for _, run in groupby(decided, key=lambda size: _key(decided[size])):
            sizes = list(run)
            candidate = decided[sizes[0]]
            if candidate is None:
                continue
            for low, high in _without((_edge(sizes[0]), _edge(2 * sizes[-1]) - 1), taken):
                group = replace(self.group, bytes_min=low, bytes_max=high, calls=0)
                choice = replace(self.verdicts[0].choice, group=group, best=candidate)
                found.append(choice.entry().replace(root=root, predicted_s=None, lower_bound_s=None))
        return found

    def _taken(self, root: int | None) -> Iterator[tuple[int, int]]:
        """Sizes that a verdict serves with this root, and those near the ones that it leaves to the MPI."""
        for verdict in self.verdicts:
            group = verdict.choice.group
            if verdict.is_open:
                continue
            if verdict.entry is None:
                yield _edge(group.bytes_min), _edge(2 * group.bytes_max) - 1
            elif verdict.entry.root == root:
                yield verdict.entry.bytes_min, verdict.entry.bytes_max


def _good(verdict: Verdict) -> list[Candidate]:
    return [verdict.choice.best, *(candidate for candidate, _ in verdict.choice.runners_up)]


def _key(candidate: Candidate | None) -> object:
    """Equal for the same schedule at all sizes."""
    if candidate is None:
        return None
    segments = candidate.segments if candidate.segment_bytes is None else None
    return _family(candidate), candidate.order, candidate.segment_bytes, segments


def _kind(candidate: Candidate) -> object:
    """As `_key`; a schedule that is carried whole may be in any number of segments."""
    return (_family(candidate), candidate.order) if candidate.is_carried else _key(candidate)


def _family(candidate: Candidate) -> object:
    """A schedule that is carried whole may be of one size, and differ from another of the same name."""
    return id(candidate.family) if candidate.is_carried else candidate.algorithm


def _num_messages(group: CallGroup, segments: int) -> int:
    """About so many are simulated to predict a schedule."""
    ranks = len(group.members)
    blocks = ranks if group.collective in ("allgather", "alltoall", "reduce_scatter_block") else 1
    return ranks * blocks * segments * min(ROOTS_TRIED, len(group.roots))


def _edge(size: int) -> int:
    """The lower end of the sizes that this one stands for."""
    return math.ceil(size / math.sqrt(2))


def _distance(a: int, b: int) -> float:
    return max(a, b, 1) / max(1, min(a, b))


def _without(ends: tuple[int, int], taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is left of the range, both ends included, without the sorted ranges `taken`."""
    low, high = ends
    left = []
    for first, last in taken:
        left.append((low, min(high, first - 1)))
        low = max(low, last + 1)
    left.append((low, high))
    return [(a, b) for a, b in left if a <= b]
