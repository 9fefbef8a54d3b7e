# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The best schedule of a collective on a network: one piece or many."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from hocket.search.find import find
from hocket.search.optimal import COLLECTIVES, optimal_schedule

if TYPE_CHECKING:
    from hocket import Network
    from hocket.search.found import Costs, Found

#: A schedule of one piece that is within a per cent of the optimum after this time is good enough to be compared.
ONE_PIECE_LIMIT_S, ONE_PIECE_GAP = 2.0, 0.01
MOST_ONE_PIECE_RANKS = 256


def best_schedule(
    network: Network,
    collective: str,
    num_bytes: int,
    root: int = 0,
    chunks: int | None = None,
    costs: Costs | None = None,
) -> Found:
    """The schedule predicted to be fastest: what `find` gives, or the one that `optimal_schedule` gives in one piece.

    The latter wins where messages are so small that cutting them does not pay.
    """
    found = find(collective, network, num_bytes, root=root, costs=costs, chunks=chunks)
    if chunks not in (None, 1) or not serves_one_piece(network, collective, num_bytes):
        return found
    whole = one_piece(network, collective, num_bytes, root, costs)
    if whole.predicted_s < found.predicted_s:
        return dataclasses.replace(
            whole, lower_bound_s=found.lower_bound_s, search_s=found.search_s + whole.search_s, tried=found.tried + 1
        )
    return dataclasses.replace(found, search_s=found.search_s + whole.search_s, tried=found.tried + 1)


def serves_one_piece(network: Network, collective: str, num_bytes: int) -> bool:
    return (
        collective in COLLECTIVES
        and network.is_tree
        and num_bytes > 0
        and 1 < network.num_ranks <= MOST_ONE_PIECE_RANKS
    )


def one_piece(network: Network, collective: str, num_bytes: int, root: int, costs: Costs | None = None) -> Found:
    """The optimal schedule of one piece with its time as messages cost it, which the search does not know."""
    from hocket import lower
    from hocket.search.found import Found

    if costs is None:
        from hocket.advise.costs import MessageCosts

        costs = MessageCosts()
    best = optimal_schedule(network, collective, num_bytes, root, time_limit_s=ONE_PIECE_LIMIT_S, gap=ONE_PIECE_GAP)
    return Found(
        collective=collective,
        schedule=best.schedule,
        predicted_s=costs.simulate(lower(best.schedule, num_bytes), network).makespan_s,
        lower_bound_s=best.lower_bound_s,
        chunks=1,
        order=tuple(range(network.num_ranks)),
        search_s=best.search_s,
        how=f"{'optimal' if best.status == 'optimal' else 'searched'} schedule of one piece",
        tried=1,
    )
