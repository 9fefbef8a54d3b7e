# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The messages of a schedule on a network with their times, as tables, drawings and JSON show them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hocket.export import Transfer


def gap_of(makespan_s: float, lower_bound_s: float) -> float:
    """By how much of the bound a schedule is above it; inf where nothing but 0 is known to bound it."""
    if lower_bound_s > 0:
        return makespan_s / lower_bound_s - 1
    return math.inf if makespan_s > 0 else 0.0


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
