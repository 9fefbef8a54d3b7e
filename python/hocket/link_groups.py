# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The links of a network by level, so that six links and millions of them can be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hocket import Fabric

MOST_LEVELS = 12  #: nodes farther from all hosts count as one level
MOST_BINS = 64  #: of time, for each row
MOST_CELLS = 1 << 25  #: rows times bins that are recorded: a quarter of a GiB


@dataclass(frozen=True)
class LinkGroups:
    """Groups of links between the same two levels: a node's level is its distance from the nearest host."""

    names: list[str]  #: "hosts → level 1", from the hosts up, then down, then within a level
    group: NDArray[np.int8]  #: of each link


def group_links(fabric: Fabric) -> LinkGroups:
    import numpy as np

    ends = fabric.link_ends()
    source, target = ends[:, 0], ends[:, 1]
    level = np.full(fabric.num_nodes, MOST_LEVELS, dtype=np.int8)
    level[[fabric.node_of(rank) for rank in range(fabric.num_ranks)]] = 0
    for distance in range(MOST_LEVELS):
        next_level = target[level[source] == distance]
        next_level = next_level[level[next_level] > distance + 1]
        if not len(next_level):
            break
        level[next_level] = distance + 1
    below, above = level[source].astype(np.int16), level[target].astype(np.int16)
    pair = below * (MOST_LEVELS + 1) + above
    found = [divmod(int(value), MOST_LEVELS + 1) for value in np.unique(pair)]
    found.sort(key=lambda levels: ((levels[0] > levels[1]) + 2 * (levels[0] == levels[1]), levels))
    number_of = np.zeros((MOST_LEVELS + 1) ** 2, dtype=np.int8)
    for number, (low, high) in enumerate(found):
        number_of[low * (MOST_LEVELS + 1) + high] = number
    return LinkGroups([f"{_level_name(low)} → {_level_name(high)}" for low, high in found], number_of[pair])


@dataclass(frozen=True)
class LinkRows:
    """What is recorded over time: each link in a row of its own, or neighbours of a group together."""

    row_of_link: NDArray[np.int32]
    links_in_row: NDArray[np.int64]
    group_of_row: NDArray[np.int8]
    bins: int


def rows_of(groups: LinkGroups, bins: int = MOST_BINS) -> LinkRows:
    """Rows in the order of the links; as many links in a row as keep the memory bounded."""
    import numpy as np

    num_links = len(groups.group)
    together = max(1, -(-num_links * bins // MOST_CELLS))
    if together == 1:
        return LinkRows(np.arange(num_links, dtype=np.int32), np.ones(num_links, dtype=np.int64), groups.group, bins)
    row_of_link = np.empty(num_links, dtype=np.int32)
    group_of_row: list[int] = []
    for group in range(len(groups.names)):
        members = np.flatnonzero(groups.group == group)
        row_of_link[members] = len(group_of_row) + np.arange(len(members)) // together
        group_of_row += [group] * -(-len(members) // together)
    return LinkRows(row_of_link, np.bincount(row_of_link), np.array(group_of_row, dtype=np.int8), bins)


def link_name(fabric: Fabric, source: int, target: int) -> str:
    return f"{fabric.node_name(source)} → {fabric.node_name(target)}"


def check_bins(bins: int) -> None:
    if not 1 <= bins <= 4096:
        raise InvalidInput(f"{bins} bins of time; accepted: 1 to 4096")


def _level_name(level: int) -> str:
    return "hosts" if level == 0 else f"level {level}" + (" and above" if level == MOST_LEVELS else "")
