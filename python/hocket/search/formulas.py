# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a pipelined chain takes where no link is shared: the first guess of the search, and its check."""

from __future__ import annotations

import math


def pipelined_chain_s(wire_s: float, ranks: int, chunks: int, latency_s: float) -> float:
    """(D/b)(1 + (n-2)/k) + (k+n-2)L [Patarasuk08]: n-2 ranks pass on chunks of D/k bytes, and each of the k chunks,
    one after another, and each of the n-2 hops after the first, costs L. `wire_s` is D/b."""
    hops = max(ranks - 2, 0)
    return wire_s * (1 + hops / chunks) + (chunks + hops) * latency_s


def best_chunks(wire_s: float, ranks: int, latency_s: float, most: int) -> int:
    """The k at which that is least: sqrt((n-2) D / (b L))."""
    if ranks <= 2:
        return 1
    if latency_s <= 0:
        return most
    exact = math.sqrt((ranks - 2) * wire_s / latency_s)
    around = {min(max(round_(exact), 1), most) for round_ in (math.floor, math.ceil)}
    return min(around, key=lambda chunks: (pipelined_chain_s(wire_s, ranks, chunks, latency_s), chunks))


def crossover_in_latencies(ranks: int, chunks: int) -> float:
    """D/b in units of L at which the chain of k chunks takes as long as one piece, which takes about log2(n) D/b.
    Infinite if the chain never wins."""
    saved = math.log2(ranks) - 1 - (ranks - 2) / chunks
    return (chunks + ranks - 2) / saved if saved > 0 else math.inf
