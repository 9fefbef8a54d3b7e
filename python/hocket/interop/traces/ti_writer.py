# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A trace as SimGrid's time-independent trace: one file a rank, and `traces.txt`, which lists them for smpireplay.

The format has MPI_COMM_WORLD alone. So a collective on other ranks, or one that it does not know, is written as the
messages of the algorithm that a replay takes for it, and every message has the ranks of the world.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hocket import Program, Schedule, Trace, _core, lower
from hocket.interop.traces.actions import Action, Message, actions

BYTE = 6  # MPI_BYTE as SimGrid numbers it
ANY = -555  # SMPI's MPI_ANY_SOURCE
LIST = "traces.txt"
Op = tuple[str, int, int, list[int]]  # kind, peer, bytes, places of those that it waits for
_VECTORS = frozenset({"gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw", "reduce_scatter"})


class TiWriter:
    def __init__(self, trace: Trace, flops_per_s: float, messages: bool = False) -> None:
        self.trace = trace
        self.messages = messages  # all collectives as messages
        self.flops_per_ns = flops_per_s * 1e-9
        self.notes: Counter[str] = Counter()
        self.first_tag = 1 + max(
            (int(trace.calls(rank)["tag"].max(initial=0)) for rank in range(trace.ranks)), default=0
        )
        self.tags: dict[tuple[int, int], int] = {}  # communicator and tag, or -1 - number of its collective
        self.begun = [Counter[int]() for _ in range(trace.ranks)]  # collectives by communicator
        self.parts: dict[tuple[Any, ...], Program] = {}
        self.start_ns = min(
            (int(calls["exit_ns"][0]) for rank in range(trace.ranks) if len(calls := trace.calls(rank))), default=0
        )
        self.world_sizes = self._sizes_on_world()

    def lines(self, rank: int) -> Iterator[str]:
        for line in self._of_rank(rank):
            yield f"{rank} {line}\n"

    def _sizes_on_world(self) -> dict[int, list[int]]:
        """What each rank gives in the n-th collective on MPI_COMM_WORLD: the format wants it of all ranks."""
        found: dict[int, list[int]] = {}
        for rank in range(self.trace.ranks):
            number = 0
            for action in actions(self.trace, rank):
                call = action.collective
                if call is None and action.begun_collective is not None:
                    call = action.begun_collective[1]
                if call is not None and call["communicator"] == 0:
                    found.setdefault(number, [0] * self.trace.ranks)[rank] = max(0, int(call["bytes"]))
                    number += 1
        return found

    def _of_rank(self, rank: int) -> Iterator[str]:
        keys: dict[int, str] = {}  # request -> what a wait for it names
        first = True
        yield "init"
        for action in actions(self.trace, rank):
            if first:
                first = False
                yield from self._compute(int(action.call["exit_ns"]) - self.start_ns)
                if action.name in ("Init", "Init_thread"):
                    continue
            else:
                yield from self._compute(action.gap_ns)
            if action.name == "Finalize":
                break
            yield from self._action(rank, action, keys)
        yield "finalize"

    def _compute(self, ns: int) -> Iterator[str]:
        if ns > 0:
            yield f"compute {round(ns * self.flops_per_ns)}"

    def _action(self, rank: int, action: Action, keys: dict[int, str]) -> Iterator[str]:
        if action.name.startswith("File_"):
            yield from self._compute(int(action.call["exit_ns"] - action.call["enter_ns"]))
        elif action.collective is not None:
            yield from self._collective(rank, action.collective)
        elif action.begun_collective is not None:
            self.notes["non-blocking collectives, written as blocking where they begin"] += 1
            yield from self._collective(rank, action.begun_collective[1])
        elif len(action.blocking) == 1:
            message = action.blocking[0]
            if (text := self._message(rank, message)) is not None:
                yield ("send " if message.sends else "recv ") + text
        elif action.blocking:
            waits = []
            for message in action.blocking:
                if (text := self._message(rank, message)) is not None:
                    yield ("isend " if message.sends else "irecv ") + text
                    waits.append(self._wait(rank, message))
            yield from waits
        for request, message in action.begun:
            if (text := self._message(rank, message)) is not None:
                yield ("isend " if message.sends else "irecv ") + text
                keys[request] = self._wait(rank, message)
        for request, _ in action.completed:
            if request in keys:
                yield keys.pop(request)
        if (
            action.name.startswith(("Put", "Get", "Rput", "Rget", "Accumulate", "Raccumulate"))
            and action.call["window"] >= 0
        ):
            self.notes[f"calls of MPI_{action.name}"] += 1

    def _world(self, rank: int, communicator: int, peer: int) -> int | None:
        """The world rank of a peer; None: there is none."""
        if peer == -2:
            return ANY
        if communicator < 0 or peer < 0:
            return None
        one = self.trace.communicators[communicator]
        group = one.remote if one.inter and rank in one.members else one.members
        return group[peer] if peer < len(group) and group[peer] >= 0 else None

    def _tag(self, communicator: int, tag: int) -> int:
        if communicator == 0 and tag >= 0:
            return tag
        return self.tags.setdefault((communicator, tag), self.first_tag + len(self.tags))

    def _message(self, rank: int, message: Message) -> str | None:
        peer = self._world(rank, message.communicator, message.peer)
        if peer is None:
            return None
        return f"{peer} {self._tag(message.communicator, message.tag)} {message.bytes} {BYTE}"

    def _wait(self, rank: int, message: Message) -> str:
        peer = self._world(rank, message.communicator, message.peer)
        tag = self._tag(message.communicator, message.tag)
        return f"wait {rank} {peer} {tag}" if message.sends else f"wait {peer} {rank} {tag}"

    def _collective(self, rank: int, call: Any) -> Iterator[str]:
        name = _core.collective_of(self.trace.functions[call["function"]])
        communicator = int(call["communicator"])
        number = self.begun[rank][communicator]
        self.begun[rank][communicator] += 1
        if communicator < 0 or name.startswith("neighbor") or self.trace.communicators[communicator].inter:
            self.notes[f"calls of {self.trace.functions[call['function']]}"] += 1
            return
        size = max(0, int(call["bytes"]))
        if communicator == 0 and not self.messages:
            yield self._on_world(rank, name, call, size, number)
            return
        members = self.trace.communicators[communicator].members
        if rank not in members or -1 in members:
            self.notes[f"calls of {self.trace.functions[call['function']]}"] += 1
            return
        which = "" if self.messages else " on other communicators than MPI_COMM_WORLD"
        self.notes[f"collectives{which}, written as messages"] += 1
        yield from self._messages(rank, name, call, size, (communicator, number), members)

    def _on_world(self, rank: int, name: str, call: Any, size: int, number: int) -> str:
        root, type_, both = max(0, int(call["root"])), BYTE, f"{BYTE} {BYTE}"
        sent, received = self.trace.blocks(rank, call)
        ranks = self.trace.ranks
        all_sizes = " ".join(map(str, self.world_sizes[number]))
        if name == "barrier":
            return "barrier"
        if name == "bcast":
            return f"bcast {size} {root} {type_}"
        if name == "reduce":
            return f"reduce {size} 0 {root} {type_}"
        if name in ("allreduce", "scan", "exscan"):
            return f"{name} {size} 0 {type_}"
        if name in ("alltoall", "allgather"):
            return f"{name} {size} {size} {both}"
        if name in ("gather", "scatter"):
            return f"{name} {size} {size} {root} {both}"
        if name == "gatherv":
            return f"gatherv {size} {all_sizes} {root} {both}"
        if name == "scatterv":
            return f"scatterv {all_sizes} {size} {root} {both}"
        if name == "allgatherv":
            return f"allgatherv {size} {all_sizes} {both}"
        if name == "reduce_scatter_block":
            return f"reducescatter {' '.join([str(size)] * ranks)} 0 {type_}"
        if name == "reduce_scatter":
            blocks = received if len(received) == ranks else [size] * ranks
            return f"reducescatter {' '.join(map(str, blocks))} 0 {type_}"
        rows = [list(part) if len(part) == ranks else [0] * ranks for part in (sent, received)]
        texts = [f"{sum(row)} {' '.join(map(str, row))}" for row in rows]
        return f"alltoallv {texts[0]} {texts[1]} {both}"

    def _messages(
        self, rank: int, name: str, call: Any, size: int, which: tuple[int, int], members: tuple[int, ...]
    ) -> Iterator[str]:
        communicator, number = which
        tag = self._tag(communicator, -2 - number)
        own = members.index(rank)
        ops = self._ops(rank, name, call, size, members, own)
        waits: dict[int, str] = {}
        for place, (kind, peer, num_bytes, after) in enumerate(ops):
            for on in after:
                if on in waits:
                    yield waits.pop(on)
            if kind not in ("send", "recv"):
                continue
            world = members[peer]
            yield f"i{kind} {world} {tag} {num_bytes} {BYTE}"
            waits[place] = f"wait {rank} {world} {tag}" if kind == "send" else f"wait {world} {rank} {tag}"
        yield from waits.values()

    def _ops(self, rank: int, name: str, call: Any, size: int, members: tuple[int, ...], own: int) -> list[Op]:
        """Kind, peer, bytes and what it waits for, of the rank's part in a collective."""
        ranks = len(members)
        if ranks == 1:
            return []
        root = max(0, int(call["root"]))
        sent, received = self.trace.blocks(rank, call)
        if name in ("scan", "exscan"):
            before: list[Op] = [("recv", own - 1, size, [])] if own > 0 else []
            behind: list[Op] = [("send", own + 1, size, [0] if own > 0 else [])] if own + 1 < ranks else []
            return [*before, *behind]
        if name == "reduce_scatter":
            return _pairwise(own, ranks, received if len(received) == ranks else [size] * ranks)
        if name in _VECTORS:
            return _direct(name, own, ranks, root, size, sent, received)
        key = (name, size, root, ranks)
        if key not in self.parts:
            algorithm = _core.textbook_algorithm(name, ranks, size)
            self.parts[key] = lower(Schedule.build(name, algorithm, ranks, root=root), size)
        return [(op.kind, op.peer, op.bytes, op.after) for op in self.parts[key].ops(own)]


