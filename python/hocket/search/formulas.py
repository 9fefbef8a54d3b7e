# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a pipelined chain takes where no link is shared: the first guess of the search, and its check."""

from __future__ import annotations

import math


def pipelined_chain_s(wire_s: float, ranks: int, segments: int, latency_s: float) -> float:
    """(D/b)(1 + (n-2)/k) + (k+n-2)L [Patarasuk08]: n-2 ranks pass on segments of D/k bytes, and each of the k segments,
    one after another, and each of the n-2 hops after the first, costs L. `wire_s` is D/b."""
    hops = max(ranks - 2, 0)
    return wire_s * (1 + hops / segments) + (segments + hops) * latency_s


def best_segments(wire_s: float, ranks: int, latency_s: float, most: int) -> int:
    """The k at which that is least: sqrt((n-2) D / (b L))."""
    if ranks <= 2:
        return 1
    if latency_s <= 0:
        return most
    exact = math.sqrt((ranks - 2) * wire_s / latency_s)
    around = {min(max(round_(exact), 1), most) for round_ in (math.floor, math.ceil)}
    return min(around, key=lambda segments: (pipelined_chain_s(wire_s, ranks, segments, latency_s), segments))


def crossover_in_latencies(ranks: int, segments: int) -> float:
    """D/b in units of L at which the chain of k segments takes as long as one segment, which takes about log2(n) D/b.
    Infinite if the chain never wins."""
    saved = math.log2(ranks) - 1 - (ranks - 2) / segments
    return (segments + ranks - 2) / saved if saved > 0 else math.inf
