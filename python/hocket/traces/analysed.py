# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What an analysis of a traced program found, as it is stored and drawn (docs/reference/trace-analysis.md)."""

from __future__ import annotations

import base64
import binascii
import dataclasses
from dataclasses import dataclass
from typing import Any

from hocket.errors import InvalidInput

FORMAT = "hocket.trace-analysis/1"

#: What a rank does; a wait state is counted apart from its call.
ACTIVITIES = ("ended", "computation", "point to point", "collective", "other MPI", "waiting")
SHARES = 32  #: a cell is its activity * SHARES + its share of the time, in steps of 1 / (SHARES - 1)


@dataclass(frozen=True)
class WaitTotal:
    """Calls of one function in one wait state, over all ranks."""

    state: str  #: as Scalasca names it: "late sender", "wait at n x n", ...
    function: str
    calls: int
    total_s: float


@dataclass(frozen=True)
class RankTime:
    """From the start of the program to the rank's own end, which is its call of MPI_Finalize."""

    rank: int
    computation_s: float  #: between calls
    mpi_s: float
    waiting_s: float  #: of mpi_s: in wait states
    on_path_s: float  #: for so long the critical path was on this rank
    end_s: float


@dataclass(frozen=True)
class FunctionTime:
    function: str
    calls: int  #: of all ranks
    mean_s: float  #: of the ranks: what its calls took together
    on_path_s: float


@dataclass(frozen=True)
class PathPart:
    """What the critical path spends in one function, or in computation."""

    what: str
    seconds: float


@dataclass(frozen=True)
class Timeline:
    """What some ranks do over time, at levels of detail. Each level divides the time until `span_s` in equal columns.

    `cells` are bytes, row by row, in base64.
    """

    span_s: float
    ranks: list[int]
    columns: list[int]  #: of each level
    cells: list[str]  #: of each level
    path_rank: list[int]  #: the longest steps of the critical path on these ranks
    path_start_s: list[float]
    path_end_s: list[float]

    def __post_init__(self) -> None:
        if not self.ranks or not self.columns or self.span_s <= 0:
            raise InvalidInput("found an empty timeline")
        try:
            sizes = [len(base64.b64decode(text, validate=True)) for text in self.cells]
        except (ValueError, binascii.Error):
            raise InvalidInput("cells: found no base64") from None
        if sizes != [number * len(self.ranks) for number in self.columns]:
            raise InvalidInput(f"cells: found {sizes} bytes, expected one for each rank and column")
        if not len(self.path_rank) == len(self.path_start_s) == len(self.path_end_s):
            raise InvalidInput("path_rank, path_start_s and path_end_s: expected as many values of each")
        if not set(self.path_rank) <= set(self.ranks):
            raise InvalidInput("path_rank: found a rank that is not one of `ranks`")


@dataclass(frozen=True)
class RunAnalysis:
    """Of one run, recorded or simulated. Times in seconds from the first return from MPI_Init."""

    span_s: float
    functions: list[FunctionTime]
    ranks: list[RankTime]
    wait_states: list[WaitTotal]
    critical_path: list[PathPart]  #: together they are `span_s`
    timeline: Timeline | None = None  #: only where it is drawn


@dataclass(frozen=True)
class Drift:
    """By how much the simulated program is late: the rank's last call before each time ends so much later than in the
    recorded run (negative: earlier). A slope is where the two part."""

    time_s: list[float]  #: of the recorded run
    mean_s: list[float]  #: of the ranks
    least_s: list[float]
    most_s: list[float]

    def __post_init__(self) -> None:
        if len({len(self.time_s), len(self.mean_s), len(self.least_s), len(self.most_s)}) != 1 or not self.time_s:
            raise InvalidInput("time_s, mean_s, least_s, most_s: expected as many values of each")


@dataclass(frozen=True)
class ProgramAnalysis:
    title: str
    recorded: RunAnalysis
    simulated: RunAnalysis | None = None
    drift: Drift | None = None  #: of the simulated run; None where the recorded one made other calls
    notes: list[str] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        if self.simulated is not None and len(self.simulated.ranks) != len(self.recorded.ranks):
            raise InvalidInput("simulated.ranks: expected as many as of the recorded run")

    @property
    def runs(self) -> list[tuple[str, RunAnalysis]]:
        found = [("measured", self.recorded)]
        return found if self.simulated is None else [*found, ("predicted", self.simulated)]

    @property
    def values(self) -> dict[str, Any]:
        """As JSON; what there is not is left out."""

        def present(items: list[tuple[str, Any]]) -> dict[str, Any]:
            return {key: value for key, value in items if value is not None}

        return {"format": FORMAT, **dataclasses.asdict(self, dict_factory=present)}
