# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The controller of an emulated circuit switch: a process that programs ask for circuits, on a Unix socket.

Packets are words. A program's processes send
    join NODE
    begin [PLAN]               the switch closes when all nodes have sent it; the plan comes from node 0
    want NUMBER...             circuits
    release NUMBER...          a circuit is torn down when both of its ends have released it
    end                        this node needs nothing more
and get
    go SECONDS                 the time, by CLOCK_MONOTONIC
    open NUMBER...             circuits that are up
    over SECONDS TIMES...      from go to the last teardown; set-up, open, teardown and down of each circuit
    error TEXT                 nothing more comes of this run; the controller informs the user
Between two runs, and after an error, the switch connects all hosts: MPI starts, meets and ends then.
"""

from __future__ import annotations

import math
import os
import selectors
import socket
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

from hocket.errors import Error
from hocket.testbed.circuit_filter import CircuitFilter
from hocket.testbed.circuit_switch import CircuitSwitch, SwitchPlan, plan_from_words
from hocket.testbed.layout import Host

_MOST_BYTES = 1 << 20  # of a packet


def listen(path: str) -> socket.socket:
    with suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen(256)
    return listener


def connect_all(frames: CircuitFilter, hosts: Sequence[Host]) -> None:
    frames.allow(_pairs(hosts, ((a, b) for a in range(len(hosts)) for b in range(a))))


def serve(listener: socket.socket, frames: CircuitFilter, hosts: Sequence[Host]) -> None:
    """Never returns. `hosts`: by node, as schedules number them. What fails a run goes to standard error."""
    # The controller of a real switch does not wait for the processes of a program to give their cores away.
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    controller = _Controller(listener, frames, hosts)
    while True:
        controller.step()


def _pairs(hosts: Sequence[Host], nodes: Iterable[tuple[int, int]]) -> list[tuple[bytes, bytes]]:
    addresses = [bytes.fromhex(host.hardware_address.replace(":", "")) for host in hosts]
    return [pair for a, b in nodes for pair in ((addresses[a], addresses[b]), (addresses[b], addresses[a]))]


class _Controller:
    def __init__(self, listener: socket.socket, frames: CircuitFilter, hosts: Sequence[Host]) -> None:
        self._frames = frames
        self._hosts = hosts
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)
        self._listener = listener
        self._nodes: dict[socket.socket, int] = {}
        self._reset()

    def _reset(self) -> None:
        self._ready: set[int] = set()
        self._plan: SwitchPlan | None = None
        self._switch: CircuitSwitch | None = None
        self._asked: list[tuple[int, list[int]]] = []  # before all were ready
        self._ended: set[int] = set()
        self._begin_s = 0.0

    def step(self) -> None:
        timeout_s = self._due_s() - time.monotonic()
        for key, _ in self._selector.select(None if timeout_s == math.inf else max(timeout_s, 0)):
            if key.fileobj is self._listener:
                self._selector.register(self._listener.accept()[0], selectors.EVENT_READ)
            elif isinstance(key.fileobj, socket.socket):
                self._receive(key.fileobj)
        now_s = time.monotonic()
        if self._switch is not None and self._due_s() <= now_s:
            self._advance(self._switch, now_s)

    def _due_s(self) -> float:
        if self._switch is None:
            return math.inf
        next_s = self._switch.next_s()
        return self._switch.end_s() if len(self._ended) == len(self._hosts) else next_s

    def _advance(self, switch: CircuitSwitch, now_s: float) -> None:
        if opened := switch.opened(now_s):
            self._frames.allow(_pairs(self._hosts, switch.connected()))
            for connection, node in self._nodes.items():
                own = [str(i) for i in opened if node in switch.circuits[i].nodes]
                if own:
                    self._send(connection, "open", *own)
        elif switch.end_s() <= now_s and len(self._ended) == len(self._hosts):
            begin_s = self._begin_s
            times = [
                f"{time_s - begin_s:.6f}"
                for one in switch.circuits
                for time_s in (one.setup_s, one.open_s, one.teardown_s, one.down_s)
            ]
            took_s = max(switch.end_s() - begin_s, 0.0)
            self._reset()
            connect_all(self._frames, self._hosts)
            for connection in list(self._nodes):
                self._send(connection, "over", f"{took_s:.6f}", *times)

    def _receive(self, connection: socket.socket) -> None:
        try:
            packet = connection.recv(_MOST_BYTES)
        except ConnectionError:
            packet = b""
        if not packet:
            self._left(connection)
            return
        try:
            self._do(connection, packet.decode(errors="replace").split())
        except (Error, ValueError) as error:
            hint = f" ({error.hint})" if isinstance(error, Error) and error.hint else ""
            self._fail(f"{error}{hint}")

    def _do(self, connection: socket.socket, words: list[str]) -> None:
        word, rest = words[0] if words else "", words[1:]
        if word == "join":
            node = int(rest[0]) if rest else -1
            if not 0 <= node < len(self._hosts) or node in self._nodes.values():
                raise Error(f"node {node} cannot join a switch of {len(self._hosts)} hosts")
            self._nodes[connection] = node
            return
        node = self._nodes.get(connection, -1)
        if node < 0:
            raise Error("a process that has not joined asks for circuits")
        if word == "begin":
            if self._switch is not None or node in self._ready:
                raise Error(f"node {node} begins a run before the end of another")
            if node == 0:
                self._plan = plan_from_words(rest)
            self._ready.add(node)
            if len(self._ready) == len(self._hosts) and self._plan is not None:
                self._begin(self._plan)
        elif word == "want" and self._switch is None and node in self._ready:
            self._asked.append((node, list(map(int, rest))))
        elif word in ("want", "release") and self._switch is not None:
            act = self._switch.want if word == "want" else self._switch.release
            before = self._switch.connected()
            now_s = time.monotonic()
            for number in rest:
                act(node, int(number), now_s)
            if (connected := self._switch.connected()) != before:
                self._frames.allow(_pairs(self._hosts, connected))
        elif word == "end" and self._switch is not None:
            self._ended.add(node)
            if len(self._ended) == len(self._hosts) and self._switch.end_s() == math.inf:
                raise Error("the run has ended before all of its circuits were released")
        else:
            raise Error(f"node {node} says {word!r}, which does not fit here")

    def _begin(self, plan: SwitchPlan) -> None:
        switch = CircuitSwitch(plan, len(self._hosts))
        self._frames.allow([])
        self._switch, self._begin_s = switch, time.monotonic()
        for connection in self._nodes:
            self._send(connection, "go", f"{self._begin_s:.6f}")
        for node, numbers in self._asked:
            for number in numbers:
                switch.want(node, number, self._begin_s)

    def _left(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        connection.close()
        node = self._nodes.pop(connection, None)
        if node is not None and (self._ready or self._switch is not None):
            self._fail(f"rank {node} has ended within a run")

    def _fail(self, text: str) -> None:
        self._reset()
        connect_all(self._frames, self._hosts)
        for connection in list(self._nodes):
            self._send(connection, "error", text)
        # Launchers may end the processes before one of them has said it.
        with suppress(OSError):
            os.write(2, f"error: circuit switch: {text}\n".encode())

    @staticmethod
    def _send(connection: socket.socket, *words: str) -> None:
        with suppress(OSError):  # it has gone, which its end of the socket says next
            connection.send(" ".join(words).encode(), socket.MSG_DONTWAIT)
