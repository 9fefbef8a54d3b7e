# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The schedules that advise tries for one collective: algorithm, rank order, number of pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hocket.advise.orders import candidate_orders

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hocket import Network, Schedule

# Larger chunks meet the rendezvous protocol of MPIs over TCP and lose; smaller ones drown in the cost of a message.
CHUNK_BYTES = (4096, 8192, 16384, 24576, 32768, 49152)
# Algorithms whose block is a p-th of the message: a chunk is a piece of that.
_BLOCK_IS_SHARE = frozenset({"ring", "rabenseifner", "scatter_allgather"})
# A schedule of more messages than this is not simulated: it would take minutes.
MAX_MESSAGES = 2_000_000


@dataclass(frozen=True)
class Candidate:
    collective: str
    algorithm: str
    pieces: int
    order: tuple[int, ...]

    def schedule(self, root: int) -> Schedule:
        from hocket import Schedule

        return Schedule.build(
            self.collective, self.algorithm, len(self.order), root=root, pieces=self.pieces, order=list(self.order)
        )


def candidates(
    network: Network, collective: str, members: Sequence[int], size_bytes: int, chunk_bytes: Sequence[int] = CHUNK_BYTES
) -> Iterator[Candidate]:
    from hocket import algorithms

    orders = candidate_orders(network, members)
    num_ranks = len(members)
    for algorithm in algorithms():
        if algorithm.collective != collective:
            continue
        for pieces in _pieces(algorithm.pipelines, algorithm.name, collective, num_ranks, size_bytes, chunk_bytes):
            if num_ranks * pieces <= MAX_MESSAGES:
                for order in orders:
                    yield Candidate(collective, algorithm.name, pieces, order)


def _pieces(
    pipelines: bool, name: str, collective: str, num_ranks: int, size_bytes: int, chunk_bytes: Sequence[int]
) -> list[int]:
    if not pipelines:
        return [1]
    whole_message = collective in ("bcast", "reduce", "allreduce")
    block = size_bytes // num_ranks if whole_message and name in _BLOCK_IS_SHARE else size_bytes
    return sorted({1} | {max(1, -(-block // chunk)) for chunk in chunk_bytes})
