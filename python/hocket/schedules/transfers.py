# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The messages of a schedule on a network with their times, as tables, drawings and JSON show them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any


def gap_of(makespan_s: float, lower_bound_s: float) -> float:
    """By how much of the bound a schedule is above it; inf where nothing but 0 is known to bound it."""
    if lower_bound_s > 0:
        return makespan_s / lower_bound_s - 1
    return math.inf if makespan_s > 0 else 0.0


@dataclass(frozen=True)
class Transfer:
    source: int
    target: int
    chunks: tuple[tuple[int, int], ...]  # (first, count)
    start_s: float  # when the sender begins with it
    end_s: float  # when the receiver has it
    bytes: int
    reduces: bool  # the receiver combines it with its own
    after: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]  # (from, chunks): what the sender must have received

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class TimedTransfer:
    """One message: from its first byte sent to its last byte received, in seconds from the start."""

    source: int
    target: int
    start_s: float
    end_s: float
    bytes: int
    chunk: int = 0  # the first of those that it carries


def timed(transfers: Iterable[Transfer]) -> tuple[TimedTransfer, ...]:
    """Without the messages that carry nothing, unless none carries anything, as in a barrier."""
    found = list(transfers)
    carrying = [t for t in found if t.chunks] or found
    return tuple(
        TimedTransfer(t.source, t.target, t.start_s, t.end_s, t.bytes, t.chunks[0][0] if t.chunks else 0)
        for t in carrying
    )
