# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Locks of passive targets in a replay: who waits for whom, beside a slow reference."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from traced_calls import Row, traced_calls

from hocket import CostModel, Network, simulate
from hocket.simulation.what_if import WhatIf
from hocket.traces.replay import replay, simulate_trace
from hocket.traces.trace import Trace, TraceFiles

EXCLUSIVE, SHARED = 8, 16  # flags of a call
LINK_US = 3.0
LAST_US = 1e5  # computed in the end, longer than all that others ask of a rank
ALL = -1  # target of MPI_Win_lock_all


@dataclass
class Epoch:
    rank: int
    target: int
    exclusive: bool
    before_us: float  # computed before the lock
    inside_us: float
    locked_us: float = 0.0  # in the recorded run: the lock returned, the unlock was called and returned
    unlock_us: float = 0.0
    unlocked_us: float = 0.0


def latency(a: int, b: int, link_us: float) -> float:
    return 0.0 if a == b else 2 * link_us


def excluded(one: Epoch, other: Epoch) -> bool:
    meet = one.target in (other.target, ALL) or other.target == ALL
    return meet and (one.exclusive or other.exclusive)


@dataclass
class Run:
    """Plays epochs, each rank its own in turn, by locks that are granted in a given order of all epochs."""

    epochs: list[Epoch]  # in the order in which they are granted
    ranks: int
    link_us: float
    lazy: bool | None = None  # True: locks return at once, and unlocks wait; None: as the recorded times tell

    def times(self) -> list[tuple[float, float, float]]:
        """Of each epoch when its lock returned, its unlock was called and returned."""
        found: dict[int, tuple[float, float, float]] = {}
        own = {rank: [i for i, one in enumerate(self.epochs) if one.rank == rank] for rank in range(self.ranks)}
        while len(found) < len(self.epochs):
            before = len(found)
            for places in own.values():
                for number, place in enumerate(places):
                    if place in found or (number > 0 and places[number - 1] not in found):
                        continue
                    earlier = [i for i in range(place) if excluded(self.epochs[i], self.epochs[place])]
                    if all(i in found for i in earlier):
                        asked = (found[places[number - 1]][2] if number > 0 else 0.0) + self.epochs[place].before_us
                        found[place] = self._times(place, asked, [(i, found[i][2]) for i in earlier])
            assert len(found) > before, "a circle of locks"
        return [found[place] for place in range(len(self.epochs))]

    def _times(self, place: int, asked_us: float, released: list[tuple[int, float]]) -> tuple[float, float, float]:
        one = self.epochs[place]
        locked = granted = asked_us
        for target in self.contended(one):
            way = latency(one.rank, target, self.link_us)
            earlier = [(i, at) for i, at in released if self.epochs[i].target in (target, ALL)]
            at_target = max(
                [asked_us + way, *(at + latency(self.epochs[i].rank, target, self.link_us) for i, at in earlier)]
            )
            granted = max(granted, at_target + way)
            lazy = self.lazy
            if lazy is None:
                lazy = any(one.locked_us < self.epochs[i].unlock_us for i, _ in earlier)
            if not lazy:
                locked = max(locked, at_target + way)
        unlock = locked + one.inside_us
        return locked, unlock, max(unlock, granted)

    def contended(self, one: Epoch) -> list[int]:
        """The targets of an epoch at which somebody has to wait."""
        targets = range(self.ranks) if one.target == ALL else [one.target]
        at = {target: [other for other in self.epochs if other.target in (target, ALL)] for target in targets}
        return [
            target
            for target, epochs in at.items()
            if any(other.exclusive for other in epochs) and len({other.rank for other in epochs}) > 1
        ]


def recorded(folder: Path, epochs: list[Epoch], ranks: int) -> Trace:
    rows: list[list[Row]] = []
    for rank in range(ranks):
        own: list[Row] = [("MPI_Win_create", 0, 0, {"window": 0})]
        end = 0.0
        for one in (one for one in epochs if one.rank == rank):
            place = {"window": 0, "communicator": -1} | ({"peer": one.target} if one.target != ALL else {})
            suffix = "_all" if one.target == ALL else ""
            flags = EXCLUSIVE if one.exclusive else SHARED
            own.append(("MPI_Win_lock" + suffix, end + one.before_us, one.locked_us, place | {"flags": flags}))
            own.append(("MPI_Win_unlock" + suffix, one.unlock_us, one.unlocked_us, place))
            end = one.unlocked_us
        rows.append([*own, ("MPI_Finalize", end + LAST_US, end + LAST_US, {})])
    return traced_calls(folder, rows)


