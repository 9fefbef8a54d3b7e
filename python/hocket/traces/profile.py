# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where a traced program spent its time in MPI: calls grouped by function, communicator and size."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hocket.reporter import SILENT, Reporter
from hocket.traces.trace import RankSummary, Trace, in_mpi_ns


@dataclass(frozen=True)
class ProfileRow:
    function: str
    communicator: int | None
    communicator_size: int | None
    bytes: int | None
    calls: int  # over all ranks
    total_s: float
    median_s: float
    share: float  # of the run time of all ranks


@dataclass(frozen=True)
class ProfileRequest:
    trace: Path


@dataclass(frozen=True)
class Profile:
    trace: Trace
    ranks: list[RankSummary]
    rows: list[ProfileRow]  #: the one with the longest total time first

    @property
    def values(self) -> dict[str, Any]:
        return {
            "format": "hocket.trace-profile/1",
            "trace": str(self.trace.folder),
            "meta": self.trace.meta,
            "complete": all(rank.complete for rank in self.ranks),
            "ranks": [asdict(rank) for rank in self.ranks],
            "communicators": [asdict(communicator) for communicator in self.trace.communicators],
            "calls": [asdict(row) for row in self.rows],
        }


def run(request: ProfileRequest, reporter: Reporter = SILENT) -> Profile:
    trace = Trace.open(request.trace)
    ranks = [trace.summary(rank) for rank in range(trace.ranks)]
    return Profile(trace, ranks, profile(trace))


def profile(trace: Trace) -> list[ProfileRow]:
    """The rows, the one with the longest total time first."""
    calls = np.concatenate([trace.calls(rank)[["function", "communicator", "bytes"]] for rank in range(trace.ranks)])
    if not len(calls):
        return []
    totals_ns = np.concatenate([in_mpi_ns(trace.calls(rank)) for rank in range(trace.ranks)])
    numbers = np.concatenate([trace.calls(rank)["calls"] for rank in range(trace.ranks)])
    times_ns = totals_ns / numbers  # of polls that are one row the mean
    run_s = sum(trace.summary(rank).elapsed_s for rank in range(trace.ranks)) or 1.0
    # Sorted by group and, inside a group, by time: the median is in the middle.
    order = np.lexsort((times_ns, calls["bytes"], calls["communicator"], calls["function"]))
    calls, times_ns, ends = calls[order], times_ns[order], np.cumsum(numbers[order])
    starts = np.flatnonzero(np.concatenate([[True], calls[1:] != calls[:-1]]))
    counts = np.add.reduceat(numbers[order], starts)
    totals_s = np.add.reduceat(totals_ns[order], starts) * 1e-9
    before = ends[starts] - numbers[order][starts]
    low, high = (np.searchsorted(ends, before + middle, "right") for middle in ((counts - 1) // 2, counts // 2))
    medians_s = (times_ns[low] + times_ns[high]) * 0.5e-9
    rows = []
    for start, count, total_s, median_s in zip(starts, counts, totals_s, medians_s, strict=True):
        function, communicator, size = (int(value) for value in calls[start])
        known = trace.communicators[communicator] if communicator >= 0 else None
        rows.append(
            ProfileRow(
                function=trace.functions[function],
                communicator=known.id if known else None,
                communicator_size=len(known.members) if known else None,
                bytes=size if size >= 0 else None,
                calls=int(count),
                total_s=float(total_s),
                median_s=float(median_s),
                share=float(total_s) / run_s,
            )
        )
    return sorted(rows, key=lambda row: -row.total_s)
