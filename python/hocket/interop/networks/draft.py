# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A network while it is imported: what a file says, what it leaves open, and what was done about that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from hocket.errors import InvalidInput
from hocket.interop.networks.hostlist import quoted
from hocket.report.text import counted


@dataclass
class Host:
    line: int
    ranks: int = 1
    relays: bool = True


@dataclass
class Cable:
    """Between two nodes, `count` of them side by side. None = the file does not say."""

    line: int
    bandwidth_bytes_per_s: float | None = None  # of all together; from the first node to the second
    bandwidth_back_bytes_per_s: float | None = None
    latency_s: float | None = None
    latency_back_s: float | None = None  # None = as the other
    half_duplex: bool = False
    count: int = 1
    trunk: bool = False  # joins switches
    latency_factor: float = 1.0  # of a latency that the file does not say


@dataclass
class Draft:
    """Nodes by name, cables by the names of their ends."""

    source_name: str
    format: str
    name: str = ""
    hosts: dict[str, Host] = field(default_factory=dict)
    switches: dict[str, int] = field(default_factory=dict)  # the line
    cables: dict[tuple[str, str], Cable] = field(default_factory=dict)
    routes: list[list[str]] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)  # what the file does not say
    ignored: list[str] = field(default_factory=list)  # what it says and a network does not
    keeps_order: bool = False  # nodes stay in the order of the file; else they are sorted by name

    def refuse(self, line: int, what: str, hint: str = "") -> NoReturn:
        raise InvalidInput(f"{self.source_name}:{line}: {what}", hint)

    def add_host(self, name: str, line: int, ranks: int = 1, relays: bool = True) -> None:
        self._check_new(name, line, "host")
        self.hosts[name] = Host(line, ranks, relays)

    def add_switch(self, name: str, line: int) -> None:
        self._check_new(name, line, "switch")
        self.switches[name] = line

    def add_cable(self, first: str, second: str, cable: Cable) -> None:
        """Cables side by side become one with the sum of their bandwidths, which is what a network file can say."""
        if first == second:
            self.refuse(cable.line, f"a link joins {quoted(first)} with itself", "leave it out")
        cable.trunk = first in self.switches and second in self.switches
        known = self.cables.get((first, second))
        if known is None and (second, first) in self.cables:
            first, second = second, first
            known = self.cables[first, second]
            there, back = cable.bandwidth_bytes_per_s, cable.bandwidth_back_bytes_per_s
            cable.bandwidth_bytes_per_s, cable.bandwidth_back_bytes_per_s = back, there
        if known is None:
            self.cables[first, second] = cable
            return
        known.count += cable.count
        known.bandwidth_bytes_per_s = _sum(known.bandwidth_bytes_per_s, cable.bandwidth_bytes_per_s)
        known.bandwidth_back_bytes_per_s = _sum(known.bandwidth_back_bytes_per_s, cable.bandwidth_back_bytes_per_s)
        known.half_duplex = known.half_duplex and cable.half_duplex
        if cable.latency_s is not None:
            known.latency_s = max(known.latency_s or 0.0, cable.latency_s)

    def degrees(self) -> dict[str, int]:
        """[node] its cables, those side by side as one."""
        result = dict.fromkeys([*self.hosts, *self.switches], 0)
        for first, second in self.cables:
            result[first] += 1
            result[second] += 1
        return result

    def parts(self) -> list[list[str]]:
        """The nodes of each connected part, in the order of the nodes."""
        neighbours: dict[str, list[str]] = {name: [] for name in [*self.hosts, *self.switches]}
        for first, second in self.cables:
            neighbours[first].append(second)
            neighbours[second].append(first)
        seen: set[str] = set()
        parts: list[list[str]] = []
        for start in neighbours:
            if start in seen:
                continue
            seen.add(start)
            part = [start]
            for node in part:
                for other in neighbours[node]:
                    if other not in seen:
                        seen.add(other)
                        part.append(other)
            parts.append(part)
        return parts

    def is_tree(self) -> bool:
        return len(self.cables) == len(self.hosts) + len(self.switches) - 1

    def keep_hosts(self, names: Sequence[str]) -> None:
        """Only these hosts, in this order."""
        for name in names:
            if name not in self.hosts:
                near = "it has " + (", ".join(quoted(host) for host in sorted(self.hosts, key=natural)[:8]) or "none")
                more = f" and {len(self.hosts) - 8} more" if len(self.hosts) > 8 else ""
                raise InvalidInput(f"--hosts: {self.source_name} has no host {quoted(name)}", near + more)
        wanted = dict.fromkeys(names)
        dropped = len(self.hosts) - len(wanted)
        self.hosts = {name: self.hosts[name] for name in wanted}
        self.keeps_order = True
        self.cables = {ends: cable for ends, cable in self.cables.items() if all(self._has(end) for end in ends)}
        self.routes = [route for route in self.routes if all(self._has(node) for node in route)]
        if dropped:
            self.ignored.append(f"{counted(dropped, 'host')} that --hosts does not name")

    def _has(self, name: str) -> bool:
        return name in self.hosts or name in self.switches

    def _check_new(self, name: str, line: int, kind: str) -> None:
        if not name:
            self.refuse(line, f"the name of a {kind} is empty")
        first = self.hosts[name].line if name in self.hosts else self.switches.get(name)
        if first is not None:
            self.refuse(
                line,
                f"a second node has the name {quoted(name)}; the first is in line {first}",
                "names of hosts and switches differ",
            )


def natural(name: str) -> tuple[object, ...]:
    """Sorts n2 before n10. Text and numbers alternate, so that any two keys compare."""
    parts = re.split(r"([0-9]+)", name)
    return tuple(_number(p) if i % 2 else p for i, p in enumerate(parts)), name


def _number(digits: str) -> tuple[int, str]:
    stripped = digits.lstrip("0")
    return len(stripped), stripped  # compares as the number would, however long it is


def _sum(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b
