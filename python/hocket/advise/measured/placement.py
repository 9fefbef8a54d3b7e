# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where the ranks of a job are: which share a host, which hosts share a cell of the network, and where in a torus."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hocket.advise.measured.rounds import Ints
from hocket.errors import InvalidInput

MOST_RANKS = 1 << 22


@dataclass(frozen=True)
class Placement:
    """`host` and `cell`: a number for each rank. A cell is what a network calls a group, a pod or an island."""

    host: Ints
    cell: Ints
    torus: tuple[int, ...] = ()  #: its shape; empty if the network is none
    coordinates: Ints | None = None  #: ranks x dimensions, in a torus

    @property
    def ranks(self) -> int:
        return len(self.host)

    @cached_property
    def ranks_per_host(self) -> int:
        return int(np.bincount(self.host).max())

    @cached_property
    def hosts_of_cell(self) -> Ints:
        return np.bincount(self.cell[np.unique(self.host, return_index=True)[1]])


@dataclass(frozen=True)
class Place:
    """A job's placement as tables write it. In lists, `name*4` is four entries in a row."""

    ranks: int
    nodes: int
    torus: str = ""  #: "8x8x8"
    order: str = ""  #: dimensions of the torus, the one along which ranks count first: "YZX"
    hosts: str = ""  #: one for each rank
    cells: str = ""  #: one for each rank, or one for each host in the order of their first ranks


def placement(place: Place) -> Placement:
    """Without hosts and without a torus, consecutive ranks share a host. Raises InvalidInput."""
    if place.ranks > MOST_RANKS or place.nodes > place.ranks:
        raise InvalidInput(f"{place.ranks} ranks on {place.nodes} nodes: expected at most {MOST_RANKS}, one a node")
    if place.torus:
        return _in_torus(place)
    consecutive = np.arange(place.ranks) // -(-place.ranks // place.nodes)
    if not place.hosts:
        return Placement(consecutive, np.zeros(place.ranks, dtype=np.int64))
    hosts = _entries(place.hosts, place.ranks)
    if len(hosts) != place.ranks:
        raise InvalidInput(f"hosts of {len(hosts)} ranks: expected {place.ranks}")
    names = list(dict.fromkeys(hosts))
    host = _numbers(hosts, names)
    cells = _entries(place.cells, place.ranks) or ["one"] * place.ranks
    if len(cells) == len(names):
        cells = [cells[number] for number in host]
    if len(cells) != place.ranks:
        raise InvalidInput(f"{len(cells)} cells: expected one for each of {place.ranks} ranks or {len(names)} hosts")
    return Placement(host, _numbers(cells, list(dict.fromkeys(cells))))


def _entries(text: str, most: int) -> list[str]:
    entries: list[str] = []
    for word in text.split():
        name, star, times = word.rpartition("*")
        if not star:
            name, times = word, "1"
        if not name or not re.fullmatch("[0-9]{1,19}", times) or len(entries) + int(times) > most:
            raise InvalidInput(f"{word[:40]!r} in a list of {most} ranks: expected a name, or a name*TIMES")
        entries.extend([name] * int(times))
    return entries


def _numbers(entries: list[str], names: list[str]) -> Ints:
    number = {name: k for k, name in enumerate(names)}
    return np.array([number[entry] for entry in entries])


def _in_torus(place: Place) -> Placement:
    parts = place.torus.split("x")
    shape = tuple(int(part) for part in parts if re.fullmatch("[0-9]{1,19}", part))
    names = "XYZABC"[: len(parts)]
    nodes = int(np.prod(shape, dtype=object)) if shape else 0
    if len(shape) != len(parts) or not names or nodes < place.nodes or nodes > MOST_RANKS:
        raise InvalidInput(f"torus is {place.torus[:40]!r}: expected a shape of {place.nodes} nodes, such as 8x8x8")
    order = place.order or names
    if sorted(order) != sorted(names):
        raise InvalidInput(f"rank_order is {place.order!r}: expected each of {names} once, the fastest first")
    host = np.arange(place.ranks) // -(-place.ranks // place.nodes)
    coordinates = np.zeros((place.ranks, len(shape)), dtype=np.int64)
    rest = host
    for letter in order:
        dimension = names.index(letter)
        coordinates[:, dimension] = rest % shape[dimension]
        rest = rest // shape[dimension]
    return Placement(host, np.zeros(place.ranks, dtype=np.int64), shape, coordinates)
