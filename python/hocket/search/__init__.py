# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The best schedule of a collective for a network and a size: rank order, shape and segments, with a lower bound."""

from hocket.search.candidates import Candidate, Candidates
from hocket.search.crossover import Crossover, crossover
from hocket.search.decide import RUNNER_UP_MARGIN, Decision, Predicted, by_preference, decide
from hocket.search.families import Family, searched_families, sparing_families
from hocket.search.find import find
from hocket.search.formulas import best_segments, crossover_in_latencies, pipelined_chain_s
from hocket.search.found import Found
from hocket.search.limits import Limits
from hocket.search.orders import OrderFound, orders_at_once, orders_for
from hocket.search.predict import Call, predict, serves, simulate_call

best_chunks = best_segments  # its former name

__all__ = [
    "RUNNER_UP_MARGIN",
    "Call",
    "Candidate",
    "Candidates",
    "Crossover",
    "Decision",
    "Family",
    "Found",
    "Limits",
    "OrderFound",
    "Predicted",
    "best_chunks",
    "best_segments",
    "by_preference",
    "crossover",
    "crossover_in_latencies",
    "decide",
    "find",
    "orders_at_once",
    "orders_for",
    "pipelined_chain_s",
    "predict",
    "searched_families",
    "serves",
    "simulate_call",
    "sparing_families",
]
