# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Executes schedules on real data, slowly, in random legal order: an oracle that shares no code with validate()."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable

import numpy as np

Data = np.ndarray
Combine = Callable[[Data, Data], Data]


class Deadlock(Exception):
    pass


class Executor:
    """`places[rank][chunk]` is what a rank holds; a chunk it does not have is absent.

    A send holds back until its receiver takes the message. A receive that reduces takes its message as soon as the
    sends it depends on have started and the rest of its dependencies have completed, and combines when all have.
    """

    def __init__(self, schedule, places: list[dict[int, Data]], combine: Combine, chance: random.Random) -> None:
        self.ops = [schedule.ops(rank) for rank in range(schedule.num_ranks)]
        self.places, self.combine, self.chance = places, combine, chance
        self.started: set[tuple[int, int]] = set()
        self.completed: set[tuple[int, int]] = set()
        self.taken: dict[tuple[int, int], list[Data]] = {}
        self.partner: dict[tuple[int, int], tuple[int, int]] = {}
        channels: dict[tuple[int, int], tuple[list, list]] = defaultdict(lambda: ([], []))
        for rank, ops in enumerate(self.ops):
            for index, op in enumerate(ops):
                if op.kind == "send":
                    channels[rank, op.peer][0].append((rank, index))
                else:
                    channels[op.peer, rank][1].append((rank, index))
        for sends, receives in channels.values():
            if len(sends) != len(receives):
                raise Deadlock("a message without its counterpart")
            for send, receive in zip(sends, receives, strict=True):
                self.partner[send], self.partner[receive] = receive, send

    def may_start(self, at: tuple[int, int]) -> bool:
        rank, index = at
        op = self.ops[rank][index]

        def is_met(dependency: int) -> bool:
            early = op.kind.startswith("recv_reduce") and self.ops[rank][dependency].kind == "send"
            return (rank, dependency) in (self.started if early else self.completed)

        return at not in self.started and all(map(is_met, op.after))

    def may_transfer(self, send: tuple[int, int]) -> bool:
        receive = self.partner[send]
        waits = receive not in self.taken and receive not in self.completed
        return send in self.started and receive in self.started and waits

    def may_combine(self, at: tuple[int, int]) -> bool:
        after = self.ops[at[0]][at[1]].after
        return at in self.taken and all((at[0], dependency) in self.completed for dependency in after)

    def transfer(self, send: tuple[int, int]) -> None:
        receive = self.partner[send]
        source, target = self.ops[send[0]][send[1]], self.ops[receive[0]][receive[1]]
        message = [self.places[send[0]][chunk].copy() for chunk in chunks_of(source)]
        self.completed.add(send)
        if target.kind == "recv":
            for chunk, value in zip(chunks_of(target), message, strict=True):
                self.places[receive[0]][chunk] = value
            self.completed.add(receive)
        else:
            self.taken[receive] = message

    def reduce(self, at: tuple[int, int]) -> None:
        op, held = self.ops[at[0]][at[1]], self.places[at[0]]
        for chunk, value in zip(chunks_of(op), self.taken.pop(at), strict=True):
            left, right = (value, held[chunk]) if op.kind == "recv_reduce_left" else (held[chunk], value)
            held[chunk] = self.combine(left, right)
        self.completed.add(at)

    def run(self, hold_back: Iterable[int] = ()) -> None:
        """Runs to the end, or as far as it comes without the ranks in `hold_back`."""
        held = set(hold_back)
        every = [(rank, index) for rank, ops in enumerate(self.ops) if rank not in held for index in range(len(ops))]
        sends = [at for at in every if self.ops[at[0]][at[1]].kind == "send"]
        while True:
            steps: list[tuple[Callable[[tuple[int, int]], object], tuple[int, int]]] = []
            steps += [(self.started.add, at) for at in every if self.may_start(at)]
            steps += [(self.transfer, at) for at in sends if self.may_transfer(at)]
            steps += [(self.reduce, at) for at in every if self.may_combine(at)]
            if not steps:
                break
            step, at = self.chance.choice(steps)
            step(at)
        if not held and len(self.completed) < len(every):
            raise Deadlock(f"{len(every) - len(self.completed)} ops never complete")

    def has_left(self, rank: int) -> bool:
        return all((rank, index) in self.completed for index in range(len(self.ops[rank])))


