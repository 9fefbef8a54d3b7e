# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The messages of a schedule on a network, with the times at which they start and end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hocket import Network, Program, Schedule


@dataclass(frozen=True)
class TimedTransfer:
    """One message: from its first byte sent to its last byte received, in seconds from the start."""

    source: int
    target: int
    start_s: float
    end_s: float
    chunk: int = 0  # the first of those that it carries


def simulated_transfers(schedule: Schedule, program: Program, network: Network) -> list[TimedTransfer]:
    """Of `program`, which `lower` made of `schedule`, simulated with max-min sharing; by their starts.

    Messages without bytes, which only keep an order, are left out.
    """
    from hocket import simulate

    timeline = simulate(program, network)
    chunks = dict(_first_chunks(schedule))
    arrivals = {
        (op.peer, rank, op.tag): end
        for rank in range(program.num_ranks)
        for op, end in zip(program.ops(rank), timeline.end_s(rank), strict=True)
        if op.kind == "recv"
    }
    found = [
        TimedTransfer(
            rank, op.peer, float(start), float(arrivals[rank, op.peer, op.tag]), chunks[rank, op.peer, op.tag]
        )
        for rank in range(program.num_ranks)
        for op, start in zip(program.ops(rank), timeline.start_s(rank), strict=True)
        if op.kind == "send" and op.bytes > 0
    ]
    return sorted(found, key=lambda t: (t.start_s, t.source, t.target))


def _first_chunks(schedule: Schedule) -> Iterator[tuple[tuple[int, int, int], int]]:
    """((source, target, tag), first chunk): the k-th message of a pair has tag k."""
    for rank in range(schedule.num_ranks):
        tags: dict[int, int] = {}
        for op in schedule.ops(rank):
            if op.kind == "send":
                tag = tags[op.peer] = tags.get(op.peer, -1) + 1
                yield (rank, op.peer, tag), op.chunks[0][0] if op.chunks else 0
