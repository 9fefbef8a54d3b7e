# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The best schedule of a collective for a network and a size: rank order, shape and chunks, with a lower bound."""

from hocket.search.crossover import Crossover, crossover
from hocket.search.families import Family, families_of, searched_families
from hocket.search.find import find
from hocket.search.formulas import best_chunks, crossover_in_latencies, pipelined_chain_s
from hocket.search.found import Found
from hocket.search.orders import OrderFound, orders_at_once, orders_for

__all__ = [
    "Crossover",
    "Family",
    "Found",
    "OrderFound",
    "best_chunks",
    "crossover",
    "crossover_in_latencies",
    "families_of",
    "find",
    "orders_at_once",
    "orders_for",
    "pipelined_chain_s",
    "searched_families",
]
