# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Seeded random programs for the comparison of replays: blocking messages, with computation between them.

No two messages of `FREE` use an end of a cable at the same time, and where a message arrives its receiver waits for it.
`comparison.py` checks the first with the simulation itself. In `CONTENDED` either is otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hocket.traces.trace import Trace
from hocket.traces.traced_rank import OwnCommunicator, TracedRank, new_calls

FUNCTIONS = ("MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Sendrecv", "MPI_Finalize")
SEND, RECV, SENDRECV, FINALIZE = range(1, 5)
LARGEST = 40_000  # bytes; computations before a message take at least as many ns, so that the one before has left
NONE = -1

Random = np.random.Generator


@dataclass
class Calls:
    """The calls of one rank: computation before it in ns, function, peer and bytes sent, peer and bytes received."""

    rows: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    pending_ns: int = 0

    def add(self, function: int, to: int = NONE, sent: int = NONE, source: int = NONE, received: int = NONE) -> None:
        self.rows.append((self.pending_ns, function, to, sent, source, received))
        self.pending_ns = 0


class ProgramOfRanks:
    """A program that is written as messages in an order in which they can happen."""

    def __init__(self, num_ranks: int) -> None:
        self.ranks = [Calls() for _ in range(num_ranks)]

    def __len__(self) -> int:
        return len(self.ranks)

    def compute(self, rank: int, ns: int) -> None:
        self.ranks[rank].pending_ns += ns

    def message(self, source: int, target: int, size: int) -> None:
        self.ranks[source].add(SEND, to=target, sent=size)
        self.ranks[target].add(RECV, source=source, received=size)

    def shift(self, partners: Callable[[int], tuple[int, int]], size: int) -> None:
        """Every rank sends to the first of its partners and receives from the second."""
        for rank, calls in enumerate(self.ranks):
            to, source = partners(rank)
            calls.add(SENDRECV, to, size, source, size)

    def write(self, folder: Path) -> Trace:
        return Trace.create(folder, [self._traced(calls) for calls in self.ranks])

    def _traced(self, calls: Calls) -> TracedRank:
        calls.add(FINALIZE)
        columns = np.array([(0, 0, NONE, NONE, NONE, NONE), *calls.rows], dtype=np.int64).T
        gaps, function, to, sent, source, received = columns
        rows = new_calls(columns.shape[1])
        rows["function"] = function
        rows["enter_ns"] = rows["exit_ns"] = np.cumsum(gaps)
        moves = (function > 0) & (function < FINALIZE)
        rows["communicator"] = np.where(moves, 0, NONE)
        rows["tag"] = np.where(moves, 0, NONE)
        only_receives = function == RECV
        rows["peer"], rows["bytes"] = np.where(only_receives, source, to), np.where(only_receives, received, sent)
        both = function == SENDRECV
        rows["receive_peer"], rows["receive_bytes"] = np.where(both, source, NONE), np.where(both, received, NONE)
        rows["receive_tag"] = np.where(both, 0, NONE)
        return TracedRank(rows, FUNCTIONS, [OwnCommunicator(range(len(self)))])


def _size(random: Random) -> int:
    """From 1 byte to the largest, with as many of each order of magnitude."""
    return int(LARGEST ** random.random())


def _gap(random: Random) -> int:
    return LARGEST + int(random.integers(LARGEST))


def chain(program: ProgramOfRanks, random: Random, steps: int) -> None:
    """A token that grows and shrinks on its way, along another order of all ranks in each step."""
    at = 0
    for _ in range(steps):
        for target in random.permutation(len(program)):
            if target != at:
                program.compute(at, int(random.integers(5000)))
                program.message(at, int(target), _size(random))
                at = int(target)


