# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traffic patterns by name, as `hocket simulate` takes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket import Traffic

#: Names, and what each pattern takes beside `ranks`.
PARAMETERS: dict[str, frozenset[str]] = {
    "random-ring": frozenset({"messages", "bytes", "spread", "seed"}),
    "random-permutation": frozenset({"messages", "bytes", "spread", "seed"}),
    "shift": frozenset({"messages", "bytes", "spread", "seed", "distance"}),
    "all-to-all": frozenset({"messages", "bytes", "spread", "seed"}),
    "incast": frozenset({"messages", "bytes", "spread", "seed", "target"}),
    "nearest-neighbour": frozenset({"messages", "bytes", "spread", "seed", "grid", "periodic"}),
    "matrix": frozenset(),
}
ACCEPTED = ", ".join(name if name != "matrix" else "matrix:FILE" for name in PARAMETERS)


@dataclass(frozen=True)
class Pattern:
    """`messages`: of each rank (to each peer, for all-to-all and nearest-neighbour)."""

    name: str  #: of PARAMETERS
    matrix_file: Path | None = None
    ranks: int | None = None  #: None = all of the network; a grid or a matrix has its own
    messages: int = 1
    bytes: int = 1_000_000
    spread: float = 0
    seed: int = 1
    distance: int = 1
    target: int = 0
    grid: tuple[int, ...] | None = None  #: None = as cubic as the number of ranks allows, in three dimensions
    periodic: bool = False


def pattern_kind(what: str) -> str | None:
    """The name of the pattern that `what` asks for; None = it is none."""
    name = what.partition(":")[0]
    return name if name in PARAMETERS and (name == "matrix") == (":" in what) else None


def make_traffic(pattern: Pattern, network_ranks: int) -> Traffic:
    """@raises InvalidInput if the pattern needs more ranks than the network has, or a parameter is out of range."""
    from hocket import Traffic

    ranks = network_ranks if pattern.ranks is None else pattern.ranks
    _check_room(ranks, network_ranks)
    sizes: dict[str, Any] = {"bytes": pattern.bytes, "spread": pattern.spread, "seed": pattern.seed}
    if pattern.name == "random-ring":
        return Traffic.random_ring(ranks, pattern.messages, **sizes)
    if pattern.name == "random-permutation":
        return Traffic.random_permutation(ranks, pattern.messages, **sizes)
    if pattern.name == "shift":
        return Traffic.shift(ranks, pattern.distance, pattern.messages, **sizes)
    if pattern.name == "all-to-all":
        return Traffic.all_to_all(ranks, pattern.messages, **sizes)
    if pattern.name == "incast":
        return Traffic.incast(ranks, pattern.target, pattern.messages, **sizes)
    if pattern.name == "nearest-neighbour":
        grid = pattern.grid or cubic_grid(ranks)
        points = 1
        for extent in grid:
            points *= extent
        _check_room(points, network_ranks)
        return Traffic.nearest_neighbour(list(grid), pattern.periodic, pattern.messages, **sizes)
    assert pattern.matrix_file is not None
    from hocket.io.traffic_matrix import read_traffic_matrix

    matrix = read_traffic_matrix(pattern.matrix_file)
    if len(matrix) > network_ranks:
        raise InvalidInput(
            f"{pattern.matrix_file}: the matrix has {len(matrix)} ranks, the network has {network_ranks}",
            "use a network with at least as many ranks",
        )
    return Traffic.from_matrix(matrix)


def cubic_grid(ranks: int) -> tuple[int, int, int]:
    """Three factors of `ranks`, the largest first, as close to each other as they can be (as MPI_Dims_create)."""

    def largest_divisor(number: int, limit: int) -> int:
        return next(divisor for divisor in range(limit, 0, -1) if number % divisor == 0)

    low = largest_divisor(ranks, _root(ranks, 3))
    middle = largest_divisor(ranks // low, _root(ranks // low, 2))
    third, second, first = sorted((low, middle, ranks // low // middle))
    return first, second, third


def default_in_flight(pattern: Pattern, network_ranks: int) -> int:
    """A stencil sends to all its neighbours at once; other patterns one message after the other."""
    if pattern.name != "nearest-neighbour":
        return 1
    grid = pattern.grid or cubic_grid(network_ranks if pattern.ranks is None else pattern.ranks)
    return max(1, sum(min(extent - 1, 2) for extent in grid))


def _root(number: int, degree: int) -> int:
    root = round(math.pow(number, 1 / degree))
    return root if root**degree <= number else root - 1


def _check_room(ranks: int, network_ranks: int) -> None:
    if ranks > network_ranks:
        raise InvalidInput(
            f"the pattern has {ranks} ranks, the network has {network_ranks}",
            "use a network with at least as many ranks, or fewer --ranks, or a smaller --grid",
        )
