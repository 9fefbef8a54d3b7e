# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The links of a network by level, so that six links and millions of them can be looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hocket import Fabric

MOST_LEVELS = 12  #: nodes farther from all hosts count as one level
MOST_BINS = 64  #: of time, for each row
MOST_CELLS = 1 << 25  #: rows times bins that are recorded: a quarter of a GiB


@dataclass(frozen=True)
class Capacities:
    """What has a bandwidth of its own: a link, or both directions of a half-duplex cable. Counted from 0."""

    of_link: NDArray[np.int32]
    first_link: NDArray[np.int32]  #: of each capacity
    half_duplex: NDArray[np.bool_]
    bandwidth_bytes_per_s: NDArray[np.float64]  #: infinity = unlimited

    def __len__(self) -> int:
        return len(self.first_link)

    def sum_of(self, link_values: NDArray[np.float64]) -> NDArray[np.float64]:
        import numpy as np

        if len(self) == len(self.of_link):
            return link_values
        return np.bincount(self.of_link, weights=link_values, minlength=len(self)).astype(np.float64)


def capacities_of(fabric: Fabric) -> Capacities:
    import numpy as np

    bandwidths, numbers = fabric.link_bandwidths(), fabric.link_capacities()
    links = np.arange(len(numbers), dtype=np.int32)
    if np.array_equal(numbers, links):  # full duplex: no need to sort millions
        return Capacities(links, links, np.broadcast_to(np.False_, len(links)), bandwidths)
    _, first, of_link, count = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    return Capacities(of_link.astype(np.int32), first.astype(np.int32), count > 1, bandwidths[first])


@dataclass(frozen=True)
class LinkGroups:
    """Groups of links between the same two levels: a node's level is its distance from the nearest host."""

    names: list[str]  #: "hosts → level 1", from the hosts up, then down, then within a level; half-duplex ones last
    group: NDArray[np.int8]  #: of each capacity
    capacities: Capacities


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
    capacities = capacities_of(fabric)
    below, above = (level[nodes[capacities.first_link]].astype(np.int16) for nodes in (source, target))
    swapped = capacities.half_duplex & (below > above)
    below, above = np.where(swapped, above, below), np.where(swapped, below, above)
    levels = MOST_LEVELS + 1
    kind = (capacities.half_duplex * levels + below) * levels + above
    found = [(*divmod(int(value) // levels, levels), int(value) % levels) for value in np.unique(kind)]
    found.sort(key=lambda one: (one[0], (one[1] > one[2]) + 2 * (one[1] == one[2]), one))
    number_of = np.zeros(2 * levels**2, dtype=np.int8)
    for number, (both_ways, low, high) in enumerate(found):
        number_of[(both_ways * levels + low) * levels + high] = number
    names = [f"{_level_name(low)} {_arrow(both_ways)} {_level_name(high)}" for both_ways, low, high in found]
    return LinkGroups(names, number_of[kind], capacities)


@dataclass(frozen=True)
class LinkRows:
    """What is recorded over time: each capacity in a row of its own, or neighbours of a group together."""

    row_of_capacity: NDArray[np.int32]
    row_of_link: NDArray[np.int32]
    capacities_in_row: NDArray[np.int64]
    group_of_row: NDArray[np.int8]
    bins: int


def rows_of(groups: LinkGroups, bins: int = MOST_BINS) -> LinkRows:
    """Rows in the order of the capacities; as many in a row as keep the memory bounded."""
    import numpy as np

    size, of_link = len(groups.capacities), groups.capacities.of_link
    together = max(1, -(-size * bins // MOST_CELLS))
    if together == 1:
        rows = np.arange(size, dtype=np.int32)
        return LinkRows(rows, of_link, np.ones(size, dtype=np.int64), groups.group, bins)
    rows = np.empty(size, dtype=np.int32)
    group_of_row: list[int] = []
    for group in range(len(groups.names)):
        members = np.flatnonzero(groups.group == group)
        rows[members] = len(group_of_row) + np.arange(len(members)) // together
        group_of_row += [group] * -(-len(members) // together)
    return LinkRows(rows, rows[of_link], np.bincount(rows), np.array(group_of_row, dtype=np.int8), bins)


def capacity_names(fabric: Fabric, capacities: Capacities) -> Callable[[int], str]:
    """Of a capacity: "h0 → s0", or "h0 ↔ s0" where both directions share it."""
    ends = fabric.link_ends()

    def name(capacity: int) -> str:
        source, target = ends[capacities.first_link[capacity]]
        arrow = _arrow(capacities.half_duplex[capacity])
        return f"{fabric.node_name(int(source))} {arrow} {fabric.node_name(int(target))}"

    return name


def _arrow(both_ways: Any) -> str:
    return "↔" if both_ways else "→"


def _level_name(level: int) -> str:
    return "hosts" if level == 0 else f"level {level}" + (" and above" if level == MOST_LEVELS else "")
