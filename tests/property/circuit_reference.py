# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The least time of a collective on circuits by trying everything: for a few nodes, slow, and obvious.

A schedule is a list of actions in the order of their begins: set up a circuit, send some blocks, tear a circuit (with
stop `all`: the configuration) down. Each begins as early as those before it allow, which loses nothing: whatever holds
an action up is before it in the list. All lists are tried, but for those that begin too late.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hocket.circuits.schedules import CircuitInstance


@dataclass
class _Circuit:
    open_s: float
    used_s: float  # the end of its last message
    free_s: dict[int, float]  # when each end may send on it again


@dataclass
class _State:
    held: dict[tuple[int, int], float]  # since when a node has a block
    ports: list[tuple[float, ...]]  # of a node: when the set-up of a circuit may begin on those that are free
    sender_s: list[float]  # when a node may send again
    controller_s: float = 0.0  # when the serial controller may act again
    begin_s: float = 0.0  # the last begin
    down_s: float = 0.0  # the last end of a teardown
    up: dict[tuple[int, int], _Circuit] = field(default_factory=dict)
    circuits: int = 0  # that were set up so far
    idle: frozenset[int] = frozenset()  # nodes that have done nothing


@dataclass
class Reference:
    """`blocks` as the collective has them: segments of a broadcast, one of each rank, or one for each pair."""

    one: CircuitInstance
    most_circuits: int

    def least_s(self, limit_s: float) -> float:
        """The end of the last teardown, infinite if it is not below the limit."""
        one = self.one
        self._best_s = limit_s
        self._found = False
        self._start()
        ports = [tuple([0.0] * one.k) for _ in range(one.p)]
        alike = frozenset(range(1, one.p)) if one.collective == "bcast" else frozenset[int]()
        held = dict.fromkeys(self._given, 0.0)
        self._descend(_State(held, ports, [0.0] * one.p, idle=alike))
        return self._best_s if self._found else float("inf")

    def _start(self) -> None:
        one = self.one
        self._exchange_s = one.s + one.d
        if one.accounting == "hidden" and one.controller == "parallel":
            self._exchange_s = max(one.s, one.d)
        nodes = range(one.p)
        if one.collective == "bcast":
            blocks = range(int(one.segments))
            self._given = {(0, block) for block in blocks}
            self._wanted = {(node, block) for node in nodes for block in blocks}
            self._block_bytes = one.bytes / int(one.segments)
        elif one.collective == "allgather":
            self._given = {(node, node) for node in nodes}
            self._wanted = {(node, block) for node in nodes for block in nodes}
            self._block_bytes = one.bytes
        else:
            self._given = {(a, one.p * a + b) for a in nodes for b in nodes if a != b}
            self._wanted = {(b, one.p * a + b) for a in nodes for b in nodes if a != b}
            self._block_bytes = one.bytes

    def _descend(self, state: _State) -> None:
        one = self.one
        # What is up must be torn down.
        if one.controller == "serial":
            least_s = max(state.begin_s, state.controller_s) + len(state.up) * one.d
        else:
            least_s = state.begin_s
        if max(least_s, state.down_s) >= self._best_s:
            return
        if state.up and max(max(one.open_s, one.used_s) for one in state.up.values()) + one.d >= self._best_s:
            return
        if all(pair in state.held for pair in self._wanted) and not state.up:
            self._best_s, self._found = state.down_s, True
            return
        for following in itertools.chain(self._sends(state), self._teardowns(state), self._setups(state)):
            # Each list of actions in one order.
            if following.begin_s >= state.begin_s:
                self._descend(following)

    def _setups(self, state: _State) -> Iterator[_State]:
        one = self.one
        if state.circuits == self.most_circuits:
            return
        for a, b in itertools.combinations(range(one.p), 2):
            if (a, b) in state.up or not state.ports[a] or not state.ports[b]:
                continue
            # Nodes that have done nothing are alike: the first of them stands for all.
            others = sorted(state.idle)
            if any(node in state.idle and node != others[0] for node in (a, b)) and (a, b) != tuple(others[:2]):
                continue
            begin_s = max(min(state.ports[a]), min(state.ports[b]))
            if one.controller == "serial":
                begin_s = max(begin_s, state.controller_s)
            ports = list(state.ports)
            for node in (a, b):  # the port that has waited least
                fitting = max(free_s for free_s in ports[node] if free_s <= begin_s)
                rest = list(ports[node])
                rest.remove(fitting)
                ports[node] = tuple(rest)
            open_s = begin_s + one.s
            yield replace(
                state, ports=ports, begin_s=begin_s, controller_s=open_s, circuits=state.circuits + 1,
                up={**state.up, (a, b): _Circuit(open_s, open_s, {a: open_s, b: open_s})}, idle=state.idle - {a, b},
            )  # fmt: skip

    def _sends(self, state: _State) -> Iterator[_State]:
        one = self.one
        for (a, b), circuit in state.up.items():
            for sender, receiver in ((a, b), (b, a)):
                useful = [
                    block for node, block in state.held if node == sender and (receiver, block) not in state.held
                ]  # fmt: skip
                for count in range(1, len(useful) + 1):
                    for blocks in itertools.combinations(useful, count):
                        begin_s = max(circuit.free_s[sender], *(state.held[sender, block] for block in blocks))
                        if one.injection == "one":
                            begin_s = max(begin_s, state.sender_s[sender])
                        end_s = begin_s + one.alpha + count * self._block_bytes * one.beta
                        sender_s = list(state.sender_s)
                        sender_s[sender] = end_s
                        after = _Circuit(circuit.open_s, max(circuit.used_s, end_s), {**circuit.free_s, sender: end_s})
                        held = state.held | {(receiver, block): end_s for block in blocks}
                        yield replace(
                            state, held=held, sender_s=sender_s, begin_s=begin_s, up={**state.up, (a, b): after}
                        )

    def _teardowns(self, state: _State) -> Iterator[_State]:
        one = self.one
        if one.stop == "circuit":
            for pair, circuit in state.up.items():
                begin_s = max(circuit.open_s, circuit.used_s)
                if one.controller == "serial":
                    begin_s = max(begin_s, state.controller_s)
                ports = list(state.ports)
                for node in pair:
                    ports[node] = (*ports[node], begin_s + self._exchange_s - one.s)
                yield replace(
                    state, ports=ports, begin_s=begin_s, controller_s=begin_s + one.d,
                    down_s=max(state.down_s, begin_s + one.d),
                    up={other: left for other, left in state.up.items() if other != pair},
                )  # fmt: skip
        elif state.up:
            begin_s = max(max(circuit.open_s, circuit.used_s) for circuit in state.up.values())
            down_s = begin_s + one.d
            ready_s = begin_s + self._exchange_s - one.s
            if one.controller == "serial":
                begin_s = max(begin_s, state.controller_s)
                down_s = ready_s = begin_s + len(state.up) * one.d
            yield replace(
                state, ports=[tuple([ready_s] * one.k) for _ in range(one.p)], begin_s=begin_s, controller_s=down_s,
                down_s=down_s, up={},
            )  # fmt: skip
