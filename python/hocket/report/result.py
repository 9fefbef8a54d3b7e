# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The result of tuning a program: what ran, what was measured and predicted (docs/reference/result-format.md)."""

from __future__ import annotations

import dataclasses
import json
import re
import statistics
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from hocket.errors import InvalidInput
from hocket.io.files import write_whole
from hocket.report.decode import decode, read_json_object

RESULT_FORMAT = "hocket.result/1"
RESULT_FILE = "result.json"
NETWORK_FILE = "network.toml"
NO_TIME = "no time to measure it"  #: begins the reason of a collective that had none


@dataclass(frozen=True)
class ProgramResult:
    """Wall times of the whole program, one per run; native and tuned runs were interleaved."""

    native_s: list[float]
    tuned_s: list[float]  #: empty: the plan had no entries, and there was nothing to run
    predicted_s: float | None  #: of a tuned run, by a replay and the recorded times of native calls
    speedup: float | None  #: median(native_s) / median(tuned_s); None = no tuned runs
    speedup_quartiles: tuple[float, float] | None  #: of native / tuned over all pairs of runs; they enclose `speedup`
    output_identical: bool | None  #: standard output of native and tuned runs; None = nothing to compare
    replayed_native_s: float | None = None  #: what a replay alone predicts, without recorded times of MPI calls
    replayed_tuned_s: float | None = None  #: the same with the plan; None = not simulated, or by an older hocket

    def __post_init__(self) -> None:
        _check_times("native_s", self.native_s, at_least=1)
        _check_times("tuned_s", self.tuned_s)
        for name in ("predicted_s", "replayed_native_s", "replayed_tuned_s"):
            value = getattr(self, name)
            if value is not None:
                _check_times(name, [value])
        if not self.tuned_s:
            if self.speedup is not None or self.speedup_quartiles is not None:
                raise InvalidInput("speedup: without a tuned run the speed-up and its quartiles must be null")
            return
        if self.speedup is None or self.speedup_quartiles is None:
            raise InvalidInput("speedup: found null, expected the speed-up and its quartiles")
        if not 0 < self.speedup_quartiles[0] <= self.speedup_quartiles[1] or self.speedup <= 0:
            raise InvalidInput("speedup: the speed-up and its quartiles must be positive and in ascending order")

    @classmethod
    def from_runs(
        cls,
        native_s: list[float],
        tuned_s: list[float],
        predicted_s: float | None = None,
        output_identical: bool | None = None,
    ) -> ProgramResult:
        """Derives the speed-up from the wall times."""
        _check_times("native_s", native_s, at_least=1)
        _check_times("tuned_s", tuned_s)
        speedup, quartiles = speedup_of(native_s, tuned_s) if tuned_s else (None, None)
        return cls(native_s, tuned_s, predicted_s, speedup, quartiles, output_identical)


@dataclass(frozen=True)
class TimelineFiles:
    """Simulated timelines (report/timeline.py), as paths relative to the result folder."""

    native_model: str | None = None  #: the textbook algorithm that stands for what the MPI library does
    tuned: str | None = None

    def __post_init__(self) -> None:
        _check_inside(self.native_model, self.tuned)


@dataclass(frozen=True)
class AnalysisFiles:
    """The whole program, predicted beside measured (hocket.trace-analysis/1), as paths relative to the folder."""

    native: str | None = None
    tuned: str | None = None

    def __post_init__(self) -> None:
        _check_inside(self.native, self.tuned)


def _check_inside(*paths: str | None) -> None:
    for path in paths:
        if path is not None and (PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts):
            raise InvalidInput(f'found "{path}", expected a path inside the result folder')