def _pairwise(own: int, ranks: int, sizes: Any) -> list[Op]:
    """Each block to its owner, who combines it before the next."""
    ops: list[Op] = []
    for step in range(1, ranks):
        before = [len(ops) - 2, len(ops) - 1] if ops else []
        to, of = (own + step) % ranks, (own - step) % ranks
        ops += [("send", to, int(sizes[to]), before), ("recv", of, int(sizes[own]), before)]
    return ops


def _direct(name: str, own: int, ranks: int, root: int, size: int, sent: Any, received: Any) -> list[Op]:
    """Each block straight from its owner to where it belongs."""
    if name == "gatherv" and own != root:
        return [("send", root, size, [])]
    if name == "scatterv" and own != root:
        return [("recv", root, size, [])]
    after = [(own + i) % ranks for i in range(1, ranks)]
    before = [(own - i) % ranks for i in range(1, ranks)]
    sends: list[Op]
    if name == "allgatherv":
        sends = [("send", to, size, []) for to in after]
    else:
        sends = [("send", to, int(sent[to]), []) for to in after if to < len(sent)]
    return [*sends, *(("recv", of, int(received[of]), []) for of in before if of < len(received))]


def write_ti(trace: Trace, folder: Path, flops_per_s: float, messages: bool = False) -> list[str]:
    """Into a folder that is there; with `messages` all collectives as those of their algorithms. Notes on what the
    format does not hold."""
    writer = TiWriter(trace, flops_per_s, messages)
    names = [f"ti_trace{rank}.txt" for rank in range(trace.ranks)]
    for rank, name in enumerate(names):
        with (folder / name).open("w") as file:
            file.writelines(writer.lines(rank))
    (folder / LIST).write_text("".join(f"{name}\n" for name in names))
    return [f"{count} {what}" for what, count in sorted(writer.notes.items())]
