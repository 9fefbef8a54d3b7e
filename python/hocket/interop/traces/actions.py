# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What one rank of a trace does, call by call, as an exporter needs it: with the operations behind requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hocket import Trace, _core

PERSISTENT, COMPLETED = 4, 2  # flags of a call
SENDS = frozenset({"Send", "Ssend", "Rsend", "Bsend"})
ISENDS = frozenset({"Isend", "Issend", "Irsend", "Ibsend", "Send_init", "Ssend_init", "Rsend_init", "Bsend_init"})
RECEIVES = frozenset({"Recv", "Mrecv"})
IRECEIVES = frozenset({"Irecv", "Imrecv", "Recv_init"})
SENDRECEIVES = frozenset({"Sendrecv", "Sendrecv_replace"})


@dataclass(frozen=True)
class Message:
    """One half of a message, with the other end as it turned out."""

    sends: bool
    communicator: int
    peer: int  # rank in the communicator; -1: none, -2: any and never known
    tag: int
    bytes: int


@dataclass(frozen=True)
class Action:
    """A call, and what it has to do with messages and collectives."""

    call: Any  # a row of Trace.calls
    name: str  # without MPI_ and _c
    gap_ns: int  # what the rank did elsewhere before the call, polls in between included
    blocking: tuple[Message, ...] = ()  # done within the call
    begun: tuple[tuple[int, Message], ...] = ()  # request and message
    begun_collective: tuple[int, Any] | None = None  # request and the row that describes the collective
    collective: Any = None  # the row of a blocking collective
    completed: tuple[tuple[int, Message | None], ...] = ()  # requests; None: of a collective, or of no message


def actions(trace: Trace, rank: int) -> Iterator[Action]:
    """Calls of the main thread that succeeded, in order."""
    return _RankActions(trace, rank).run()


class _RankActions:
    def __init__(self, trace: Trace, rank: int) -> None:
        self.trace = trace
        self.completions = trace.completions(rank).tolist()
        self.calls = trace.calls(rank)
        self.names = [_plain(name) for name in trace.functions]
        self.collectives = [bool(_core.collective_of(name)) for name in trace.functions]
        self.arrived: dict[int, tuple[int, int, int]] = {}
        for request, source, tag, size in self.completions:
            self.arrived.setdefault(request, (source, tag, size))
        self.prepared: dict[int, Any] = {}  # persistent requests
        self.running: dict[int, Message | None] = {}

    def run(self) -> Iterator[Action]:
        last = None
        for call in self.calls:
            if call["thread"] > 0:
                continue
            gap = 0 if last is None else int(call["enter_ns"]) - last
            gap += int(call["outside_ns"])
            last = int(call["exit_ns"])
            yield self._action(call, self.names[call["function"]], max(0, gap))

    def _action(self, call: Any, name: str, gap: int) -> Action:
        if call["error"] > 0:
            return Action(call, "failed", gap)
        if name in SENDS:
            return Action(call, name, gap, blocking=(_sent(call),))
        if name in RECEIVES:
            return Action(call, name, gap, blocking=(_received(call),))
        if name in SENDRECEIVES:
            half = Message(
                False,
                int(call["communicator"]),
                int(call["receive_peer"]),
                int(call["receive_tag"]),
                max(0, int(call["receive_bytes"])),
            )
            return Action(call, name, gap, blocking=(half, _sent(call)))
        if self.collectives[call["function"]]:
            return self._collective(call, name, gap)
        if name in ISENDS or name in IRECEIVES:
            if call["flags"] & PERSISTENT:
                self.prepared[int(call["request"])] = call
                return Action(call, name, gap)
            return Action(call, name, gap, begun=(self._begin(int(call["request"]), call),))
        requests = [int(one[0]) for one in self._own_completions(call)]
        if name in ("Start", "Startall"):
            if name == "Start" and call["completions"] < 0:
                requests = [int(call["request"])]
            return self._start(call, name, gap, requests)
        if name.startswith(("Wait", "Test")):
            done = tuple((one, self.running.pop(one)) for one in requests if one in self.running)
            return Action(call, name, gap, completed=done)
        return Action(call, name, gap)

    def _own_completions(self, call: Any) -> list[tuple[int, int, int, int]]:
        if call["completions"] < 0:
            return []
        first = int(call["completions"])
        return self.completions[first : first + int(call["num_completions"])]  # type: ignore[no-any-return]

    def _begin(self, request: int, call: Any) -> tuple[int, Message]:
        name = self.names[call["function"]]
        message = _sent(call) if name in ISENDS else self._asked(request, call)
        self.running[request] = message
        return request, message

    def _asked(self, request: int, call: Any) -> Message:
        message = _received(call)
        source, tag, size = self.arrived.get(request, (-1, -1, -1))
        return Message(False, message.communicator, source, tag, size) if source >= 0 else message

    def _start(self, call: Any, name: str, gap: int, requests: list[int]) -> Action:
        begun, collective = [], None
        for request in requests:
            prepared = self.prepared.get(request)
            if prepared is None:
                continue
            if self.collectives[prepared["function"]]:
                collective = (request, prepared)
                self.running[request] = None
            else:
                begun.append(self._begin(request, prepared))
        return Action(call, name, gap, begun=tuple(begun), begun_collective=collective)

    def _collective(self, call: Any, name: str, gap: int) -> Action:
        request = int(call["request"])
        if call["flags"] & PERSISTENT:
            self.prepared[request] = call
            return Action(call, name, gap)
        if request == 0:
            return Action(call, name, gap, collective=call)
        self.running[request] = None
        return Action(call, name, gap, begun_collective=(request, call))


def _plain(function: str) -> str:
    return function.removeprefix("MPI_").removesuffix("_c")


def _sent(call: Any) -> Message:
    return Message(True, int(call["communicator"]), int(call["peer"]), int(call["tag"]), max(0, int(call["bytes"])))


def _received(call: Any) -> Message:
    return Message(False, int(call["communicator"]), int(call["peer"]), int(call["tag"]), max(0, int(call["bytes"])))
