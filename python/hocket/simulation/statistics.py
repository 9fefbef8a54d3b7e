# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Summary of a simulation: quantiles of finish times, and the links that are used most."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hocket.networks.link_groups import capacities_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hocket import Fabric
    from hocket.networks.link_groups import Capacities

QUANTILES = {"p50": 0.50, "p90": 0.90, "p99": 0.99}


@dataclass(frozen=True)
class Bottleneck:
    """A link, or both directions of a half-duplex cable, and its share of the load."""

    source: str
    target: str
    half_duplex: bool
    bytes: float
    utilisation: float | None  #: of its bandwidth, from the start to the makespan; None = it has no limit


def finish_quantiles(finish_s: NDArray[np.float64]) -> dict[str, float | None]:
    """p50, p90 and p99 of the ranks that have finished: the smallest time by which that share of them has."""
    import numpy as np

    known = finish_s[~np.isnan(finish_s)]
    if not len(known):
        return dict.fromkeys(QUANTILES)
    values = np.quantile(known, list(QUANTILES.values()), method="inverted_cdf")
    return {name: float(value) for name, value in zip(QUANTILES, values, strict=True)}


def utilisations(capacities: Capacities, carried_bytes: NDArray[np.float64], makespan_s: float) -> NDArray[np.float64]:
    """Share of each capacity that was used until the makespan; 0 for those without a limit."""
    import numpy as np

    if makespan_s <= 0:
        return np.zeros(len(capacities))
    return carried_bytes / (capacities.bandwidth_bytes_per_s * makespan_s)


def by_use(capacities: Capacities, carried_bytes: NDArray[np.float64], makespan_s: float) -> NDArray[np.int64]:
    """The capacities that carried bytes, those first that were used most."""
    import numpy as np

    used = utilisations(capacities, carried_bytes, makespan_s)
    carried = np.flatnonzero(carried_bytes > 0)
    return carried[np.lexsort((carried, -carried_bytes[carried], -used[carried]))]


def bottlenecks(
    fabric: Fabric, link_bytes: NDArray[np.float64], makespan_s: float, most: int | None = None
) -> list[Bottleneck]:
    """The links that carried bytes, those first that were used most; all of them unless `most` is given."""
    import numpy as np

    capacities = capacities_of(fabric)
    carried_bytes = capacities.sum_of(link_bytes)
    used = utilisations(capacities, carried_bytes, makespan_s)
    order = by_use(capacities, carried_bytes, makespan_s)[:most]
    ends = fabric.link_ends()[capacities.first_link[order]]
    return [
        Bottleneck(
            fabric.node_name(int(source)),
            fabric.node_name(int(target)),
            bool(capacities.half_duplex[capacity]),
            float(carried_bytes[capacity]),
            float(used[capacity]) if np.isfinite(capacities.bandwidth_bytes_per_s[capacity]) else None,
        )
        for capacity, (source, target) in zip(order, ends, strict=True)
    ]


def peak_rss_bytes() -> int:
    """The most memory that this process has held so far, Python and libraries included."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
