# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which ranks share a host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hocket.measure.transfers import Place


@dataclass(frozen=True)
class Hosts:
    """In the order of their least ranks. Names are unique: of hosts of one name, the second is called `name-2`."""

    names: tuple[str, ...]
    ranks: tuple[tuple[int, ...], ...]

    @property
    def of_ranks(self) -> list[str]:
        """The host of each rank."""
        placed = {rank: name for name, ranks in zip(self.names, self.ranks, strict=True) for rank in ranks}
        return [placed[rank] for rank in range(len(placed))]


def hosts_of(places: Sequence[Place]) -> Hosts:
    ranks: dict[int, list[int]] = {}
    for rank, place in enumerate(places):
        ranks.setdefault(place.first, []).append(rank)
    names: list[str] = []
    for first in ranks:
        name, number = places[first].host, 1
        while name in names:
            number += 1
            name = f"{places[first].host}-{number}"
        names.append(name)
    return Hosts(tuple(names), tuple(map(tuple, ranks.values())))
