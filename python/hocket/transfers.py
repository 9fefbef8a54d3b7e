# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The messages of a schedule on a network with their times, as tables, drawings and JSON show them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hocket.export import Transfer


@dataclass(frozen=True)
class TimedTransfer:
    """One message: from its first byte sent to its last byte received, in seconds from the start."""

    source: int
    target: int
    start_s: float
    end_s: float
    chunk: int = 0  # the first of those that it carries


def timed(transfers: Iterable[Transfer]) -> tuple[TimedTransfer, ...]:
    """Without the messages that carry nothing."""
    return tuple(TimedTransfer(t.source, t.target, t.start_s, t.end_s, t.chunks[0][0]) for t in transfers if t.chunks)
