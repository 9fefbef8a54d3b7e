# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The schedules that advise tries for one collective: algorithm, rank order, number of pieces."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from hocket.advise.orders import candidate_orders

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hocket import Algorithm, Network, Schedule
    from hocket.search import Family

# Smaller chunks drown in the cost of a message; a pipeline of larger ones fills late, and ranks wait for each other.
# Measured: a ring of 1 MB at 200 Mbit/s takes 42.7 ms in chunks of 31 KB, 38.4 ms in those of 16 KB (Open MPI 4.1).
CHUNK_BYTES = (4096, 8192, 16384)
# A schedule of more messages than this is not simulated: it would take minutes.
MAX_MESSAGES = 2_000_000
# A plan carries a schedule that is not of a textbook algorithm whole.
MAX_CARRIED_MESSAGES = 20_000


@dataclass(frozen=True)
class Candidate:
    collective: str
    algorithm: str
    pieces: int
    order: tuple[int, ...]
    # Builds what is not of a textbook algorithm, for the one root of the calls.
    custom: Callable[[], Schedule] | None = field(default=None, compare=False)
    chunked: bool = field(default=False, compare=False)  # its messages are of a chosen size
    segment_bytes: int | None = None  # that size at most, of a textbook algorithm that pipelines

    @property
    def label(self) -> str:
        return self.algorithm + (f" in {self.pieces} pieces" if self.pieces > 1 else "")

    def at(self, size_bytes: int) -> Candidate:
        """For messages of another size: segments keep their bytes; a schedule that is carried whole stays as it is."""
        if self.segment_bytes is None:
            return self
        algorithm = _find(self.collective, self.algorithm)
        return replace(self, pieces=algorithm.pieces_of_segments(len(self.order), size_bytes, self.segment_bytes))

    def schedule(self, root: int) -> Schedule:
        from hocket import Schedule

        if self.custom is not None:
            return self.custom()
        return Schedule.build(
            self.collective, self.algorithm, len(self.order), root=root, pieces=self.pieces, order=list(self.order)
        )


def candidates(
    network: Network, collective: str, members: Sequence[int], size_bytes: int, chunk_bytes: Sequence[int] = CHUNK_BYTES
) -> Iterator[Candidate]:
    """Of the textbook algorithms, which serve any root."""
    from hocket import algorithms

    orders = candidate_orders(network, members)
    for algorithm in algorithms():
        if algorithm.collective == collective:
            for pieces, segment in _segments(algorithm, len(members), size_bytes, chunk_bytes).items():
                for order in orders:
                    yield Candidate(
                        collective, algorithm.name, pieces, order, chunked=algorithm.pipelines, segment_bytes=segment
                    )


def searched_candidates(
    collective: str, families: Sequence[Family], size_bytes: int, chunk_bytes: Sequence[int] = CHUNK_BYTES
) -> Iterator[Candidate]:
    """Of what the search has beyond the textbook, for the root that the families are for."""
    for family in families:
        whole = family.build(family.order, 1)
        messages = sum(op.kind == "send" for rank in range(whole.num_ranks) for op in whole.ops(rank))
        block = size_bytes / family.cuts
        pieces = {max(1, math.ceil(block / chunk)) for chunk in chunk_bytes} if family.pipelines else {1}
        for count in sorted(pieces):
            if messages * count <= MAX_CARRIED_MESSAGES:
                build = partial(family.build, family.order, count)
                yield Candidate(collective, family.name, count, family.order, build, chunked=family.pipelines)


def one_piece_candidates(
    network: Network, collective: str, members: Sequence[int], size_bytes: int, root: int
) -> list[Candidate]:
    """The optimal schedule of one piece, where there is one; for this root."""
    from hocket.search.best import one_piece, serves_one_piece

    if not serves_one_piece(network, collective, size_bytes, len(members)):
        return []
    best = one_piece(network, collective, size_bytes, root, members)
    order = tuple(range(len(members)))
    return [
        Candidate(collective, "optimal schedule of one piece", 1, order, partial(_same, schedule))
        for schedule in (best.schedule, best.untold_schedule)
    ]


def _same(schedule: Schedule) -> Schedule:
    return schedule


def chunks_below(rendezvous_bytes: int) -> tuple[int, ...]:
    """The chunk sizes that need not wait for their receiver, or all if all do.

    The simulation knows the request and the answer, and not that a receiver computes or sleeps. Measured with MPICH 4.0
    over TCP, whose limit is 19 KiB: a ring of 1 MB takes 160 ms in chunks of 16 KiB, and 310 ms in those of 21 KiB.
    """
    return tuple(chunk for chunk in CHUNK_BYTES if chunk < rendezvous_bytes) or CHUNK_BYTES


def without_blocked_exchanges(found: Sequence[Candidate], root: int, size_bytes: int, limit: int) -> list[Candidate]:
    """Those in which no two ranks send each other messages of `limit` bytes or more, unless all do.

    Such a message waits for its receiver's answer, which queues behind the bytes that go the opposite way: the two go
    one after another, which the simulation knows in part. Measured on a star of 200 Mbit/s: recursive doubling of
    1 MB takes 70 ms with Open MPI, where its messages are above the limit, and 38 ms where the limit is raised.
    """
    return [c for c in found if c.chunked or not _exchanges(c.schedule(root), size_bytes, limit)] or list(found)


def _exchanges(schedule: Schedule, size_bytes: int, limit: int) -> bool:
    from hocket import lower

    program = lower(schedule, size_bytes)
    for rank in range(program.num_ranks):
        large = [op for op in program.ops(rank) if op.bytes >= limit]
        sends = {op.peer for op in large if op.kind == "send"}
        if any(op.kind == "recv" and op.peer in sends for op in large):
            return True
    return False


def _segments(
    algorithm: Algorithm, num_ranks: int, size_bytes: int, chunk_bytes: Sequence[int]
) -> dict[int, int | None]:
    """Numbers of pieces worth trying, each with the bytes of a segment that give it."""
    if not algorithm.pipelines:
        return {1: None}
    found: dict[int, int | None] = {}
    for segment in sorted(chunk_bytes):  # of those that give as many pieces the largest
        found[algorithm.pieces_of_segments(num_ranks, size_bytes, segment)] = segment
    return {pieces: found[pieces] for pieces in sorted(found) if num_ranks * pieces <= MAX_MESSAGES}


@cache
def _find(collective: str, name: str) -> Algorithm:
    from hocket import algorithms

    return next(one for one in algorithms() if (one.collective, one.name) == (collective, name))
