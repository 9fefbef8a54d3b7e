# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A result with what follows from its samples, point by point: format `hocket.bench-summary/1`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hocket.bench.mpi.results import Point, Results
from hocket.bench.mpi.statistics import Summary, summarize

SUMMARY_FORMAT = "hocket.bench-summary/1"


@dataclass(frozen=True)
class BenchResult:
    results: Results

    @property
    def rows(self) -> list[tuple[Point, str, str, Summary | None]]:
        """Each point with its status, the reason, and what was measured."""
        target = float(self.results.suite["target"])
        rows = []
        for point in self.results.points:
            outcome = self.results.outcome(point)
            launches = self.results.launches(point)
            summary = summarize(launches) if launches else None
            status, reason = (outcome.status, outcome.message) if outcome else ("not yet", "")
            if status == "ok":
                status = "not yet" if summary is None else "known" if summary.is_known(target) else "wide"
            rows.append((point, status, reason, summary))
        return rows

    @property
    def mpi(self) -> str:
        """As it calls itself, but for "Version:"; empty before anything is measured."""
        words = self.results.runs[0]["mpi"].split() if self.results.runs else []
        return " ".join(word for word in words if word != "Version:")

    @property
    def machine(self) -> dict[str, Any]:
        """Where it was measured: of the first launch, and the load at the beginning of all."""
        if not self.results.runs:
            return {}
        first, loads = self.results.runs[0], [run["load"] for run in self.results.runs]
        kept = ("time_utc", "host", "hosts", "host_names", "ranks", "cores", "processor", "kernel", "file_system")
        return {name: first[name] for name in kept if name in first} | {"load": [min(loads), max(loads)]}

    @property
    def values(self) -> dict[str, Any]:
        return {
            "format": SUMMARY_FORMAT,
            "suite": self.results.suite["name"],
            "mpi": self.mpi or None,
            "machine": self.machine,
            "launches": len(self.results.ended),
            "complete": len(self.results.ended) >= self.results.suite["launches"],
            "points": [_row(*row) for row in self.rows],
        }


def _row(point: Point, status: str, reason: str, summary: Summary | None) -> dict[str, Any]:
    return {
        "item": point.item,
        "number": point.number,
        "bytes": point.size_bytes,
        "ranks": point.ranks,
        "options": dict(point.options),
        "variant": point.variant,
        "status": status,
        "reason": reason,
        "measured": None if summary is None else _measured(summary),
    }


def _measured(summary: Summary) -> dict[str, Any]:
    percentiles = {str(percent): value for percent, value in summary.percentiles_s.items()}
    return asdict(summary) | {"percentiles_s": percentiles}
