# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The messages of a schedule in the order of their times on a network: for people, scripts and drawings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hocket.schedules.transfers import Transfer

if TYPE_CHECKING:
    from hocket import CostModel, Network, Op, Schedule


def transfers(
    schedule: Schedule,
    size_bytes: int,
    network: Network,
    members: Sequence[int] | None = None,
    costs: CostModel | None = None,
) -> list[Transfer]:
    """By start; ranks are those of the communicator. `costs` as in `hocket.search.find`. Messages without bytes are
    left out as in `lower`."""
    from hocket import CostModel, lower, simulate
    from hocket._core import place

    members = list(range(schedule.num_ranks) if members is None else members)
    program = place(lower(schedule, size_bytes), members, network.num_ranks)
    timeline = simulate(program, network, costs or CostModel.usual())
    ends: dict[tuple[int, int, int], float] = {}  # (source, target, tag) -> when the receiver has it
    starts: dict[tuple[int, int, int], float] = {}
    sizes: dict[tuple[int, int, int], int] = {}
    rank_of = {member: rank for rank, member in enumerate(members)}
    for rank, member in enumerate(members):
        start_s, end_s = timeline.start_s(member), timeline.end_s(member)
        for index, sized in enumerate(program.ops(member)):
            if sized.kind == "send":
                starts[rank, rank_of[sized.peer], sized.tag] = float(start_s[index])
                sizes[rank, rank_of[sized.peer], sized.tag] = sized.bytes
            elif sized.kind == "recv":
                ends[rank_of[sized.peer], rank, sized.tag] = float(end_s[index])
    kinds = {
        (op.peer, rank, tag): op.kind
        for rank in range(schedule.num_ranks)
        for op, tag in _tagged(schedule.ops(rank))
        if op.kind != "send"
    }
    found = []
    for rank in range(schedule.num_ranks):
        ops = schedule.ops(rank)
        for op, tag in _tagged(ops):
            key = (rank, op.peer, tag)
            if op.kind != "send" or key not in starts:
                continue
            after = tuple((ops[i].peer, tuple(ops[i].chunks)) for i in op.after if ops[i].kind != "send")
            combines = kinds[key] != "recv"
            chunks = tuple(op.chunks)
            found.append(Transfer(rank, op.peer, chunks, starts[key], ends[key], sizes[key], combines, after))
    return sorted(found, key=lambda transfer: (transfer.start_s, transfer.source, transfer.target, transfer.chunks))


def send_list(found: Sequence[Transfer]) -> Iterator[str]:
    """Lines "0.010100 s  send 0 -> 3 chunks 2-3 after 1 -> 0 chunk 2"; "reduce" in place of "send" where the receiver
    combines."""
    for transfer in found:
        verb = "reduce" if transfer.reduces else "send"
        line = f"{transfer.start_s:.9f} s  {verb} {transfer.source} -> {transfer.target}{_words(transfer.chunks)}"
        waits = ", ".join(f"{source} -> {transfer.source}{_words(chunks)}" for source, chunks in transfer.after)
        yield line + (f" after {waits}" if waits else "")


def _tagged(ops: Sequence[Op]) -> Iterator[tuple[Op, int]]:
    """Each op with its number among those of the same direction and peer, which `lower` makes the tag."""
    seen: Counter[tuple[bool, int]] = Counter()
    for op in ops:
        key = (op.kind == "send", op.peer)
        yield op, seen[key]
        seen[key] += 1


def _words(chunks: Sequence[tuple[int, int]]) -> str:
    if not chunks:
        return ""
    runs = ",".join(str(first) if count == 1 else f"{first}-{first + count - 1}" for first, count in chunks)
    return f" chunk{'' if len(chunks) == 1 and chunks[0][1] == 1 else 's'} {runs}"
