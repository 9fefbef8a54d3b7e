# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""In which order a program may call MPI, and so which of its statements made the calls of a trace.

The statements that call MPI are the states of a finite automaton. Its steps are the ways from one to the next through
branches, loops and calls of procedures; a procedure may return to any of its callers. The states that lie on a path
from the first to the last call of the trace are found forwards and backwards; where one is left, it made the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Site = tuple[Path, int]  # the file and the line of a statement that calls MPI


@dataclass
class CallOrder:
    """`sites`: the states, with their procedure of MPI in lower case; sets of states are bits of an integer."""

    sites: list[tuple[Site, str]]
    behind: list[int]  # the states that may follow each
    before: list[int]

    def of_names(self, names: Sequence[str]) -> list[int]:
        """The states that may make each call of a trace with these procedures; 0 for one that the files do not call."""
        by_name: dict[str, int] = {}
        for state, (_, name) in enumerate(self.sites):
            by_name[name] = by_name.get(name, 0) | 1 << state
        own = [by_name.get(name.lower().removesuffix("_c"), 0) for name in names]
        kept = [one for one in own if one]
        forwards = _pass(kept, self.behind)
        backwards = _pass(kept[::-1], self.before)[::-1]
        # Where the program went in a way that the graph does not have, every call of this name is possible.
        found = iter([one & other or every for one, other, every in zip(forwards, backwards, kept, strict=True)])
        return [next(found) if one else 0 for one in own]


def _pass(steps: Iterable[int], following: Sequence[int]) -> list[int]:
    found: list[int] = []
    known: dict[tuple[int, int], int] = {}
    at = 0
    for every in steps:
        key = (at, every)
        if key not in known:
            behind = 0
            for state in states_in(at):
                behind |= following[state]
            known[key] = behind & every or every
        at = known[key]
        found.append(at)
    return found


def states_in(states: int) -> Iterable[int]:
    while states:
        lowest = states & -states
        yield lowest.bit_length() - 1
        states ^= lowest


@dataclass
class CallGraph:
    """Of places in the program; a place with a site calls MPI."""

    functions: frozenset[str]  # that the trace has, as `names` gives them
    edges: list[set[int]] = field(default_factory=list)
    sites: dict[int, tuple[Site, str]] = field(default_factory=dict)
    ends: dict[int, tuple[int, int]] = field(default_factory=dict)  # id of a procedure -> first and last place
    called: set[int] = field(default_factory=set)  # ids of procedures that another one, or itself, calls

    @staticmethod
    def names(functions: Iterable[str]) -> frozenset[str]:
        """In lower case, without the mark of large counts."""
        return frozenset(name.lower().removesuffix("_c") for name in functions)

    def place(self) -> int:
        self.edges.append(set())
        return len(self.edges) - 1

    def call(self, site: Site, name: str, at: int) -> int:
        """The place of a call of MPI, behind `at`; `at` itself for a function that the trace does not have."""
        (own,) = self.names([name])
        if own not in self.functions:
            return at
        place = self.place()
        self.sites[place] = site, own
        self.edges[at].add(place)
        return place

    def build(self, procedure: Any) -> None:
        """Adds the places between the `ends` of a procedure."""
        raise NotImplementedError

    def add(self, procedure: Any) -> tuple[int, int]:
        """Its first and last place."""
        if id(procedure) not in self.ends:
            self.ends[id(procedure)] = self.place(), self.place()
            self.build(procedure)
        return self.ends[id(procedure)]

    def call_known(self, procedure: Any, at: int) -> int:
        """The place behind a call of a procedure of the files."""
        first, last = self.add(procedure)
        self.called.add(id(procedure))
        behind = self.place()
        self.edges[at].add(first)
        self.edges[last].add(behind)
        return behind

    def order(self) -> CallOrder:
        outside = self.place()  # other files may call what these do not, again and again
        for first, last in (ends for one, ends in self.ends.items() if one not in self.called):
            self.edges[outside].add(first)
            self.edges[last].add(outside)
        places = list(self.sites)
        state_of = {place: state for state, place in enumerate(places)}
        behind = [self._next_sites(place, state_of) for place in places]
        before = [0] * len(places)
        for state, some in enumerate(behind):
            for other in states_in(some):
                before[other] |= 1 << state
        return CallOrder([self.sites[place] for place in places], behind, before)

    def _next_sites(self, place: int, state_of: dict[int, int]) -> int:
        found, seen, stack = 0, set[int](), list(self.edges[place])
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            if at in state_of:
                found |= 1 << state_of[at]
            else:
                stack.extend(self.edges[at])
        return found
