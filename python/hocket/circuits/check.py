# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Replays a schedule on circuits, and lists every rule that it breaks.

It shares nothing with the search. Of the schedule it takes what is decided: when each set-up, message and teardown
begins, and which blocks a message carries. All ends are computed anew.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hocket.io.json_input import with_current_names

_MOST_PROBLEMS = 20
_CHOICES = {
    "injection": ("one", "all"),
    "stop": ("all", "circuit"),
    "accounting": ("equations", "hidden"),
    "controller": ("parallel", "serial"),
}


@dataclass(frozen=True)
class Replayed:
    makespan_s: float
    problems: tuple[str, ...]


@dataclass(frozen=True)
class _Circuit:
    name: str
    nodes: tuple[int, int]
    configuration: int
    setup_s: float
    open_s: float
    teardown_s: float
    down_s: float


@dataclass(frozen=True)
class _Message:
    name: str
    circuit: int
    sender: int
    receiver: int
    blocks: tuple[int, ...]
    reduces: bool
    begin_s: float
    end_s: float


def replay(instance: Mapping[str, Any], schedule: Mapping[str, Any]) -> Replayed:
    """Never raises for a schedule that is wrong."""
    try:
        return _Replay(with_current_names(dict(instance), {"segments"}), schedule).run()
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        return Replayed(0.0, (f"cannot be read: {type(error).__name__}: {error}",))


