# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket tune` found: one folder with result.json, plan.json, timelines.json, network.toml, trace/ and report.html.

result.json is the object that `hocket tune --json` prints. timelines.json holds, for each collective of the plan, the
simulated course of the schedule in the plan and of the textbook algorithm that the MPI is assumed to use:

    {"format": "hocket.timelines/1", "timelines": [
      {"collective": "bcast", "bytes": 1000000, "schedules": [
        {"role": "native" | "tuned", "algorithm": "pipelined_chain", "pieces": 62, "order": [0, 2, ...], "makespan_s": 0.09,
         "ops": [[rank, "send" | "recv" | "reduce" | "compute", peer, bytes, start_s, end_s], ...],
         "links": [{"source": "a0", "target": "s0", "bandwidth_bytes_per_s": 11625000.0,
                    "use": [[start_s, end_s, rate_bytes_per_s], ...]}, ...]}]}]}
"""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from hocket.errors import InvalidInput

FORMAT = "hocket.result/1"
FILE = "result.json"


@dataclass(frozen=True)
class CollectiveResult:
    """One group of collective calls. Times are of one call, medians over the samples; None = not measured."""

    collective: str
    bytes: int
    calls: int
    ranks: int
    members: list[int]
    root: int | None
    algorithm: str  # of the plan; "native" where the MPI's own is kept
    pieces: int
    order: list[int] | None
    native_s: float | None
    tuned_s: float | None
    predicted_s: float | None
    predicted_native_s: float | None  # of the textbook algorithm that the MPI is assumed to use
    wire_limit_s: float | None
    kept: bool  # in the plan
    reason: str = ""  # why it is not in the plan
    native_samples_s: list[float] = field(default_factory=list)
    tuned_samples_s: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Result:
    command: list[str]
    mpi: str
    ranks: int
    network: str
    emulated: bool  # ran on a testbed made from the network file
    native_runs_s: list[float]  # wall time of the whole command, in the order run; run i of both lists are neighbours
    tuned_runs_s: list[float]
    predicted_s: float | None  # of the tuned run
    predicted_native_s: float | None
    same_output: bool
    collectives: list[CollectiveResult]
    created_by: str = ""
    created: str = ""  # UTC, ISO 8601
    bytes_crossed: int | None = None  # by the interface counters of the testbed, during the tuned runs
    plan: str | None = None  # paths
    trace: str | None = None
    report: str | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def native_s(self) -> float:
        return statistics.median(self.native_runs_s)

    @property
    def tuned_s(self) -> float:
        return statistics.median(self.tuned_runs_s)

    @property
    def ratios(self) -> list[float]:
        """Speed-up of each pair of neighbouring runs."""
        return [native / tuned for native, tuned in zip(self.native_runs_s, self.tuned_runs_s, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        low, median, high = quartiles(self.ratios)
        head = {
            "format": FORMAT,
            "native_s": self.native_s,
            "tuned_s": self.tuned_s,
            "speedup": median,
            "speedup_quartiles": [low, high],
        }
        return head | asdict(self)

    def write(self, folder: Path) -> None:
        (folder / FILE).write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def from_folder(cls, folder: str | Path) -> Result:
        path = Path(folder) / FILE
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InvalidInput(f"{path}: cannot read the result: {error.strerror}", hint="give the folder that `hocket tune` wrote") from None
        except ValueError as error:
            raise InvalidInput(f"{path}: not JSON: {error}") from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InvalidInput(f'{path}: not a result; accepted format: "{FORMAT}"')
        names = {f.name for f in fields(cls)}
        try:
            collectives = [CollectiveResult(**c) for c in document["collectives"]]
            return cls(**{k: v for k, v in document.items() if k in names} | {"collectives": collectives})
        except (TypeError, KeyError) as error:
            raise InvalidInput(f"{path}: not a complete result: {error}") from None


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """Lower quartile, median and upper quartile, interpolated."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, median, high
