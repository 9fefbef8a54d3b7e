# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The collectives that the costs of messages are fitted to: of every kind of traffic, of sizes that no case has."""

from __future__ import annotations

from hocket.plan import PlanEntry

# Collective, algorithm, bytes as in a plan, pieces.
_TRAINING = (
    ("bcast", "binomial", 24, 1),
    ("bcast", "pipelined_chain", 150_000, 20),
    ("bcast", "scatter_allgather", 20_000, 1),
    ("reduce", "binomial", 48, 1),
    ("reduce", "pipelined_chain", 180_000, 24),
    ("allreduce", "recursive_doubling", 24, 1),
    ("allreduce", "recursive_doubling", 2_400, 1),
    ("allreduce", "ring", 400_000, 2),
    ("allgather", "recursive_doubling", 24, 1),
    ("allgather", "ring", 1_500, 1),
    ("allgather", "ring", 24_000, 1),
    ("alltoall", "bruck", 6, 1),
    ("alltoall", "linear", 48, 1),
    ("alltoall", "linear", 1_500, 1),
    ("alltoall", "pairwise", 20_000, 1),
)


def training_entries(ranks: int) -> tuple[PlanEntry, ...]:
    """Without those algorithms that do not serve this number of ranks."""
    from hocket.errors import InvalidInput

    members = tuple(range(ranks))
    found = []
    for collective, algorithm, size, pieces in _TRAINING:
        entry = PlanEntry(collective, members, size, size, algorithm, pieces)
        try:
            entry.schedule(0)
        except InvalidInput:
            continue
        found.append(entry)
    return tuple(found)