def chunks_of(op) -> list[int]:
    return [chunk for first, count in op.chunks for chunk in range(first, first + count)]


def matrices(schedule, chance: random.Random) -> np.ndarray:
    """[rank][chunk] a random 2x2 matrix modulo a prime: their product does not commute."""
    generator = np.random.default_rng(chance.getrandbits(32))
    return generator.integers(0, 10007, (schedule.num_ranks, schedule.num_chunks, 2, 2))


def add(left: Data, right: Data) -> Data:
    return (left + right) % 10007


def multiply(left: Data, right: Data) -> Data:
    return left @ right % 10007


def before(schedule, data: np.ndarray) -> list[dict[int, Data]]:
    """What each rank holds at the start."""
    p, c, kind = schedule.num_ranks, schedule.segments, schedule.collective
    every = range(schedule.num_chunks)
    held: list[Iterable[int]]
    if kind in ("bcast", "scatter"):
        held = [every if rank == schedule.root else [] for rank in range(p)]
    elif kind in ("allgather", "gather"):
        held = [range(rank * c, rank * c + c) for rank in range(p)]
    elif kind == "alltoall":
        held = [range(rank * p * c, (rank + 1) * p * c) for rank in range(p)]
    else:
        held = [every for _ in range(p)]
    return [{chunk: data[rank, chunk].copy() for chunk in held[rank]} for rank in range(p)]


def after(schedule, data: np.ndarray, combine: Combine) -> list[dict[int, Data]]:
    """What each rank must hold at the end, from numpy alone."""
    p, c, kind, root = schedule.num_ranks, schedule.segments, schedule.collective, schedule.root
    every = range(schedule.num_chunks)
    if kind in ("bcast", "scatter"):
        whole = data[root]
    elif kind in ("allgather", "gather"):
        whole = np.concatenate([data[rank, rank * c : rank * c + c] for rank in range(p)])
    elif kind == "alltoall":
        whole = np.concatenate([data[rank, rank * p * c : (rank + 1) * p * c] for rank in range(p)])
    elif combine is add:
        whole = data.sum(axis=0) % 10007
    else:
        whole = data[0]
        for rank in range(1, p):
            whole = whole @ data[rank] % 10007
    expected: list[Iterable[int]]
    if kind in ("bcast", "allreduce", "allgather"):
        expected = [every] * p
    elif kind in ("reduce", "gather"):
        expected = [every if rank == root else [] for rank in range(p)]
    elif kind == "alltoall":
        to = [[(source * p + rank) * c + i for source in range(p) for i in range(c)] for rank in range(p)]
        expected = [*to]
    else:
        expected = [range(rank * c, rank * c + c) for rank in range(p)]
    return [{chunk: whole[chunk] for chunk in chunks} for chunks in expected]


def is_right(schedule, chance: random.Random, combine: Combine = add) -> bool:
    """Whether one random execution ends, and ends with what numpy says."""
    if schedule.collective == "barrier":
        late = chance.randrange(schedule.num_ranks)
        executor = Executor(schedule, [{} for _ in range(schedule.num_ranks)], combine, chance)
        executor.run(hold_back=[late])
        if any(executor.has_left(rank) for rank in range(schedule.num_ranks) if rank != late):
            return False
        try:
            executor.run()
        except Deadlock:
            return False
        return True
    data = matrices(schedule, chance)
    try:
        executor = Executor(schedule, before(schedule, data), combine, chance)
        executor.run()
    except (Deadlock, KeyError, ValueError):  # never ends; data that are not there; messages of other sizes
        return False
    wanted = after(schedule, data, combine)
    return all(
        chunk in executor.places[rank] and np.array_equal(executor.places[rank][chunk], value)
        for rank in range(schedule.num_ranks)
        for chunk, value in wanted[rank].items()
    )