@dataclass(frozen=True)
class CollectiveResult:
    """One (collective, communicator, size, root) of the program and what was done about it."""

    collective: str  #: "bcast"
    members: list[int]  #: world ranks in the order of the communicator
    bytes: int  #: as in the plan: message of bcast, reduce, allreduce; block per rank of the others; 0 for barrier
    root: int | None  #: rank in the communicator
    calls: int  #: by the program, in one run
    algorithm: str  #: of the new schedule; "custom" when a search found it
    segments: int
    order: list[int] | None  #: ranks of the communicator; None = 0 .. p-1
    native_s: list[float]  #: time of one call, measured in isolation: maximum over the ranks; empty = not measured
    tuned_s: list[float]
    predicted_s: float | None  #: of the new schedule
    wire_limit_s: float | None  #: no schedule can be faster on this network
    kept: bool  #: the entry is in the plan
    reason: str | None = None  #: why not kept
    output_identical: bool | None = None  #: the data after the native and the new collective; None = not compared
    timelines: TimelineFiles = field(default_factory=TimelineFiles)
    ratio: float | None = None  #: median(native_s) / median(tuned_s); None = not measured, or by an older hocket
    ratio_interval: tuple[float, float] | None = None  #: of 95 % confidence
    launches: int = 0  #: of the measuring program; 0 = not measured, or not known
    nonblocking_calls: int = 0  #: of `calls`, persistent ones too; their times here are of calls waited for at once
    bytes_min: int | None = None  #: of the smallest of the calls; None = by an older hocket
    recorded_s: float | None = None  #: median time of a call in the recorded run, once all its ranks had come
    uneven_calls: int = 0  #: of `calls`: allgatherv or reduce_scatter, by their mean blocks; measured with even ones
    derived: bool = False  #: in the plan by the model, not by evidence; `reason` says why there is none

    def __post_init__(self) -> None:
        _check_times("native_s", self.native_s)
        _check_times("tuned_s", self.tuned_s)
        for name in ("predicted_s", "wire_limit_s", "recorded_s"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise InvalidInput(f"{name}: found {value}, expected a time of at least 0 s")
        if self.bytes < 0 or self.calls < 0 or self.segments < 1:
            raise InvalidInput("bytes and calls must be at least 0, and segments at least 1")
        if (self.ratio is None) != (self.ratio_interval is None):
            raise InvalidInput("ratio_interval: found one of ratio and its interval, expected both or none")
        if self.ratio is not None and self.ratio_interval is not None:
            low, high = self.ratio_interval
            if not 0 < low <= self.ratio <= high:
                raise InvalidInput(
                    f"ratio_interval: found {low} to {high}, expected an interval that holds {self.ratio}"
                )
        if self.bytes_min is not None and not 0 <= self.bytes_min <= self.bytes:
            raise InvalidInput(f"bytes_min: found {self.bytes_min}, expected 0 to {self.bytes}, the largest")
        if self.launches < 0:
            raise InvalidInput(f"launches: found {self.launches}, expected at least 0")
        if not 0 <= self.nonblocking_calls <= self.calls:
            raise InvalidInput(
                f"nonblocking_calls: found {self.nonblocking_calls}, expected 0 to {self.calls}, the calls"
            )
        if not 0 <= self.uneven_calls <= self.calls:
            raise InvalidInput(f"uneven_calls: found {self.uneven_calls}, expected 0 to {self.calls}, the calls")
        if not self.kept and not self.reason:
            raise InvalidInput("reason: an entry that is not kept needs a reason")


@dataclass(frozen=True)
class LinkBytes:
    """Bytes that crossed a directed link in one run of the program, by the interface counters."""

    source: str  #: node names of the network
    target: str
    native_bytes: int
    tuned_bytes: int

    def __post_init__(self) -> None:
        for name in ("native_bytes", "tuned_bytes"):
            if getattr(self, name) < 0:
                raise InvalidInput(f"{name}: found {getattr(self, name)}, expected at least 0")


COSTS_SOURCES = ("fitted", "given", "calibrated", "usual")


@dataclass(frozen=True)
class CostsResult:
    """What messages cost beside their time on the wire, by which schedules were chosen and predicted."""

    source: str  #: "fitted" to collectives measured here, "given" by options, "calibrated" with the network, "usual"
    sharing: str  #: how messages share links
    send_overhead_s: float
    receive_overhead_s: float
    host_overhead_s: float | None  #: instead of both, between ranks of one host; None = the same
    wake_s: float
    copy_bytes_per_s: float | None  #: None = copying takes no time
    reduce_bytes_per_s: float | None  #: the same
    rendezvous_bytes: int | None  #: None = not known
    link_efficiency: float
    cores: int  #: that all ranks share; 0 = each has its own
    burst_bytes: float
    burst_s: float
    training_error_median: float | None = None  #: of |predicted / measured - 1|, of what the costs were fitted to
    training_collectives: int = 0

    def __post_init__(self) -> None:
        if self.source not in COSTS_SOURCES:
            raise InvalidInput(f'source: found "{self.source}", expected one of {", ".join(COSTS_SOURCES)}')
        for name, value in dataclasses.asdict(self).items():
            if isinstance(value, (int, float)) and value < 0:
                raise InvalidInput(f"{name}: found {value}, expected at least 0")
        if self.cores >= 2**31:
            raise InvalidInput(f"cores: found {self.cores}, expected less than 2^31")
        if (self.source == "fitted") != (self.training_error_median is not None):
            raise InvalidInput("training_error_median: expected with fitted costs, and only with them")


@dataclass(frozen=True)
class TimeSplit:
    """Where the recorded run spent its time, as means over the ranks. The parts add up to `wall_s`."""

    wall_s: float  #: of the whole command
    computation_s: float  #: between MPI calls
    point_to_point_s: float  #: messages, and waiting for requests
    collectives_s: float
    other_mpi_s: float  #: making communicators, files, windows, ...
    start_up_s: float  #: the launcher, MPI_Init, MPI_Finalize
    waiting_s: float  #: of collectives_s: until the last rank had entered
    at_wire_limit_s: float  #: the run, if every collective that a plan can serve took its wire limit

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            if value < 0:
                raise InvalidInput(f"{name}: found {value}, expected at least 0")

    @property
    def without_collectives_s(self) -> float:
        """The run, if collectives took no time, and so no rank came late to one."""
        return max(0.0, self.wall_s - self.collectives_s)


@dataclass(frozen=True)
class Served:
    """What the plan serves of the collective calls of the recorded run."""

    calls: int  #: of communicators of two ranks and more, each counted once for all its ranks
    served_calls: int
    time_s: float  #: that these calls took, as a mean over the ranks
    served_s: float

    def __post_init__(self) -> None:
        if not 0 <= self.served_calls <= self.calls:
            raise InvalidInput(f"served_calls: found {self.served_calls}, expected 0 to {self.calls}, the calls")
        if not 0 <= self.served_s <= self.time_s:
            raise InvalidInput(f"served_s: found {self.served_s}, expected 0 to {self.time_s}, the time of all calls")


@dataclass(frozen=True)
class Result:
    hocket: str  #: version that made the result
    date_utc: str  #: "2025-11-21T20:41:00Z"
    command: list[str]
    mpi: str  #: "Open MPI 4.1.4"
    ranks: int
    hosts: list[str]  #: host of each rank
    machine: str  #: "Linux 6.1.0 x86_64, 2 cores"
    network: str  #: name of the network in network.toml
    testbed: bool  #: the network was emulated on this machine
    program: ProgramResult
    collectives: list[CollectiveResult]
    link_bytes: list[LinkBytes] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  #: what the reader should know, e.g. why there was no testbed
    costs: CostsResult | None = None  #: None = by an older hocket
    time: TimeSplit | None = None  #: None = by an older hocket
    served: Served | None = None  #: None = by an older hocket
    analyses: AnalysisFiles = field(default_factory=AnalysisFiles)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", self.date_utc):
            raise InvalidInput(f'date_utc: found "{self.date_utc}", expected a time such as "2025-11-21T20:41:00Z"')
        if self.ranks < 1 or len(self.hosts) != self.ranks:
            raise InvalidInput(
                f"hosts: found {len(self.hosts)} hosts for {self.ranks} ranks, expected one for each rank"
            )
        for i, collective in enumerate(self.collectives):
            if any(not 0 <= rank < self.ranks for rank in collective.members) or not collective.members:
                raise InvalidInput(f"collectives[{i}].members: expected world ranks 0 .. {self.ranks - 1}")
            if len(set(collective.members)) != len(collective.members):
                raise InvalidInput(f"collectives[{i}].members: a rank occurs twice")
            if collective.order is not None and sorted(collective.order) != list(range(len(collective.members))):
                raise InvalidInput(f"collectives[{i}].order: expected each of 0 .. {len(collective.members) - 1} once")
            if collective.root is not None and not 0 <= collective.root < len(collective.members):
                raise InvalidInput(f"collectives[{i}].root: expected 0 .. {len(collective.members) - 1}")

    @property
    def num_without_time(self) -> int:
        """Of so many collectives there was no time to measure whether a schedule is faster."""
        return sum(not one.kept and (one.reason or "").startswith(NO_TIME) for one in self.collectives)


def speedup_of(native_s: list[float], tuned_s: list[float]) -> tuple[float, tuple[float, float]]:
    """The ratio of the medians, and the quartiles of the ratio over all pairs (native run, tuned run).

    The quartiles enclose the ratio of the medians: in at least a quarter of all pairs the native time is at most its
    median and the tuned time at least its own, and in another quarter it is the other way round.
    """
    ratios = sorted(native / tuned for native in native_s for tuned in tuned_s)
    quarter = (len(ratios) - 1) // 4
    speedup = statistics.median(native_s) / statistics.median(tuned_s)
    return speedup, (min(ratios[quarter], speedup), max(ratios[-1 - quarter], speedup))


def read_result(folder: Path) -> Result:
    """@raises InvalidInput naming the file, the key, what was found and what is accepted."""
    if not folder.is_dir():
        raise InvalidInput(f"{folder}: no such folder", "`hocket tune` writes a result folder")
    path = folder / RESULT_FILE
    if not path.is_file():
        raise InvalidInput(
            f"{folder}: not a result folder: {RESULT_FILE} is missing", "`hocket tune` writes a result folder"
        )
    return decode(Result, read_json_object(path, RESULT_FORMAT), str(path))


def write_result(result: Result, folder: Path) -> Path:
    """Writes result.json into `folder`; complete or not at all."""
    path = folder / RESULT_FILE
    write_json(path, {"format": RESULT_FORMAT, **dataclasses.asdict(result)}, indent=1)
    return path


def write_json(path: Path, value: object, indent: int | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(value, indent=indent, allow_nan=False) + "\n")


def _check_times(name: str, times_s: list[float], at_least: int = 0) -> None:
    if len(times_s) < at_least:
        raise InvalidInput(f"{name}: found no time, expected at least {at_least}")
    if any(not time > 0 for time in times_s):
        raise InvalidInput(f"{name}: found {min(times_s)}, expected times above 0 s")
