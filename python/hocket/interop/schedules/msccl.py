# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""MSCCL XML: what the Microsoft Collective Communication Library, and RCCL with it, runs on GPUs [Cowan23].

A GPU has thread blocks. Each block sends to one peer or receives from one, and does its steps one after another; a
step waits for one step of another block (depid, deps), and further waits are steps of their own that do nothing (nop).
Data lie in chunks of the input (i), output (o) and scratch (s) buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket import Op, Schedule

COLLECTIVES = {
    "bcast": "broadcast",
    "reduce": "reduce",
    "allreduce": "allreduce",
    "allgather": "allgather",
    "reduce_scatter_block": "reduce_scatter",
    "alltoall": "alltoall",
}
# Limits of the runtime (its msccl.h).
MAX_STEPS = 256  # of a thread block
MAX_COUNT = 72  # chunks of a step
MAX_CHANNELS = 32
MAX_BLOCKS_OF_CHANNEL = 32
_PEERS_OF_CHANNEL = MAX_BLOCKS_OF_CHANNEL // 2  # one block to send, one to receive


@dataclass
class _Step:
    kind: str  # s, r, rrc, cpy, nop
    source: tuple[str, int] = ("i", -1)
    target: tuple[str, int] = ("o", -1)
    count: int = 0
    waits: tuple[int, int] = (-1, -1)  # thread block, step
    awaited: bool = False


@dataclass
class _Block:
    send: int
    receive: int
    channel: int
    steps: list[_Step] = field(default_factory=list)


