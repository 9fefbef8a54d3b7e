# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Circuits that stay up from one collective of a program to the next.

[Takizawa] sets up the circuits of each collective anew. Here a program has configurations, one after another, each of
circuits that no node has more of than ports. A step of a collective needs its circuits in the configuration; steps of
most algorithms may come in any order. The choice of algorithms, orders and configurations is made for all collectives
of the program together, by dynamic programming over what is up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hocket.circuits.network import CircuitNetwork
from hocket.circuits.steps import ON_A_RING, AlgorithmSteps, Pairs, algorithms_in_steps, allowed, closed_forms, degree
from hocket.errors import InvalidInput
from hocket.reporter import SILENT, Reporter

if TYPE_CHECKING:
    from hocket.traces.trace import Trace

MOST_STATES = (
    4_000  # of a collective, steps that are left under a configuration; beyond that only some orders are tried
)
MOST_STEPS = 8  # of a collective that are looked at for the next configuration where there are too many
MOST_CHOICES = 500  # of configurations that are looked at; beyond that only some are


@dataclass(frozen=True)
class CircuitCall:
    """A collective of all nodes; equal neighbours are counted."""

    collective: str
    bytes: int  #: as `hocket.circuit_cost` has it
    root: int = 0
    times: int = 1


@dataclass(frozen=True)
class CircuitReuseRequest:
    calls: tuple[CircuitCall, ...]
    network: CircuitNetwork
    #: "alltoall:hypercube", ...: the algorithms that may be chosen; of a collective that is not named, all
    algorithms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Batch:
    """Steps under one configuration, both as numbers of sets of circuits."""

    up: tuple[int, ...]
    steps: tuple[int, ...]


@dataclass(frozen=True)
class ScheduledCall:
    """A call as it is carried out."""

    collective: str
    bytes: int
    root: int
    algorithm: str
    messages_s: float
    batches: tuple[Batch, ...]  #: in the order of time; the first is under what was still up


@dataclass(frozen=True)
class CircuitReuse:
    request: CircuitReuseRequest
    sets: tuple[tuple[tuple[int, int], ...], ...]  #: circuits that are set up together, as pairs of nodes
    done: tuple[ScheduledCall, ...]
    configurations: int
    is_least: bool  #: no choice of algorithms, orders and configurations takes less
    naive_s: float  #: messages and circuits with a circuit for each message, each call by its fastest algorithm
    batches_s: float  #: the same with the batches of [Takizawa], which each call sets up and tears down

    @cached_property
    def messages_s(self) -> float:
        return sum(one.messages_s for one in self.done)

    @property
    def connection_s(self) -> float:
        return self.request.network.connection_s(self.configurations)

    @property
    def total_s(self) -> float:
        return self.messages_s + self.connection_s

    @property
    def values(self) -> dict[str, Any]:
        return {
            "request": asdict(self.request),
            "total_s": self.total_s,
            "messages_s": self.messages_s,
            "connection_s": self.connection_s,
            "configurations": self.configurations,
            "is_least": self.is_least,
            "naive_total_s": self.naive_s,
            "batches_total_s": self.batches_s,
            "sets": self.sets,
            "calls": [asdict(one) for one in self.done],
        }


def calls_of(trace: Trace) -> tuple[tuple[CircuitCall, ...], list[str]]:
    """The collectives of all ranks in the order of time, and sentences about what is left out."""
    from hocket import circuit_algorithms
    from hocket._core import algorithms

    known = {name for name in {one.collective for one in algorithms()} if circuit_algorithms(name)}
    calls: list[CircuitCall] = []
    left_out: dict[str, int] = {}
    for one in trace.collectives():
        if len(one.members) != trace.ranks:
            why = "on smaller communicators"
        elif one.collective not in known:
            why = f"{one.collective}, which has no closed form on circuits"
        elif not one.uniform:
            why = f"{one.collective} with another size on each rank"
        else:
            root = one.members[one.root] if one.root >= 0 else 0
            calls.append(CircuitCall(one.collective, one.bytes, root))
            continue
        left_out[why] = left_out.get(why, 0) + 1
    folded = tuple(replace(call, times=len(list(equal))) for call, equal in groupby(calls))
    return folded, [f"{count} call{'s' * (count > 1)} left out: {why}" for why, count in left_out.items()]


def run(request: CircuitReuseRequest, reporter: Reporter = SILENT) -> CircuitReuse:
    """Raises InvalidInput for a value out of range or a collective without an algorithm in steps."""
    from hocket import circuit_algorithms

    if not request.calls:
        raise InvalidInput("no collective of all nodes is there to schedule")
    for name in request.algorithms:
        collective, _, algorithm = name.partition(":")
        known = [*circuit_algorithms(collective), *(one for name, one in ON_A_RING if name == collective)]
        if algorithm not in known:
            hint = ", ".join(f"{collective}:{one}" for one in known)
            raise InvalidInput(f"{name}: no closed form on circuits", f"accepted: {hint}" if hint else "")
    return _Program(request).least(reporter)


