# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The best schedule of a collective on a network: one piece or many."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hocket.errors import InvalidInput
from hocket.search.crossover import Crossover, crossover
from hocket.search.find import find
from hocket.search.optimal import COLLECTIVES, OptimalSchedule, optimal_schedule

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.search.found import Found

#: A schedule of one piece that is within a per cent of the optimum, or the best after this time, is good enough to be
#: compared: the costs of messages, which the search does not know, are less certain.
ONE_PIECE_LIMIT_S, ONE_PIECE_GAP = 1.0, 0.01
MOST_ONE_PIECE_RANKS = 256


def best_schedule(
    network: Network,
    collective: str,
    num_bytes: int,
    root: int = 0,
    chunks: int | None = None,
    costs: CostModel | None = None,
) -> Found:
    """The schedule predicted to be fastest: what `find` gives, or the optimal one of one piece.

    The latter wins where messages are so small that cutting them does not pay.
    """
    found = find(collective, network, num_bytes, root=root, costs=costs, chunks=chunks)
    if chunks not in (None, 1) or not serves_one_piece(network, collective, num_bytes, network.num_ranks):
        return found
    try:
        whole = _found(one_piece(network, collective, num_bytes, root), network, costs)
    except InvalidInput:  # links so slow or messages so large that it cannot count their times
        return found
    whole = dataclasses.replace(whole, lower_bound_s=max(whole.lower_bound_s, found.lower_bound_s))
    best = whole if whole.predicted_s < found.predicted_s else found
    return dataclasses.replace(best, search_s=found.search_s + whole.search_s, tried=found.tried + 1)


def one_piece_crossover(network: Network, collective: str, root: int = 0, costs: CostModel | None = None) -> Crossover:
    """From which size on the pipelined chain is faster than the optimal schedule of one piece."""

    def one_piece_s(num_bytes: int) -> float:
        return _found(one_piece(network, collective, num_bytes, root), network, costs).predicted_s

    given = one_piece_s if serves_one_piece(network, collective, 1, network.num_ranks) else None
    return crossover(network, root=root, costs=costs, one_piece_s=given, collective=collective)


def serves_one_piece(network: Network, collective: str, num_bytes: int, num_members: int) -> bool:
    """Whether `one_piece` is for such a call."""
    return collective in COLLECTIVES and network.is_tree and num_bytes > 0 and 1 < num_members <= MOST_ONE_PIECE_RANKS


def one_piece(
    network: Network, collective: str, num_bytes: int, root: int = 0, members: Sequence[int] | None = None
) -> OptimalSchedule:
    return optimal_schedule(
        network, collective, num_bytes, root, members, time_limit_s=ONE_PIECE_LIMIT_S, gap=ONE_PIECE_GAP
    )


def _found(best: OptimalSchedule, network: Network, costs: CostModel | None) -> Found:
    """With its time as messages cost it."""
    from hocket import CostModel, lower, simulate
    from hocket.search.found import Found

    costs = costs or CostModel.usual()
    told_s, untold_s = (
        simulate(lower(schedule, best.bytes), network, costs).makespan_s
        for schedule in (best.schedule, best.untold_schedule)
    )
    return Found(
        collective=best.collective,
        schedule=best.schedule if told_s <= untold_s else best.untold_schedule,
        predicted_s=min(told_s, untold_s),
        lower_bound_s=0.0,  # of one piece alone; others may be faster
        chunks=1,
        order=tuple(range(network.num_ranks)),
        search_s=best.search_s,
        how=f"{'optimal' if best.status == 'optimal' else 'searched'} schedule of one piece",
        tried=1,
    )
