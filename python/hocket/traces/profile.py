# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where a traced program spent its time in MPI: calls grouped by function, communicator and size."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hocket.reporter import SILENT, Reporter
from hocket.traces.rank_summary import RankSummary, in_mpi_ns
from hocket.traces.trace import Communicator, TraceFiles


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
    files: TraceFiles  #: all of which was read
    ranks: list[RankSummary]
    rows: list[ProfileRow]  #: the one with the longest total time first

    @property
    def values(self) -> dict[str, Any]:
        return {
            "format": "hocket.trace-profile/1",
            "trace": str(self.files.folder),
            "meta": self.files.meta,
            "complete": all(rank.complete for rank in self.ranks),
            "ranks": [asdict(rank) for rank in self.ranks],
            "communicators": [asdict(communicator) for communicator in self.files.communicators],
            "calls": [asdict(row) for row in self.rows],
        }


def run(request: ProfileRequest, reporter: Reporter = SILENT) -> Profile:
    """Reads the trace once, a part at a time. Raises InvalidInput for a damaged trace."""
    files = TraceFiles(request.trace)
    groups: dict[tuple[int, int, int], _Times] = {}

    def add(calls: npt.NDArray[Any]) -> None:
        if not len(calls):  # as the last part may be where recording was cut off
            return
        keys = np.stack([calls[name] for name in ("function", "communicator", "bytes")]).astype(np.int64)
        order = np.lexsort(keys[::-1])
        keys, calls = keys[:, order], calls[order]
        starts = np.flatnonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)]))
        for start, end in zip(starts, [*starts[1:], len(calls)], strict=True):
            function, communicator, size = keys[:, start].tolist()
            groups.setdefault((function, communicator, size), _Times()).add(calls[start:end])

    ranks = []
    with reporter.steps("reading the trace", files.ranks) as follow:
        for rank in range(files.ranks):
            ranks.append(files.read(rank, add))
            follow("")
    run_s = sum(rank.elapsed_s for rank in ranks) or 1.0
    communicators = files.communicators
    rows = [_row(key, times, files, communicators, run_s) for key, times in sorted(groups.items())]
    return Profile(files, ranks, sorted(rows, key=lambda row: -row.total_s))


class _Times:
    """How long calls took: their sum, and how many took how long.

    Up to MOST times are kept as they are; more are rounded to 11 binary digits, so that a median is right to 0.05 %.
    """

    MOST = 1 << 16

    def __init__(self) -> None:
        self.calls = self.total_ns = 0
        self.times_ns = np.zeros(0, np.float64)  # in order
        self.counts = np.zeros(0, np.int64)
        self.rounds = False

    def add(self, calls: npt.NDArray[Any]) -> None:
        total_ns, numbers = in_mpi_ns(calls), calls["calls"].astype(np.int64)
        self.calls += int(numbers.sum())
        self.total_ns += int(total_ns.sum())
        self._merge(total_ns / numbers, numbers)  # of polls that are one row the mean
        if len(self.times_ns) > self.MOST:
            self.rounds = True
            self._merge(self.times_ns[:0], self.counts[:0])

    def _merge(self, times_ns: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]) -> None:
        times = np.concatenate([self.times_ns, times_ns])
        if self.rounds:
            fraction, exponent = np.frexp(times)
            times = np.ldexp(np.round(fraction * 2**11), exponent - 11)
        self.times_ns, places = np.unique(times, return_inverse=True)
        self.counts = np.bincount(places, np.concatenate([self.counts, counts])).astype(np.int64)

    @property
    def median_s(self) -> float:
        ends = np.cumsum(self.counts)
        low, high = np.searchsorted(ends, [(self.calls - 1) // 2, self.calls // 2], "right")
        return float(self.times_ns[low] + self.times_ns[high]) * 0.5e-9


def _row(
    key: tuple[int, int, int], times: _Times, files: TraceFiles, communicators: list[Communicator], run_s: float
) -> ProfileRow:
    function, communicator, size = key
    known = communicators[communicator] if communicator >= 0 else None
    return ProfileRow(
        function=files.functions[function],
        communicator=known.id if known else None,
        communicator_size=len(known.members) if known else None,
        bytes=size if size >= 0 else None,
        calls=times.calls,
        total_s=times.total_ns * 1e-9,
        median_s=times.median_s,
        share=times.total_ns * 1e-9 / run_s,
    )