@dataclass(frozen=True)
class _Path:
    """The least way to a state: what it took, and how the calls so far were carried out, as a linked list."""

    cost_s: float
    configurations: int
    last: tuple[ScheduledCall, Any] | None


#: What is up, as numbers of sets of circuits.
_Up = frozenset[int]


class _Program:
    def __init__(self, request: CircuitReuseRequest) -> None:
        self._request = request
        self._exchange_s = request.network.exchange_s
        self._sets: list[Pairs] = []  # distinct circuits of steps
        self._number: dict[Pairs, int] = {}
        self._fits: dict[_Up, bool] = {}
        self._is_least = True

    def least(self, reporter: Reporter) -> CircuitReuse:
        request = self._request
        kinds: dict[CircuitCall, list[AlgorithmSteps]] = {}
        for call in request.calls:
            kind = replace(call, times=1)
            if kind not in kinds:
                kinds[kind] = algorithms_in_steps(
                    kind.collective, kind.bytes, kind.root, request.network, request.algorithms
                )
        steps = {kind: [self._numbered(way) for way in known] for kind, known in kinds.items()}
        # Without a configuration nothing is up; the first costs as much as any other, but for a constant.
        paths: dict[_Up, _Path] = {frozenset(): _Path(0.0, 0, None)}
        transitions: dict[tuple[CircuitCall, _Up], list[tuple[_Up, float, int, ScheduledCall]]] = {}
        with reporter.steps("choosing configurations", sum(call.times for call in request.calls)) as following:
            for call in request.calls:
                kind = replace(call, times=1)
                for _ in range(call.times):
                    after: dict[_Up, _Path] = {}
                    for up, path in paths.items():
                        if (kind, up) not in transitions:
                            transitions[kind, up] = self._transitions(kind, kinds[kind], steps[kind], up)
                        for then, cost_s, configurations, done in transitions[kind, up]:
                            known = after.get(then)
                            if known is None or path.cost_s + cost_s < known.cost_s:
                                after[then] = _Path(
                                    path.cost_s + cost_s, path.configurations + configurations, (done, path.last)
                                )
                    # From the least one any configuration is one exchange away: states that took as much are of no use.
                    least_s = min(path.cost_s for path in after.values())
                    limit_s = least_s + self._exchange_s * (1 - 1e-9)
                    paths = {then: path for then, path in after.items() if path.cost_s <= max(least_s, limit_s)}
                    following("")
        best = min(paths.values(), key=lambda path: path.cost_s)
        calls: list[ScheduledCall] = []
        last = best.last
        while last is not None:
            calls.append(last[0])
            last = last[1]
        calls.reverse()
        return CircuitReuse(
            request,
            tuple(tuple(sorted(pairs)) for pairs in self._sets),
            tuple(calls),
            best.configurations,
            self._is_least,
            *(sum(self._alone_s(call, ports) for call in request.calls) for ports in (None, request.network.ports)),
        )

    def _alone_s(self, call: CircuitCall, ports: int | None) -> float:
        """Each of its own circuits, by its fastest closed form: of those named, if one has one."""
        names = [
            name
            for name in allowed(call.collective, self._request.algorithms)
            if (call.collective, name) not in ON_A_RING
        ]
        names = names or closed_forms(call.collective)
        network = self._request.network
        fastest_s: float = min(network.cost(call.collective, name, call.bytes, ports)["total_s"] for name in names)
        return call.times * fastest_s

    def _numbered(self, way: AlgorithmSteps) -> tuple[int, ...]:
        for step in way.steps:
            if step not in self._number:
                self._number[step] = len(self._sets)
                self._sets.append(step)
        return tuple(self._number[step] for step in way.steps)

    def _transitions(
        self, kind: CircuitCall, known: Sequence[AlgorithmSteps], steps: Sequence[tuple[int, ...]], up: _Up
    ) -> list[tuple[_Up, float, int, ScheduledCall]]:
        """What may be up after a call, what that takes, and how."""
        best: dict[_Up, tuple[float, int, ScheduledCall]] = {}
        for way, numbers in zip(known, steps, strict=True):
            walk = self._in_any_order if way.in_any_order else self._in_order
            for then, batches in walk(numbers, up).items():
                configurations = len(batches) - 1
                cost_s = way.messages_s + configurations * self._exchange_s
                if then not in best or cost_s < best[then][0]:
                    done = ScheduledCall(
                        kind.collective,
                        kind.bytes,
                        kind.root,
                        way.algorithm,
                        way.messages_s,
                        tuple(batches),
                    )
                    best[then] = (cost_s, configurations, done)
        return [(then, *found) for then, found in best.items()]

    def _in_any_order(self, numbers: tuple[int, ...], up: _Up) -> dict[_Up, list[Batch]]:
        first = [number for number in numbers if number in up]
        left = [number for number in numbers if number not in up]
        if self._full is None or len(self._full) * 2 ** len(left) > MOST_STATES:
            self._is_least = self._is_least and not left
            return self._in_some_orders(first, left, up)
        level = {(up, frozenset(left)): [_batch(up, first)]}
        ends: dict[_Up, list[Batch]] = {}
        while level:
            following: dict[tuple[_Up, _Up], list[Batch]] = {}
            for (now, rest), batches in level.items():
                if not rest:
                    ends.setdefault(now, batches)
                    continue
                for then in self._full:
                    if rest & then:
                        following.setdefault((then, rest - then), [*batches, _batch(then, sorted(rest & then))])
            level = following
        return ends

    def _in_some_orders(self, first: list[int], left: list[int], up: _Up) -> dict[_Up, list[Batch]]:
        """Configurations that are as full as can be; each of them may be the last."""
        groups: list[list[int]] = []
        for number in left:
            if groups and self._fit(frozenset([*groups[-1], number])):
                groups[-1].append(number)
            else:
                groups.append([number])
        begin = _batch(up, first)
        if not groups:
            return {up: [begin]}
        turns = [groups[turn:] + groups[:turn] for turn in range(len(groups))]
        found: dict[_Up, list[Batch]] = {}
        for turn in turns:
            batches = [begin]
            for group in turn:
                batches.append(_batch(self._filled(group, batches[-1].up), group))
            found.setdefault(frozenset(batches[-1].up), batches)
        return found

    def _filled(self, group: Sequence[int], before: Sequence[int]) -> _Up:
        """With as much of what is up before as ports allow."""
        chosen = frozenset(group)
        for number in before:
            if self._fit(chosen | {number}):
                chosen |= {number}
        return chosen

    def _in_order(self, numbers: tuple[int, ...], up: _Up) -> dict[_Up, list[Batch]]:
        """A configuration serves the steps from the first that is not up, and keeps what it has ports for."""
        level: dict[tuple[_Up, int], list[Batch]] = {}
        at = _served(numbers, 0, up)
        level[up, at] = [_batch(up, numbers[:at])]
        ends: dict[_Up, list[Batch]] = {}
        while level:
            following: dict[tuple[_Up, int], list[Batch]] = {}
            for (now, begin), batches in level.items():
                if begin == len(numbers):
                    ends.setdefault(now, batches)
                    continue
                for then in self._choices(numbers[begin:], now):
                    end = _served(numbers, begin, then)
                    following.setdefault((then, end), [*batches, _batch(then, numbers[begin:end])])
            level = following
        return ends

    def _choices(self, left: Sequence[int], now: _Up) -> list[_Up]:
        """Configurations that serve the first step of `left`, and hold as much besides as they have ports for."""
        choices = self._full
        if choices is None:
            choices = self._fullest(list(dict.fromkeys([*left[:MOST_STEPS], *now]))[:MOST_STEPS])
        if choices is None:
            choices = [self._filled(left[:1], sorted(now))]
        return [one for one in choices if left[0] in one]

    @cached_property
    def _full(self) -> list[_Up] | None:
        """Configurations of all sets, as full as ports allow: what is not wanted yet may be set up for later."""
        found = self._fullest(range(len(self._sets)))
        self._is_least = self._is_least and found is not None
        return found

    def _fullest(self, pool: Sequence[int]) -> list[_Up] | None:
        """All sets of `pool` that fit and to which none can be added; None if there are too many."""
        found: list[_Up] = []
        looked_at = 0
        at = {number: place for place, number in enumerate(pool)}
        stack: list[tuple[_Up, int]] = [(frozenset(), 0)]
        while stack:
            chosen, begin = stack.pop()
            looked_at += 1
            if looked_at > MOST_CHOICES:
                return None
            fitting = [number for number in pool if number not in chosen and self._fit(chosen | {number})]
            if not fitting:
                found.append(chosen)
            stack += [(chosen | {number}, at[number] + 1) for number in fitting if at[number] >= begin]
        return found

    def _fit(self, one: _Up) -> bool:
        if one not in self._fits:
            pairs = frozenset[tuple[int, int]]().union(*(self._sets[number] for number in one))
            self._fits[one] = degree(pairs) <= self._request.network.ports
        return self._fits[one]


def _batch(up: Iterable[int], steps: Iterable[int]) -> Batch:
    return Batch(tuple(sorted(up)), tuple(steps))


def _served(numbers: Sequence[int], begin: int, up: _Up) -> int:
    end = begin
    while end < len(numbers) and numbers[end] in up:
        end += 1
    return end