def check_answer(answer: Mapping[str, Any], instance: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """Problems of an answer of `hocket schedule --circuits`; `instance` instead of the one that the answer names."""
    asked = answer.get("instance") if instance is None else instance
    schedule = answer.get("schedule")
    if not isinstance(asked, Mapping) or not isinstance(schedule, Mapping):
        return ("has no instance or no schedule",)
    replayed = replay(asked, schedule)
    problems = list(replayed.problems)
    try:
        makespan_s = _number(answer.get("makespan_s"), "makespan_s")
        bound_s = _number(answer.get("lower_bound_s"), "lower_bound_s")
    except ValueError as error:
        return (*problems, str(error))
    margin_s = _margin(max(makespan_s, replayed.makespan_s))
    if abs(makespan_s - replayed.makespan_s) > margin_s:
        problems.append(f"makespan_s is {makespan_s!r}, but the last teardown ends at {replayed.makespan_s!r}")
    if bound_s > replayed.makespan_s + margin_s:
        problems.append(f"lower_bound_s is {bound_s!r}, above the makespan {replayed.makespan_s!r}")
    if bound_s < 0:
        problems.append(f"lower_bound_s is {bound_s!r}: expected at least 0")
    gap = makespan_s / bound_s - 1 if bound_s > 0 else 0.0
    if "gap" in answer and not _is_number(answer["gap"], gap, 1e-9 * (1 + abs(gap))):
        problems.append(f"gap is {answer['gap']!r}: expected {gap!r}")
    status = answer.get("status", "feasible")
    if status not in ("optimal", "feasible"):
        problems.append(f"status is {status!r}: expected optimal or feasible")
    if status == "optimal" and makespan_s - bound_s > margin_s:
        problems.append("status is optimal, but lower_bound_s is below makespan_s")
    return tuple(problems)


def _number(value: Any, what: str) -> float:
    """Raises ValueError unless it is a finite number: every comparison with NaN would say that all is well."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{what} is {value!r}: expected a finite number")
    return float(value)


def _is_number(value: Any, expected: float, margin: float) -> bool:
    try:
        return abs(_number(value, "it") - expected) <= margin
    except ValueError:
        return False


def _margin(time_s: float) -> float:
    return 1e-9 * abs(time_s) + 1e-15


@dataclass
class _Replay:
    instance: Mapping[str, Any]
    schedule: Mapping[str, Any]
    problems: list[str] = field(default_factory=list)

    def run(self) -> Replayed:
        one = self.instance
        self.p, self.k = int(one["p"]), int(one["k"])
        self.s, self.d, self.alpha, self.beta, self.bytes = (
            _number(one.get(key, 0) if key == "bytes" else one[key], key)
            for key in ("s", "d", "alpha", "beta", "bytes")
        )
        self.root = int(one.get("root") or 0)
        chosen = {key: one.get(key) or names[0] for key, names in _CHOICES.items()}
        for key, names in _CHOICES.items():
            if chosen[key] not in names:
                raise ValueError(f"{key} is {chosen[key]!r}")
        self.one_at_a_time = chosen["injection"] == "one"
        self.together = chosen["stop"] == "all"
        self.serial = chosen["controller"] == "serial"
        # A serial controller cannot tear down while it sets up.
        self.hidden = chosen["accounting"] == "hidden" and not self.serial
        self._read()
        self.margin_s = _margin(self._makespan())
        self._blocks()
        self._ports()
        if self.together:
            self._configurations()
        if self.serial:
            self._one_at_a_time(
                [(c.setup_s, c.open_s, f"set-up of {c.name}") for c in self.circuits]
                + [(c.teardown_s, c.down_s, f"teardown of {c.name}") for c in self.circuits],
                "the controller",
            )
        self._messages()
        self._data()
        return Replayed(self._makespan(), tuple(self.problems[:_MOST_PROBLEMS]))

    def _makespan(self) -> float:
        return max((circuit.down_s for circuit in self.circuits), default=0.0)

    def _read(self) -> None:
        self.matrix = [[int(_number(n, "matrix")) for n in row] for row in self.instance.get("matrix") or []]
        self.block_bytes = 0.0 if self.matrix else _number(self.schedule["block_bytes"], "block_bytes")
        self.num_blocks = int(self.schedule["blocks"])
        self.circuits: list[_Circuit] = []
        for number, item in enumerate(self.schedule["circuits"]):
            a, b = item["nodes"]
            name = f"circuit {number} ({a}, {b})"
            begin_s = _number(item["setup_s"][0], f"{name}: setup_s")
            down_s = _number(item["teardown_s"][0], f"{name}: teardown_s")
            self.circuits.append(
                _Circuit(name, (a, b), item["configuration"], begin_s, begin_s + self.s, down_s, down_s + self.d)
            )
            self._same(item["setup_s"][1], begin_s + self.s, f"{name}: end of its set-up")
            self._same(item["teardown_s"][1], down_s + self.d, f"{name}: end of its teardown")
            if not (0 <= a < self.p and 0 <= b < self.p) or a == b:
                self.problems.append(f"{name}: no such pair of nodes")
            if begin_s < 0 or down_s < begin_s + self.s - _margin(down_s):
                self.problems.append(f"{name}: begins before time 0, or is torn down before it is open")
        self.messages: list[_Message] = []
        for number, item in enumerate(self.schedule["messages"]):
            sender, receiver, blocks = item["from"], item["to"], tuple(item["blocks"])
            name = f"message {number} ({sender} to {receiver})"
            begin_s = _number(item["time_s"][0], f"{name}: time_s")
            end_s = begin_s + self.alpha + self._bytes_of(blocks) * self.beta
            self.messages.append(
                _Message(name, item["circuit"], sender, receiver, blocks, item.get("reduces") is True, begin_s, end_s)
            )
            self._same(item["time_s"][1], end_s, f"{name}: its end")
            if len(set(blocks)) != len(blocks) or not all(0 <= block < self.num_blocks for block in blocks):
                self.problems.append(f"{name}: a block twice, or one that does not exist")
            if not blocks:
                self.problems.append(f"{name}: carries nothing")
            if not 0 <= item["circuit"] < len(self.circuits):
                raise IndexError(f"{name}: circuit {item['circuit']}")

    def _bytes_of(self, blocks: tuple[int, ...]) -> float:
        if not self.matrix:
            return len(blocks) * self.block_bytes
        return sum(self.matrix[block // self.p][block % self.p] for block in blocks)

    def _same(self, stored: Any, computed: float, what: str) -> None:
        if abs(_number(stored, what) - computed) > _margin(computed):
            self.problems.append(f"{what} is {stored!r}: expected {computed!r}")

    def _blocks(self) -> None:
        collective, segments = self.instance["collective"], self.instance.get("segments")
        expected = {"allgather": self.p, "alltoall": self.p**2, "alltoallv": self.p**2}.get(collective)
        if expected is None:
            if self.num_blocks < 1:
                self.problems.append("has no blocks")
            if isinstance(segments, int) and collective in ("bcast", "reduce") and self.num_blocks != segments:
                self.problems.append(f"has {self.num_blocks} blocks: expected {segments} segments")
            if segments is None and collective in ("bcast", "reduce") and self.num_blocks != 1:
                self.problems.append(f"has {self.num_blocks} blocks: expected one")
            self._same(self.block_bytes * self.num_blocks, self.bytes, "the size of all blocks")
        elif self.p > 1:
            if self.num_blocks != expected:
                self.problems.append(f"has {self.num_blocks} blocks: expected {expected}")
            if collective != "alltoallv":
                self._same(self.block_bytes, self.bytes, "the size of a block")

    def _ports(self) -> None:
        """A port is taken from the set-up on until the teardown has ended. With `hidden` the next circuit may be open
        max(s, d) after the teardown began: as if each were taken from max(s, d) before it is open, until then."""
        for node in range(self.p):
            events = []
            for circuit in self.circuits:
                if node in circuit.nodes:
                    begin_s, end_s = circuit.setup_s, circuit.down_s
                    if self.hidden:
                        begin_s, end_s = circuit.open_s - max(self.s, self.d), circuit.teardown_s
                    events += [(begin_s + self.margin_s, 1), (end_s, -1)]
            used = 0
            for time_s, change in sorted(events):
                used += change
                if used > self.k:
                    self.problems.append(f"node {node} uses {used} ports at {time_s:.9g} s and has {self.k}")
                    break

    def _configurations(self) -> None:
        by_number = defaultdict(list)
        for circuit in self.circuits:
            by_number[circuit.configuration].append(circuit)
        before: list[_Circuit] = []
        for number in sorted(by_number):
            circuits = by_number[number]
            last_s = max(
                (m.end_s for m in self.messages if self.circuits[m.circuit].configuration == number), default=0
            )
            for circuit in circuits:
                if circuit.teardown_s < last_s - self.margin_s:
                    self.problems.append(f"{circuit.name} is torn down before the last message of its configuration")
            begins = [circuit.teardown_s for circuit in circuits]
            if not self.serial and max(begins) - min(begins) > self.margin_s:
                self.problems.append(f"configuration {number} is not torn down together")
            if before:
                ready_s = max(c.down_s for c in before)
                if self.hidden:
                    ready_s = max(c.teardown_s for c in before) + max(self.s, self.d) - self.s
                if min(circuit.setup_s for circuit in circuits) < ready_s - self.margin_s:
                    self.problems.append(f"configuration {number} is set up before the one before it is down")
            before = circuits

    def _messages(self) -> None:
        senders, directions = defaultdict(list), defaultdict(list)
        for message in self.messages:
            circuit = self.circuits[message.circuit]
            if sorted(circuit.nodes) != sorted((message.sender, message.receiver)):
                self.problems.append(f"{message.name}: {circuit.name} does not join these nodes")
            if message.begin_s < circuit.open_s - self.margin_s or message.end_s > circuit.teardown_s + self.margin_s:
                self.problems.append(f"{message.name}: {circuit.name} is not up all the time")
            span = (message.begin_s, message.end_s, message.name)
            senders[message.sender].append(span)
            directions[message.circuit, message.sender].append(span)
        for (number, _), spans in directions.items():
            self._one_at_a_time(spans, self.circuits[number].name)
        if self.one_at_a_time:
            for node, spans in senders.items():
                self._one_at_a_time(spans, f"node {node}")

    def _one_at_a_time(self, spans: Iterable[tuple[float, float, str]], who: str) -> None:
        busy_s, by = 0.0, ""
        for begin_s, end_s, name in sorted(spans):
            if begin_s < busy_s - self.margin_s:
                self.problems.append(f"{who} does two things at a time: {by} and {name}")
            if end_s > busy_s:
                busy_s, by = end_s, name

    def _data(self) -> None:
        """What each node holds of each block, as the set of nodes whose contribution is in it (a bit each)."""
        collective = self.instance["collective"]
        all_nodes = (1 << self.p) - 1
        held: dict[tuple[int, int], int] = {}
        for block in range(self.num_blocks):
            if collective in ("reduce", "allreduce"):
                held |= {(node, block): 1 << node for node in range(self.p)}
            elif collective == "bcast":
                held[self.root, block] = all_nodes
            elif collective == "allgather":
                held[block, block] = all_nodes
            elif collective in ("alltoall", "alltoallv"):
                held[block // self.p, block] = all_nodes
            else:
                raise ValueError(f"collective is {collective!r}")
        reducing = collective in ("reduce", "allreduce")
        # What arrives when a message begins is in it. One too short for that arrives right after it has begun.
        events = [(message.begin_s, 1, number) for number, message in enumerate(self.messages)]
        for number, message in enumerate(self.messages):
            short = message.end_s - message.begin_s <= 2 * self.margin_s
            events.append((message.begin_s, 2, number) if short else (message.end_s - self.margin_s, 0, number))
        contents: dict[int, list[int]] = {}
        for _, kind, number in sorted(events):
            message = self.messages[number]
            if kind == 1:
                contents[number] = [held.get((message.sender, block), 0) for block in message.blocks]
                if 0 in contents[number]:
                    self.problems.append(f"{message.name}: its sender does not hold what it sends")
                continue
            for block, content in zip(message.blocks, contents.get(number, []), strict=True):
                there = held.get((message.receiver, block), 0)
                if message.reduces:
                    if not reducing or there & content:
                        self.problems.append(f"{message.name}: block {block} has a contribution twice")
                    held[message.receiver, block] = there | content
                elif there & ~content:
                    self.problems.append(f"{message.name}: block {block} replaces what is not in it")
                else:
                    held[message.receiver, block] = content
        for node in range(self.p):
            for block in range(self.num_blocks):
                wanted = (collective != "reduce" or node == self.root) and (
                    collective not in ("alltoall", "alltoallv") or block % self.p == node
                )
                if collective == "alltoallv":
                    wanted = wanted and (self.matrix[block // self.p][node] > 0 or block // self.p == node)
                if wanted and held.get((node, block), 0) != all_nodes:
                    self.problems.append(f"node {node} lacks block {block} at the end")
                    break
