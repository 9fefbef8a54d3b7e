# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a circuit switch does while one schedule runs: which circuit takes which ports from when to when.

All times come in and go out as numbers, so that a delay of this process does not add up from circuit to circuit.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from hocket.errors import Error


@dataclass(frozen=True)
class SwitchPlan:
    """How the switch is to behave, and the circuits that a schedule will ask for, by their numbers."""

    ports: int  #: of each node
    setup_s: float
    teardown_s: float
    together: bool  #: the circuits of a configuration are torn down together; otherwise each by itself
    hidden: bool  #: a teardown is hidden behind the next set-up: max(s, d) between circuits instead of s + d
    circuits: tuple[tuple[int, int, int], ...]  #: two nodes and the configuration
    #: The order in which a controller that does one thing at a time works: each circuit is set up at its first turn and
    #: torn down at its second one. Empty: all at once.
    turns: tuple[int, ...] = ()


@dataclass
class Circuit:
    nodes: tuple[int, int]
    configuration: int
    wanted: set[int] = field(default_factory=set)  # by these nodes
    released: set[int] = field(default_factory=set)
    setup_s: float = math.inf  # begins
    open_s: float = math.inf
    teardown_s: float = math.inf  # begins
    down_s: float = math.inf
    reported: bool = False  # that it is open

    @property
    def started(self) -> bool:
        return self.setup_s < math.inf


@dataclass
class _Port:
    free_s: float = 0.0  # a set-up may begin; inf: in use
    open_s: float = 0.0  # the next circuit is not open before


class CircuitSwitch:
    def __init__(self, plan: SwitchPlan, num_nodes: int) -> None:
        """Raises Error for a plan that this switch cannot follow."""
        self._plan = plan
        self.circuits = [Circuit((a, b), configuration) for a, b, configuration in plan.circuits]
        _check(plan, num_nodes)
        ports = min(plan.ports, len(plan.circuits))  # more are never used
        self._ports = [[_Port() for _ in range(ports)] for _ in range(num_nodes)]
        self._held: dict[int, list[_Port]] = {}  # by circuit
        self._queue: list[int] = []  # wanted by both ends
        self._order = sorted({circuit.configuration for circuit in self.circuits})  # of configurations
        self._turn = _Port()  # the configuration at the head of `_order` is set up then
        self._turns = list(plan.turns)  # that are left
        self._controller_free_s = 0.0

    def want(self, node: int, number: int, now_s: float) -> None:
        circuit = self._of(node, number)
        if node in circuit.wanted:
            raise Error(f"node {node} asks for circuit {number} twice")
        circuit.wanted.add(node)
        if len(circuit.wanted) == 2:
            self._queue.append(number)
            self._start(now_s)

    def release(self, node: int, number: int, now_s: float) -> None:
        circuit = self._of(node, number)
        if not circuit.reported or node in circuit.released:
            raise Error(f"node {node} releases circuit {number}, which it does not have")
        circuit.released.add(node)
        if not self._plan.turns and self._is_released(circuit):
            for i, one in enumerate(self.circuits):
                if i == number or (self._plan.together and one.configuration == circuit.configuration):
                    self._tear_down(i, now_s)
            if self._plan.together:
                self._order.pop(0)
                self._turn = self._free_after(now_s)
        self._start(now_s)

    def opened(self, now_s: float) -> list[int]:
        """The circuits that have become open since the last call."""
        found = [i for i, one in enumerate(self.circuits) if not one.reported and one.open_s <= now_s]
        for number in found:
            self.circuits[number].reported = True
        return found

    def connected(self) -> list[tuple[int, int]]:
        return [one.nodes for one in self.circuits if one.reported and one.teardown_s == math.inf]

    def next_s(self) -> float:
        """When the next circuit opens; inf: something must be asked for before."""
        return min((one.open_s for one in self.circuits if not one.reported), default=math.inf)

    def end_s(self) -> float:
        """Of the last teardown; inf while there are circuits."""
        return max((one.down_s for one in self.circuits), default=0.0)

    def _of(self, node: int, number: int) -> Circuit:
        if not 0 <= number < len(self.circuits) or node not in self.circuits[number].nodes:
            raise Error(f"node {node} asks for circuit {number}, which is not its own")
        return self.circuits[number]

    def _start(self, now_s: float) -> None:
        """Set up what is wanted by both ends and has ports, first come, first served, or in its turn."""
        if self._plan.turns:
            self._take_turns(now_s)
            return
        for number in list(self._queue):
            circuit = self.circuits[number]
            if self._plan.together and circuit.configuration != self._order[0]:
                continue
            ports = [min(self._ports[node], key=lambda port: port.free_s) for node in circuit.nodes]
            if any(port.free_s == math.inf for port in ports):
                continue
            limits = [*ports, self._turn] if self._plan.together else ports
            circuit.setup_s = max(now_s, *(limit.free_s for limit in limits))
            circuit.open_s = max(circuit.setup_s + self._plan.setup_s, *(limit.open_s for limit in limits))
            for port in ports:
                port.free_s = math.inf
            self._held[number] = ports
            self._queue.remove(number)

    def _take_turns(self, now_s: float) -> None:
        """As far as the next turn is one of a circuit that is wanted, or released, by both ends."""
        while self._turns:
            number = self._turns[0]
            circuit = self.circuits[number]
            begin_s = max(now_s, self._controller_free_s)
            if circuit.started:
                if not self._is_released(circuit):
                    return
                self._tear_down(number, begin_s)
                self._controller_free_s = circuit.down_s
            else:
                ports = [min(self._ports[node], key=lambda port: port.free_s) for node in circuit.nodes]
                if len(circuit.wanted) < 2 or any(port.free_s == math.inf for port in ports):
                    return
                circuit.setup_s = begin_s
                circuit.open_s = self._controller_free_s = begin_s + self._plan.setup_s
                for port in ports:
                    port.free_s = math.inf
                self._held[number] = ports
            self._turns.pop(0)

    def _is_released(self, circuit: Circuit) -> bool:
        """By both ends, with all that are torn down with it."""
        members = self.circuits if self._plan.together else [circuit]
        return all(len(one.released) == 2 for one in members if one.configuration == circuit.configuration)

    def _tear_down(self, number: int, now_s: float) -> None:
        circuit = self.circuits[number]
        circuit.teardown_s = now_s
        circuit.down_s = now_s + self._plan.teardown_s
        after = self._free_after(now_s)
        for port in self._held.pop(number):
            port.free_s, port.open_s = after.free_s, after.open_s

    def _free_after(self, teardown_s: float) -> _Port:
        if self._plan.hidden:
            return _Port(teardown_s, teardown_s + max(self._plan.setup_s, self._plan.teardown_s))
        return _Port(teardown_s + self._plan.teardown_s)


