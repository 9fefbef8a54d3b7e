# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the times of the launches say of each mode."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

from hocket.bench.overlap.measure import Case
from hocket.bench.overlap.modes import BASE

BIMODAL = 1.3  # third quartile / first: two states rather than one time


@dataclass(frozen=True)
class Row:
    """A mode in a case; times are medians over the repetitions of all launches (formulas: docs/how-to/overlap.md)."""

    mode: str
    mpi: str
    network: str | None  # None = the machine itself
    ranks: int
    collective: str
    bytes: int
    in_flight: int
    compute_model: str
    time_s: float  # of the program, until its last rank is done
    time_quartiles_s: tuple[float, float]
    speedup: float  # the time of "MPI" / this one
    speedup_quartiles: tuple[float, float]
    speedup_limit: float  # with native communication that is hidden as far as can be
    communication: str  # how it is carried out
    communication_s: float  # alone, the same way
    native_s: float  # alone, the MPI's own blocking
    compute_s: float  # alone
    overlap: float  # the part that is hidden of what could be; not clamped to 0 .. 1
    overlap_native: float  # the same of native communication
    time_per_max: float  # time / what native communication and computation need at least
    compute_inflation: float  # the computation, tests included / alone
    cpu_s: float  # of all threads of a rank, mean over the ranks
    compute_cpu_s: float  # the same of the computation alone
    bimodal: bool
    samples: int
    selection: dict[str, Any] | None  # of a mode that finds the way: what it has chosen and why, in the last launch

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def rows(case: Case, mpi: str, network: str | None, ranks: int, launches: Sequence[dict[str, Any]]) -> list[Row]:
    """A row for each mode, in the order of the launches' lists."""
    alone = {name: _median(launch["communication"][name]["time_s"] for launch in launches)
             for name in launches[0]["communication"]}  # fmt: skip
    compute_s = _median(launch["compute"]["time_s"] for launch in launches)
    inside_s = _median(launch["compute"]["compute_s"] for launch in launches)
    modes = [
        (mode, [next(m for m in launch["modes"] if m["mode"] == mode["mode"]) for launch in launches])
        for mode in launches[0]["modes"]
    ]
    base = next(measured for mode, measured in modes if mode["mode"] == BASE)
    native_s = alone[base[0]["communication"]]
    base_s = _median(one["time_s"] for one in base)
    found = []
    for mode, measured in modes:
        times_s = list(chain.from_iterable(one["time_s"] for one in measured))
        ratios = [
            other / own
            for with_base, with_mode in zip(base, measured, strict=True)
            for other, own in zip(with_base["time_s"], with_mode["time_s"], strict=True)
        ]
        time_s = statistics.median(times_s)
        communication_s = alone[mode["communication"]]
        low_s, high_s = _quartiles(times_s)
        found.append(
            Row(
                mode=mode["mode"],
                mpi=mpi,
                network=network,
                ranks=ranks,
                collective=case.collective,
                bytes=case.size_bytes,
                in_flight=case.in_flight,
                compute_model=case.compute_model,
                time_s=time_s,
                time_quartiles_s=(low_s, high_s),
                speedup=statistics.median(ratios),
                speedup_quartiles=_quartiles(ratios),
                speedup_limit=base_s / max(native_s, compute_s),
                communication=mode["communication"],
                communication_s=communication_s,
                native_s=native_s,
                compute_s=compute_s,
                overlap=_overlap(communication_s, compute_s, time_s),
                overlap_native=_overlap(native_s, compute_s, time_s),
                time_per_max=time_s / max(native_s, compute_s),
                compute_inflation=_median(one["compute_s"] for one in measured) / inside_s,
                cpu_s=_median(one["cpu_s"] for one in measured),
                compute_cpu_s=_median(launch["compute"]["cpu_s"] for launch in launches),
                bimodal=high_s > BIMODAL * low_s,
                samples=len(times_s),
                selection=measured[-1].get("selection"),
            )
        )
    return found


def _overlap(communication_s: float, compute_s: float, time_s: float) -> float:
    return (communication_s + compute_s - time_s) / min(communication_s, compute_s)


def _median(lists: Iterable[Sequence[float]]) -> float:
    return statistics.median(chain.from_iterable(lists))


def _quartiles(values: Sequence[float]) -> tuple[float, float]:
    if len(values) == 1:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high
