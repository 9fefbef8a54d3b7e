# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket calibrate` finds: a network, the costs of messages, and how far both can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

from hocket import Network
from hocket.calibrate.messages import Sweep
from hocket.measure.transfers import CoreCosts

# The relative error of predictions that is still grade A, or B.
GRADES = {"A": 0.05, "B": 0.15}


@dataclass(frozen=True)
class LinkQuality:
    """Bandwidths in bytes/s, from the first node to the second and back, and their intervals over the rounds.

    Directions that have one bandwidth have one interval. None where there was one round.
    `error_without`: how far predictions of transfers at the same time are off, on the mean, if the link is left out;
    None for the link of a host, which cannot be left out.
    """

    between: tuple[str, str]
    bandwidth: float
    bandwidth_back: float
    interval: tuple[float, float] | None
    interval_back: tuple[float, float] | None
    error_without: float | None


@dataclass(frozen=True)
class Bursts:
    """What passes a link at once after a pause: the larger of `burst_bytes` and what it carries in `burst_s`."""

    burst_bytes: float
    burst_s: float


@dataclass(frozen=True)
class Errors:
    """|predicted / measured - 1|."""

    median: float
    p95: float


@dataclass(frozen=True)
class Calibration:
    network: Network
    mpi: str
    launches: int
    rounds: int  # of each launch
    seconds: float  # that all took
    costs: CoreCosts
    duplex: float  # what both of two transfers in opposite directions keep of their rate alone, the median over pairs
    rendezvous_bytes: int | None  # messages from this size on wait for their receiver
    bursts: Bursts | None  # None = links have no token buckets
    alone: Errors  # of single messages of 1 byte to some megabytes, of sizes that nothing was fitted to
    short: Errors | None  # of those of them that are mostly latency and the work of processors
    long: Errors | None  # of the others, mostly bytes on their way
    together: Errors  # of all hosts sending at once, in pairings that nothing was fitted to
    empty_ratio: float  # what empty messages took between those of other pairs / among those of their pair
    error_with_links: float  # the mean error on what the links were fitted to
    spread: float  # the mean of |log(time in a round / median over the rounds)|
    interval_confidence: float | None  # of the intervals of links, if there are any
    links: tuple[LinkQuality, ...]
    sweeps: tuple[Sweep, ...]

    @property
    def grade(self) -> str:
        """A, B or C, by what bandwidths decide: 19 of 20 long messages, and half of those at the same time."""
        return _grade(max(self.together.median, self.long.p95 if self.long else 0.0))

    @property
    def grade_short(self) -> str | None:
        """A, B or C, by 19 of 20 short messages; None if there were none."""
        return _grade(self.short.p95) if self.short else None


def _grade(error: float) -> str:
    return next((grade for grade, limit in GRADES.items() if error <= limit), "C")
