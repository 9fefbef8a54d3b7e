# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""From which size on a pipelined broadcast beats one that sends the message in one segment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hocket.search.find import find

if TYPE_CHECKING:
    from hocket import CostModel, Network

SIZES = (256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304)
_PIPELINED = ("pipelined_chain",)


@dataclass(frozen=True)
class Crossing:
    bytes: int
    one_piece_s: float
    pipelined_s: float
    chunks: int


@dataclass(frozen=True)
class Crossover:
    rows: tuple[Crossing, ...]  # by size
    bytes: int | None  # the smallest size looked at from which on pipelined is faster; None = one segment always is


def crossover(
    network: Network,
    members: Sequence[int] | None = None,
    root: int = 0,
    costs: CostModel | None = None,
    one_piece_s: Callable[[int], float | None] = lambda _: None,
    sizes: Sequence[int] = SIZES,
    collective: str = "bcast",
    seed: int = 1,
) -> Crossover:
    """`one_piece_s(bytes)` is the time of the schedule in one segment to compare with; where it is None, that of the
    best binomial tree whose sends go one at a time.
    Between the sizes where the two change places the crossing is found by halving, to 2 %."""

    def row(size: int) -> Crossing:
        piped = find(collective, network, size, members, root, costs, algorithms=_PIPELINED, seed=seed)
        one = one_piece_s(size)
        if one is None:
            one = find(
                collective, network, size, members, root, costs, 1, algorithms=["binomial_in_turn"], seed=seed
            ).predicted_s
        return Crossing(size, one, piped.predicted_s, piped.chunks)

    rows = {size: row(size) for size in sizes}
    low = max((size for size in rows if rows[size].one_piece_s <= rows[size].pipelined_s), default=None)
    high = min((size for size in rows if low is None or size > low), default=None)
    while low is not None and high is not None and high > low * 1.02 and high - low > 1:
        middle = (low + high) // 2
        rows[middle] = row(middle)
        if rows[middle].one_piece_s <= rows[middle].pipelined_s:
            low = middle
        else:
            high = middle
    return Crossover(tuple(rows[size] for size in sorted(rows)), high)
