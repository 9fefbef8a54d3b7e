# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a trace tells of each rank as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class RankEnd:
    """How the recording of a rank ended."""

    rank: int
    complete: bool
    end: str  # "finalize", "exit", "abort", "limit" (of the file's size) or "cut off"
    stopped_in: str  # the call that the main thread was in when recording was cut off; empty: none
    elapsed_s: float  # from its first recorded call to its last


@dataclass(frozen=True)
class RankSummary(RankEnd):
    """What one rank did from its first recorded call to its last."""

    host: str
    calls: int
    mpi_s: float  # wall time in MPI calls of all threads
    mpi_cpu_s: float  # CPU time in MPI calls of all threads
    compute_cpu_s: float  # CPU time of the main thread between MPI calls


def shortfalls(ranks: Iterable[RankEnd]) -> list[str]:
    """Lines about the ranks whose trace is a part: one for those that reached their limit, one for each other."""
    ranks = list(ranks)
    lines = []
    full = [rank for rank in ranks if rank.end == "limit"]
    if full:
        first = min(full, key=lambda rank: rank.elapsed_s)
        whose = f"rank {first.rank}" if len(full) == 1 else f"{len(full)} ranks, first that of rank {first.rank},"
        lines.append(
            f"the trace of {whose} reached the limit of its size after {first.elapsed_s:.2g} s; what came then is left "
            "out: for more, hocket record --limit 1GiB, or HOCKET_TRACE_LIMIT=1GiB"
        )
    for rank in ranks:
        if not rank.complete and rank.end != "limit":
            end = f"{rank.end}, in {rank.stopped_in}" if rank.stopped_in else rank.end
            lines.append(f"rank {rank.rank} did not reach MPI_Finalize, recording ended by {end}: its trace is a part")
    return lines


class Summing:
    """The sums of a RankSummary, over calls that come some at a time (dtype CALL)."""

    def __init__(self) -> None:
        self.calls = self.mpi_ns = self.mpi_cpu_ns = self.compute_cpu_ns = 0
        self.first_ns, self.last_ns = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        self.last_cpu_ns: int | None = None  # of the main thread

    def add(self, calls: npt.NDArray[Any]) -> None:
        if not len(calls):
            return
        main = calls[calls["thread"] == 0]
        self.calls += int(calls["calls"].sum())
        self.first_ns = min(self.first_ns, int(calls["enter_ns"].min()))
        self.last_ns = max(self.last_ns, int(calls["exit_ns"].max()))
        self.mpi_ns += int(in_mpi_ns(calls).sum())
        self.mpi_cpu_ns += int(in_mpi_ns(calls, "_cpu").sum())
        if not len(main):
            return
        if self.last_cpu_ns is not None:
            self.compute_cpu_ns += int(main["enter_cpu_ns"][0]) - self.last_cpu_ns
        between = (main["enter_cpu_ns"][1:] - main["exit_cpu_ns"][:-1]).sum()
        self.compute_cpu_ns += int(between + main["outside_cpu_ns"].sum())
        self.last_cpu_ns = int(main["exit_cpu_ns"][-1])

    def summary(self, rank: int, host: str, end: str, stopped_in: str) -> RankSummary:
        return RankSummary(
            rank=rank,
            host=host,
            complete=end == "finalize",
            end=end,
            stopped_in=stopped_in,
            calls=self.calls,
            elapsed_s=(self.last_ns - self.first_ns) * 1e-9 if self.calls else 0.0,
            mpi_s=self.mpi_ns * 1e-9,
            mpi_cpu_s=self.mpi_cpu_ns * 1e-9,
            compute_cpu_s=self.compute_cpu_ns * 1e-9,
        )


def filters(meta: Mapping[str, Any]) -> list[str]:
    """A line for the user if calls were left out of the trace with these meta data on purpose."""
    only, without = (", ".join(map(str, meta.get(key) or ())) for key in ("only", "without"))
    if not only and not without:
        return []
    what = f"recorded were only {only}" if only else "recorded was all"
    return [f"{what}{f' without {without}' if without else ''}: time in other MPI calls counts as computation"]


def in_mpi_ns(calls: npt.NDArray[Any], clock: str = "") -> npt.NDArray[np.int64]:
    """What each row took in MPI; `clock` "_cpu": CPU time."""
    found: npt.NDArray[np.int64] = calls[f"exit{clock}_ns"] - calls[f"enter{clock}_ns"] - calls[f"outside{clock}_ns"]
    return found
