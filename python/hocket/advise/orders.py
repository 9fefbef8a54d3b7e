# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Rank orders worth trying, from the structure of the network.

A pipelined chain or ring in the depth-first order of a tree crosses each directed link at most once, and a binomial
tree or a recursive halving over it keeps neighbours together, so that few of its messages leave a cluster. On links of
unequal speed it matters which branch comes first: the branches are taken as listed, fastest first, slowest first and
farthest last. On other networks a local search finds orders of less congestion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hocket.search.orders import orders_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hocket import Network


def candidate_orders(network: Network, members: Sequence[int]) -> list[tuple[int, ...]]:
    """Distinct orders of the ranks of a communicator (0 .. p-1) whose members are the given network ranks."""
    found = [tuple(range(len(members)))]
    if len(members) > 1:
        found += [order.order for order in orders_for(network, members)]
    return list(dict.fromkeys(found))
