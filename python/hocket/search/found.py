# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a search found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hocket.schedules.transfers import gap_of

if TYPE_CHECKING:
    from hocket import Schedule


@dataclass(frozen=True)
class Found:
    """A schedule, what it is predicted to take, and a time that no schedule of the collective can beat."""

    collective: str
    algorithm: str
    build: Callable[[], Schedule]  # of many ranks it takes much memory
    predicted_s: float
    lower_bound_s: float
    chunks: int  # segments of a message, for pipelining: what the algorithm is asked for
    order: tuple[int, ...]  # of the ranks of the communicator
    search_s: float
    how: str  # in words: algorithm, segments, where the order is from, the seed if chance took part
    tried: int  # schedules simulated, or predicted

    @cached_property
    def schedule(self) -> Schedule:
        return self.build()

    @property
    def gap(self) -> float:
        """By how much of the lower bound the prediction is above it; 0 = optimal, inf = the bound is 0."""
        return gap_of(self.predicted_s, self.lower_bound_s)

    def to_dict(self) -> dict[str, Any]:
        return {
            "collective": self.collective,
            "algorithm": self.algorithm,
            "predicted_s": self.predicted_s,
            "lower_bound_s": self.lower_bound_s,
            "gap": self.gap,
            "chunks": self.chunks,
            "order": list(self.order),
            "search_s": self.search_s,
            "how": self.how,
            "tried": self.tried,
        }
