# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a simulation is told by: quantiles of finish times, and the links that are used most."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hocket import Fabric

QUANTILES = {"p50": 0.50, "p90": 0.90, "p99": 0.99}


@dataclass(frozen=True)
class Bottleneck:
    """A directed link and its share of the load."""

    link: int
    source: str
    target: str
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


def utilisations(
    link_bytes: NDArray[np.float64], bandwidths: NDArray[np.float64], makespan_s: float
) -> NDArray[np.float64]:
    """Share of each link's bandwidth that was used until the makespan; 0 for links without a limit."""
    import numpy as np

    if makespan_s <= 0:
        return np.zeros(len(link_bytes))
    return link_bytes / (bandwidths * makespan_s)


def bottlenecks(
    fabric: Fabric, link_bytes: NDArray[np.float64], makespan_s: float, most: int | None
) -> list[Bottleneck]:
    """The links that carried bytes, those first that were used most; all of them unless `most` is given."""
    import numpy as np

    bandwidths = fabric.link_bandwidths()
    used = utilisations(link_bytes, bandwidths, makespan_s)
    carried = np.flatnonzero(link_bytes > 0)
    order = carried[np.lexsort((carried, -link_bytes[carried], -used[carried]))][:most]
    ends = fabric.link_ends()[order]
    return [
        Bottleneck(
            int(link),
            fabric.node_name(int(source)),
            fabric.node_name(int(target)),
            float(link_bytes[link]),
            float(used[link]) if np.isfinite(bandwidths[link]) else None,
        )
        for link, (source, target) in zip(order, ends, strict=True)
    ]


def peak_rss_bytes() -> int:
    """The most memory that this process has held so far, Python and libraries included."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