def random_epochs(chance: random.Random, ranks: int) -> list[Epoch]:
    """In the order in which a real run granted them, with the times of that run: of locks that are taken in the lock
    call, in any order, or in the unlock, first come, first served."""
    lazy, link_us = chance.random() < 0.5, chance.choice([0.5, 20.0])
    left = {rank: [random_epoch(chance, rank, ranks) for _ in range(chance.randint(1, 4))] for rank in range(ranks)}
    epochs: list[Epoch] = []

    def unlock_us(rank: int) -> float:
        return Run([*epochs, left[rank][0]], ranks, link_us, lazy).times()[-1][1]

    while waiting := [rank for rank in left if left[rank]]:
        epochs.append(left[min(waiting, key=unlock_us) if lazy else chance.choice(waiting)].pop(0))
    times = Run(epochs, ranks, link_us, lazy).times()
    for one, found in zip(epochs, times, strict=True):
        one.locked_us, one.unlock_us, one.unlocked_us = found
    return epochs


def has_clear_order(epochs: list[Epoch]) -> bool:
    """Who unlocks first has had the lock first, and no two unlocks return at once."""
    in_order = all(
        one.unlock_us <= other.unlock_us
        for place, other in enumerate(epochs)
        for one in epochs[:place]
        if excluded(one, other)
    )
    return in_order and len({one.unlocked_us for one in epochs}) == len(epochs)


def random_epoch(chance: random.Random, rank: int, ranks: int) -> Epoch:
    target = ALL if chance.random() < 0.15 else chance.randrange(ranks)
    before_us, inside_us = (chance.randint(1000, 30_000) / 1000 for _ in range(2))
    return Epoch(rank, target, target != ALL and chance.random() < 0.6, before_us, inside_us)


def expected_us(epochs: list[Epoch], ranks: int) -> list[float]:
    """When the last unlock of each rank returns on the network, by locks in the order of the recorded run."""
    times = Run(epochs, ranks, LINK_US).times()
    return [
        max(end for one, (_, _, end) in zip(epochs, times, strict=True) if one.rank == rank) for rank in range(ranks)
    ]


def finish_us(trace: Trace) -> list[float]:
    network = Network.generate(f"star:{trace.ranks}", bandwidth="1 GB/s", latency=f"{LINK_US} us")
    timeline = simulate(replay(trace).program, network)
    files = simulate_trace(TraceFiles(trace.folder), network, CostModel(), None, WhatIf().core)
    assert files.timeline.makespan_s == timeline.makespan_s
    assert list(files.timeline.finish_s) == list(timeline.finish_s)
    return [1e6 * one for one in timeline.finish_s]


@pytest.mark.parametrize("seed", range(60))
def test_waiting_is_that_of_a_slow_reference(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    ranks = chance.randint(2, 5)
    epochs = random_epochs(chance, ranks)
    while not has_clear_order(epochs):
        epochs = random_epochs(chance, ranks)
    trace = recorded(tmp_path / "trace", epochs, ranks)
    expected = expected_us(epochs, ranks)
    assert finish_us(trace) == pytest.approx([LAST_US + one for one in expected], abs=0.1)


def two_ranks(folder: Path, flags: int, unlock: bool = True) -> Trace:
    """Rank 1 holds a lock of rank 0's memory from 10 us on for 50 us; rank 2 asks for it at 20 us."""

    def lock(at_us: float, granted_us: float, end_us: float) -> list[Row]:
        place = {"window": 0, "communicator": -1, "peer": 0}
        rows: list[Row] = [("MPI_Win_lock", at_us, granted_us, place | {"flags": flags})]
        return [*rows, ("MPI_Win_unlock", end_us, end_us, place)] if unlock else rows

    made: Row = ("MPI_Win_create", 0, 0, {"window": 0})
    ends: list[Row] = [("MPI_Finalize", 200, 200, {})]
    return traced_calls(folder, [[made, *ends], [made, *lock(10, 10, 60), *ends], [made, *lock(20, 60, 70), *ends]])


def test_locks_of_earlier_recorders_wait_for_nobody(tmp_path: Path) -> None:
    finish = finish_us(two_ranks(tmp_path / "exclusive", EXCLUSIVE))
    # Rank 1 asks at 10 us, and has the lock when it was asked for and granted, for 50 us; then rank 2 learns of that.
    assert finish[2] == pytest.approx(10 + 4 * LINK_US + 50 + 4 * LINK_US + 10 + 130)
    for name, flags in (("unknown", 0), ("shared", SHARED)):
        assert finish_us(two_ranks(tmp_path / name, flags))[2] == pytest.approx(20 + 10 + 130)


def test_a_lock_that_was_not_released_before_the_recording_ended_holds_nobody_up(tmp_path: Path) -> None:
    finish = finish_us(two_ranks(tmp_path / "trace", EXCLUSIVE, unlock=False))
    assert max(finish) < 300
