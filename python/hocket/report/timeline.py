# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A simulated Timeline as a file: bars of operations and the use of each link (docs/reference/simulation-format.md)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path

from hocket.errors import InvalidInput
from hocket.report.decode import decode, read_json_object
from hocket.report.result import write_json

TIMELINE_FORMAT = "hocket.timeline/1"
BAR_KINDS = ("send", "recv", "compute", "reduce", "connect", "disconnect")


@dataclass(frozen=True)
class Bars:
    """Columns of equal length, one row per bar."""

    rank: list[int] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)  #: one of BAR_KINDS
    peer: list[int] = field(default_factory=list)  #: -1 for compute, reduce and several
    start_s: list[float] = field(default_factory=list)
    end_s: list[float] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    count: list[int] = field(default_factory=list)  #: operations drawn as this one bar

    def __len__(self) -> int:
        return len(self.rank)


@dataclass(frozen=True)
class TimelineLink:
    """Load of one directed link."""

    source: str
    target: str
    bandwidth_bytes_per_s: float | None  #: None = unlimited
    bytes: int
    use: list[
        tuple[float, float, float]
    ]  #: (start_s, end_s, rate_bytes_per_s) of the busiest links, without idle times


@dataclass(frozen=True)
class TimelineData:
    title: str  #: "pipelined_chain in 32 segments"
    ranks: int
    makespan_s: float
    num_operations: int  #: those that take time; more than bars when neighbouring operations are drawn as one bar
    ranks_shown: list[int]  #: all of them, or a sample when there are too many
    bars: Bars
    links: list[TimelineLink]

    def __post_init__(self) -> None:
        columns = dataclasses.asdict(self.bars)
        if len({len(column) for column in columns.values()}) > 1:
            raise InvalidInput("bars: the columns differ in length")
        for kind in set(self.bars.kind) - set(BAR_KINDS):
            raise InvalidInput(f'bars.kind: found "{kind}", expected one of {", ".join(BAR_KINDS)}')
        if any(not 0 <= rank < self.ranks for rank in [*self.bars.rank, *self.ranks_shown]):
            raise InvalidInput(f"bars.rank: expected ranks 0 .. {self.ranks - 1}")
        if any(start > end or start < 0 for start, end in zip(self.bars.start_s, self.bars.end_s, strict=True)):
            raise InvalidInput("bars: a bar ends before it starts, or starts before 0 s")


def write_timeline(timeline: TimelineData, path: Path) -> None:
    write_json(path, {"format": TIMELINE_FORMAT, **dataclasses.asdict(timeline)})


def read_timeline(path: Path) -> TimelineData:
    """@raises InvalidInput"""
    return decode(TimelineData, read_json_object(path, TIMELINE_FORMAT), str(path))