def tree(program: ProgramOfRanks, random: Random, steps: int) -> None:
    """A broadcast along a random tree, then parents ask each child in turn for its data."""
    for _ in range(steps):
        # Always from rank 0, which is the last to be done with the step before.
        order = [0, *(1 + int(rank) for rank in random.permutation(len(program) - 1))]
        parent = {rank: order[int(random.integers(place))] for place, rank in enumerate(order) if place > 0}
        for child in order[1:]:
            program.compute(parent[child], _gap(random))
            program.message(parent[child], child, _size(random))

        def ask(rank: int, order: list[int] = order, parent: dict[int, int] = parent) -> None:
            program.compute(rank, LARGEST)  # until what it sent last has left
            for child in (one for one in order[1:] if parent[one] == rank):
                program.message(rank, child, 1)
                ask(child)
                program.message(child, rank, _size(random))

        ask(order[0])


def pipeline(program: ProgramOfRanks, random: Random, steps: int) -> None:
    """Segments of one size along all ranks, which pass each on at once: a smaller one would catch up."""
    size = _size(random)
    for _ in range(steps):
        program.compute(0, _gap(random))
        for rank in range(len(program) - 1):
            program.message(rank, rank + 1, size)


def _in_step(program: ProgramOfRanks, random: Random, shifts: list[Callable[[int], tuple[int, int]]]) -> None:
    for partners in shifts:
        gap, size = _gap(random), _size(random)
        for rank in range(len(program)):
            program.compute(rank, gap)
        program.shift(partners, size)


def ring(program: ProgramOfRanks, random: Random, steps: int) -> None:
    ranks = len(program)
    _in_step(program, random, [lambda rank: ((rank + 1) % ranks, (rank - 1) % ranks)] * steps)


def butterfly(program: ProgramOfRanks, random: Random, steps: int) -> None:
    """As recursive doubling does it; the number of ranks is a power of two."""
    bits = len(program).bit_length() - 1
    _in_step(program, random, [lambda rank, bit=step % bits: (rank ^ 1 << bit,) * 2 for step in range(steps)])


def stencil(program: ProgramOfRanks, random: Random, steps: int) -> None:
    """Halos on a torus of two dimensions, a direction after the other, as MPI_Sendrecv does it."""
    ranks = len(program)
    width = 2 ** (ranks.bit_length() // 2)

    def neighbours(rank: int, columns: int, rows: int) -> tuple[int, int]:
        row, column = divmod(rank, width)
        to, source = ((column + sign * columns) % width for sign in (1, -1))
        return (row + rows) * width % ranks + to, (row - rows) * width % ranks + source

    directions = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    _in_step(program, random, [
        lambda rank, way=directions[step % 4]: neighbours(rank, *way) for step in range(steps)
    ])  # fmt: skip


def fan_out(program: ProgramOfRanks, random: Random, steps: int) -> None:
    """A rank sends to all others without a pause: its messages share its cable."""
    for _ in range(steps):
        size = _size(random)
        for target in range(1, len(program)):
            program.message(0, target, size)
        program.message(len(program) - 1, 0, 1)


def incast(program: ProgramOfRanks, random: Random, steps: int) -> None:
    """All send to one at once."""
    for _ in range(steps):
        size = _size(random)
        for source in range(1, len(program)):
            program.message(source, 0, size)
        for target in range(1, len(program)):
            program.message(0, target, 1)


def late_receiver(program: ProgramOfRanks, random: Random, steps: int) -> None:
    """Pairs: one computes while the message of the other arrives."""
    for _ in range(steps):
        for rank in range(0, len(program) - 1, 2):
            program.compute(rank + 1, 2 * LARGEST)
            program.message(rank, rank + 1, _size(random))
            program.message(rank + 1, rank, 1)


Write = Callable[[ProgramOfRanks, Random, int], None]
FREE: dict[str, Write] = {
    "chain": chain, "tree": tree, "pipeline": pipeline, "ring": ring, "butterfly": butterfly, "stencil": stencil,
}  # fmt: skip
CONTENDED: dict[str, Write] = {"fan-out": fan_out, "incast": incast, "late receiver": late_receiver}


def make(write: Write, num_ranks: int, steps: int, seed: int, folder: Path) -> Trace:
    """The trace of such a program, in a new folder. The same seed gives the same trace."""
    program = ProgramOfRanks(num_ranks)
    write(program, np.random.default_rng(seed), steps)
    return program.write(folder)