def _check(plan: SwitchPlan, num_nodes: int) -> None:
    used: Counter[tuple[int, int]] = Counter()
    for turn in plan.turns:
        if not 0 <= turn < len(plan.circuits):
            raise Error(f"a turn of circuit {turn} of {len(plan.circuits)}")
    for number, (a, b, configuration) in enumerate(plan.circuits):
        if a == b or not 0 <= min(a, b) <= max(a, b) < num_nodes:
            raise Error(f"circuit {number} joins nodes {a} and {b} of {num_nodes}")
        if plan.turns and plan.turns.count(number) != 2:
            raise Error(f"circuit {number} has {plan.turns.count(number)} turns: expected a set-up and a teardown")
        used.update([(configuration, a), (configuration, b)])
    if plan.ports < 1:
        raise Error("a node without ports has no circuits")
    for (configuration, node), count in used.items():
        if plan.together and count > plan.ports:
            raise Error(
                f"configuration {configuration} needs {count} ports of node {node}, which has {plan.ports}",
                "find the schedule for fewer ports",
            )


def plan_from_words(words: Sequence[str]) -> SwitchPlan:
    """`PORTS SETUP_S TEARDOWN_S all|circuit equations|hidden|serial A:B:CONFIGURATION... [TURN...]`. Raises Error.

    A serial controller does one thing at a time, in the order of the turns: each is the number of a circuit.
    """
    try:
        ports, setup, teardown, stop, between, *rest = words
        circuits = list(itertools.takewhile(lambda word: ":" in word, rest))
        ends = [tuple(map(int, circuit.split(":"))) for circuit in circuits]
        turns = tuple(map(int, rest[len(circuits) :]))
        if stop not in ("all", "circuit") or between not in ("equations", "hidden", "serial"):
            raise ValueError
        if (between == "serial") != bool(turns) and ends:
            raise ValueError
        delays = float(setup), float(teardown)
        if not all(0 <= delay < math.inf for delay in delays):
            raise ValueError
        return SwitchPlan(
            int(ports), *delays, stop == "all", between == "hidden", tuple((a, b, c) for a, b, c in ends), turns
        )
    except ValueError:
        raise Error(f"a plan that the switch cannot read: {' '.join(words)[:100]!r}") from None