def to_msccl_xml(schedule: Schedule, name: str | None = None, max_bytes: int | None = None, min_bytes: int = 0) -> str:
    """The algo element for messages of `min_bytes` to `max_bytes` (of a whole buffer; None = the runtime's own limit).

    All but alltoall work in place: a rank that combines or passes on keeps what it has got in its buffer.
    """
    if schedule.collective not in COLLECTIVES:
        raise InvalidInput(
            f"MSCCL has no {schedule.collective}", hint=f"expected one of: {', '.join(COLLECTIVES)}; GOAL has them all"
        )
    channels = -(-(schedule.num_ranks - 1) // _PEERS_OF_CHANNEL) or 1
    if channels > MAX_CHANNELS:
        most = MAX_CHANNELS * _PEERS_OF_CHANNEL + 1
        raise InvalidInput(f"{schedule.num_ranks} ranks are too many for MSCCL: at most {most}")
    in_place = schedule.collective != "alltoall"
    inputs, outputs, per_loop = _sizes(schedule)
    attributes = {
        "name": name or f"hocket_{schedule.collective}_{schedule.algorithm}",
        "proto": "Simple",
        "nchannels": channels,
        "nchunksperloop": per_loop,
        "ngpus": schedule.num_ranks,
        "coll": COLLECTIVES[schedule.collective],
        "inplace": int(in_place),
        "minBytes": min_bytes,
    }
    if max_bytes is not None:
        attributes["maxBytes"] = max_bytes
    lines = [f"<algo{_text(attributes)}>"]
    places = _Places(schedule)
    gpus = [_gpu(schedule, rank, places) for rank in range(schedule.num_ranks)]
    for rank, blocks in enumerate(gpus):
        sizes = {"id": rank, "i_chunks": inputs, "o_chunks": outputs, "s_chunks": places.scratch_chunks(rank)}
        lines.append(f"  <gpu{_text(sizes)}>")
        for index, block in enumerate(blocks):
            lines += _block_lines(rank, index, block)
        lines.append("  </gpu>")
    return "\n".join([*lines, "</algo>", ""])


def _sizes(schedule: Schedule) -> tuple[int, int, int]:
    """Chunks of the input, the output, and the larger of the two."""
    segments, blocks = schedule.segments, schedule.num_ranks * schedule.segments
    if schedule.collective in ("bcast", "reduce", "allreduce"):
        return segments, segments, segments
    if schedule.collective == "allgather":
        return segments, blocks, blocks
    if schedule.collective == "reduce_scatter_block":
        return blocks, segments, blocks
    return blocks, blocks, blocks


class _Places:
    """Where each rank keeps each chunk."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._buffer = "o" if schedule.collective == "allgather" else "i"
        self._scratch: dict[tuple[int, int], int] = {}  # (rank, block that only passes through it) -> place
        self._used = [0] * schedule.num_ranks

    def place(self, rank: int, chunk: int) -> tuple[str, int]:
        if self._schedule.collective != "alltoall":
            return self._buffer, chunk
        ranks, segments = self._schedule.num_ranks, self._schedule.segments
        block, segment = divmod(chunk, segments)
        source, target = divmod(block, ranks)
        if source == rank:
            return "i", target * segments + segment
        if target == rank:
            return "o", source * segments + segment
        if (rank, block) not in self._scratch:
            self._scratch[rank, block] = self._used[rank]
            self._used[rank] += 1
        return "s", self._scratch[rank, block] * segments + segment

    def scratch_chunks(self, rank: int) -> int:
        return self._used[rank] * self._schedule.segments


def _parts(schedule: Schedule, op: Op) -> Iterator[tuple[int, int]]:
    """The chunks of a message in runs that lie together at both ends."""
    most = min(MAX_COUNT, schedule.segments) if schedule.collective == "alltoall" else MAX_COUNT
    for first, count in op.chunks:
        end = first + count
        while first < end:
            run = min(most, end - first)
            if schedule.collective == "alltoall":  # not across blocks
                run = min(run, schedule.segments - first % schedule.segments)
            yield first, run
            first += run


def _gpu(schedule: Schedule, rank: int, places: _Places) -> list[_Block]:
    blocks: dict[tuple[bool, int], _Block] = {}
    number: dict[tuple[bool, int], int] = {}
    last_step: list[tuple[int, int] | None] = []  # [op] where its last step is; None if it has none
    for op in schedule.ops(rank):
        if not op.chunks:  # it only keeps an order between ranks, for which MSCCL has no step
            last_step.append(None)
            continue
        sends = op.kind == "send"
        key = (sends, op.peer)
        if key not in blocks:
            distance = (op.peer - rank if sends else rank - op.peer) % schedule.num_ranks
            channel = (distance - 1) // _PEERS_OF_CHANNEL  # the same at both ends
            number[key] = len(blocks)
            blocks[key] = _Block(op.peer if sends else -1, -1 if sends else op.peer, channel)
        block, self_number = blocks[key], number[key]
        waits = _waits(last_step, op.after, self_number)
        for wait in waits[1:]:
            block.steps.append(_Step("nop", waits=wait))
        first = True
        for chunk, count in _parts(schedule, op):
            own, theirs = places.place(rank, chunk), places.place(op.peer, chunk)
            kind = "s" if sends else "r" if op.kind == "recv" else "rrc"
            source, target = (own, theirs) if sends else (theirs, own) if kind == "r" else (own, own)
            block.steps.append(_Step(kind, source, target, count, waits[0] if first and waits else (-1, -1)))
            first = False
        last_step.append((self_number, len(block.steps) - 1) if block.steps else None)
    found = list(blocks.values())
    if schedule.collective == "alltoall":
        segments = schedule.segments
        copy = _Step("cpy", ("i", rank * segments), ("o", rank * segments), segments)
        found.append(_Block(-1, -1, 0, [copy]))
    for block in found:
        for step in block.steps:
            if step.waits[0] >= 0:
                found[step.waits[0]].steps[step.waits[1]].awaited = True
        if len(block.steps) > MAX_STEPS:
            raise InvalidInput(
                f"rank {rank} has {len(block.steps)} steps with rank {max(block.send, block.receive)}: "
                f"MSCCL has at most {MAX_STEPS} in a thread block",
                hint="use fewer segments",
            )
    return found


def _waits(last_step: list[tuple[int, int] | None], after: list[int], self_number: int) -> list[tuple[int, int]]:
    """One step of each other thread block, the last; what the own block did before is done."""
    latest: dict[int, int] = {}
    for op in after:
        where = last_step[op]
        if where is not None and where[0] != self_number:
            latest[where[0]] = max(latest.get(where[0], -1), where[1])
    return sorted(latest.items())


def _block_lines(rank: int, index: int, block: _Block) -> Iterator[str]:
    attributes = {"id": index, "send": block.send, "recv": block.receive, "chan": block.channel}
    yield f"    <tb{_text(attributes)}>"
    for number, step in enumerate(block.steps):
        shown = {
            "s": number,
            "type": step.kind,
            "srcbuf": step.source[0],
            "srcoff": step.source[1],
            "dstbuf": step.target[0],
            "dstoff": step.target[1],
            "cnt": step.count,
            "depid": step.waits[0],
            "deps": step.waits[1],
            "hasdep": int(step.awaited),
        }
        yield f"      <step{_text(shown)}/>"
    yield "    </tb>"


def _text(attributes: dict[str, object] | dict[str, int]) -> str:
    return "".join(f" {key}={quoteattr(str(value))}" for key, value in attributes.items())
