# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The collectives that the costs of messages are fitted to: of every kind of traffic, of sizes that no case has."""

from __future__ import annotations

from hocket.plan import PlanEntry

# Collective, algorithm, bytes as in a plan, segments.
_TRAINING = (
    ("bcast", "binomial", 24, 1),
    ("bcast", "binomial", 3_000, 1),
    ("bcast", "linear", 40, 1),
    ("bcast", "pipelined_chain", 150_000, 20),
    ("bcast", "scatter_allgather", 20_000, 1),
    ("reduce", "binomial", 48, 1),
    ("reduce", "binomial", 3_000, 1),
    ("reduce", "linear", 40, 1),
    ("reduce", "pipelined_chain", 180_000, 24),
    ("allreduce", "recursive_doubling", 24, 1),
    ("allreduce", "recursive_doubling", 2_400, 1),
    ("allreduce", "ring", 400_000, 2),
    ("allgather", "recursive_doubling", 24, 1),
    ("allgather", "recursive_doubling", 600, 1),
    ("allgather", "ring", 1_500, 1),
    ("allgather", "ring", 24_000, 1),
    ("alltoall", "bruck", 6, 1),
    ("alltoall", "bruck", 300, 1),
    ("alltoall", "linear", 48, 1),
    ("alltoall", "linear", 1_500, 1),
    ("alltoall", "pairwise", 20_000, 1),
)


_MOST_SEGMENTS = 64


def training_entries(ranks: int, rendezvous_bytes: int) -> tuple[PlanEntry, ...]:
    """Without those algorithms that do not serve this number of ranks.

    In segments below `rendezvous_bytes`, as schedules are used: what a message that waits for its receiver costs beyond
    its request and answer the simulator does not know; it is up to a millisecond with MPICH 4.0.
    """
    from hocket.errors import InvalidInput

    members = tuple(range(ranks))
    found = []
    for collective, algorithm, size, segments in _TRAINING:
        try:
            entry = PlanEntry(collective, members, size, size, algorithm, segments)
            while _largest_message(entry) >= rendezvous_bytes and entry.segments < _MOST_SEGMENTS:
                entry = entry.replace(segments=entry.segments + 1)
            if _largest_message(entry) < rendezvous_bytes:  # not every algorithm cuts
                found.append(entry)
        except InvalidInput:
            continue
    return tuple(found)


def _largest_message(entry: PlanEntry) -> int:
    from hocket import lower

    program = lower(entry.schedule(0), entry.bytes_max)
    return max((op.bytes for rank in range(program.num_ranks) for op in program.ops(rank)), default=0)
