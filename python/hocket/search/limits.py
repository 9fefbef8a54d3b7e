# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a schedule may look like, and how long the search for it may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hocket import CostModel

# Smaller segments drown in the cost of a message; a pipeline of larger ones fills late, and ranks wait for each other.
# Measured: a ring of 1 MB at 200 Mbit/s takes 42.7 ms in segments of 31 KB, 38.4 ms in those of 16 KB (Open MPI 4.1).
SEGMENT_BYTES = (4096, 8192, 16384)


@dataclass(frozen=True)
class Limits:
    """The default is for a schedule to look at or to export, `of_plan` for one that a program runs."""

    segments: int | None = None  # exactly so many; None = as many as are best
    segment_bytes: tuple[int, ...] = ()  # the sizes of a segment to choose from; empty = any between the next two
    # What costs a message beside its time on the wire is never known so well that smaller ones are worth a try.
    least_segment_bytes: int = 512
    most_segment_bytes: int | None = None
    families: tuple[str, ...] | None = None  # names of those to choose from; None = all
    messages: int = 100_000  # of one schedule: more take seconds to simulate
    carried_messages: int | None = None  # of one that no algorithm with a name gives; None = as of any, 0 = no such one
    one_segment_s: float = 0.0  # for the search of the optimal schedule in one segment
    waiting_exchanges: bool = True  # two ranks may send each other messages that wait for their receiver
    # Of candidates whose predictions are this close, the one of the fewest segments is taken.
    nearly_equal: float = 0.002
    runners_up: int = 0
    refined: int | None = 2  # of the best pairs of family and order; all the hopeful ones if None
    reorderings: int = 300  # orders of scatter and gather that are tried by moving ranks

    @staticmethod
    def of_plan(costs: CostModel, segment_bytes: tuple[int, ...] | None = None) -> Limits:
        return Limits(
            segment_bytes=segment_bytes or eager_segments(costs.rendezvous_limit_bytes),
            messages=2_000_000,  # a plan is made for many runs, and may take a minute
            carried_messages=20_000,  # the plan holds them all
            one_segment_s=1.0,
            waiting_exchanges=False,
            nearly_equal=0.03,  # what a message costs beside its time on the wire is the least certain of the model
            runners_up=2,
            refined=None,
            reorderings=0,
        )


def eager_segments(rendezvous_bytes: int) -> tuple[int, ...]:
    """The sizes of segments that need not wait for their receiver, or all if all do.

    The simulation knows the request and the answer, and not that a receiver computes or sleeps. Measured with MPICH 4.0
    over TCP, whose limit is 19 KiB: a ring of 1 MB takes 160 ms in segments of 16 KiB, and 310 ms in those of 21 KiB.
    """
    return tuple(size for size in SEGMENT_BYTES if size < rendezvous_bytes) or SEGMENT_BYTES
