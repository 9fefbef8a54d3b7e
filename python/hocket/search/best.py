# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The best schedule of a collective on a network: in one segment or many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hocket.search.crossover import Crossover, crossover
from hocket.search.find import find
from hocket.search.limits import Limits
from hocket.search.optimal import ONE_SEGMENT_LIMIT_S, optimal_in_one_segment
from hocket.search.predict import simulate_call

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.search.found import Found


def best_schedule(
    network: Network,
    collective: str,
    num_bytes: int,
    root: int = 0,
    chunks: int | None = None,
    costs: CostModel | None = None,
) -> Found:
    """The schedule predicted to be fastest, the optimal one in one segment among them.

    The latter wins where messages are so small that cutting them does not pay.
    """
    limits = Limits(one_segment_s=ONE_SEGMENT_LIMIT_S)
    return find(collective, network, num_bytes, root=root, costs=costs, chunks=chunks, limits=limits)


def one_piece_crossover(network: Network, collective: str, root: int = 0, costs: CostModel | None = None) -> Crossover:
    """From which size on the pipelined chain is faster than the optimal schedule in one segment."""
    from hocket import CostModel

    costs = costs or CostModel.usual()
    ranks = range(network.num_ranks)

    def one_segment_s(num_bytes: int) -> float | None:
        best = optimal_in_one_segment(network, collective, num_bytes, root)
        if best is None:
            return None
        return min(
            simulate_call(schedule, ranks, num_bytes, network, costs)
            for schedule in (best.schedule, best.unordered_schedule)
        )

    return crossover(network, root=root, costs=costs, one_piece_s=one_segment_s, collective=collective)
