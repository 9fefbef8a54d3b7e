# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where a run of a traced program spent its time: calls, wait states, the critical path; two runs beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hocket import CostModel, Network
    from hocket._core import AnalysedRun, Replayed
    from hocket.traces.trace import Trace

COMPUTATION, WAITING_FOR_CORE = "computation", "waiting for a core"
DRIFT_POINTS = 400  # of the curve over time
_NS = 1e-9


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


class ProgramRun:
    """One run of the main threads, recorded or simulated. Times in seconds from the first return from MPI_Init."""

    def __init__(self, trace: Trace, run: AnalysedRun) -> None:
        self.trace = trace
        self.core = run

    @cached_property
    def spans(self) -> list[NDArray[np.float64]]:
        """Of each rank its calls: rows of enter and exit. MPI_Finalize ends where it is entered."""
        found = []
        for rank in range(self.trace.ranks):
            ends = [self.core.enter_ns(rank), self.core.exit_ns(rank)]
            span = ((np.stack(ends, axis=1) - self.core.start_ns) * _NS).astype(np.float64)
            last = self.trace.names(rank) == "MPI_Finalize"
            span[last, 1] = span[last, 0]
            found.append(span)
        return found

    @cached_property
    def main(self) -> list[NDArray[np.int64]]:
        """Of each rank the places of its main thread's calls."""
        return [np.flatnonzero(self.trace.calls(rank)["thread"] == 0) for rank in range(self.trace.ranks)]

    @cached_property
    def ends_s(self) -> NDArray[np.float64]:
        ends = [span[main, 1].max(initial=0) for span, main in zip(self.spans, self.main, strict=True)]
        return np.array(ends)

    @property
    def span_s(self) -> float:
        return float(self.ends_s.max(initial=0))

    @cached_property
    def in_calls_s(self) -> list[NDArray[np.float64]]:
        """Of each rank and call the time in it, but for what is spent between polls that are one row."""
        return [
            np.maximum(0, span[:, 1] - span[:, 0] - self._between_polls_s(rank)) for rank, span in enumerate(self.spans)
        ]

    def _between_polls_s(self, rank: int) -> NDArray[np.float64] | float:
        """A simulated row has none: there they are computation before it."""
        return 0.0

    @cached_property
    def ranks(self) -> list[RankTime]:
        waiting = np.bincount(self.core.wait_rank, self.core.wait_ns * _NS, self.trace.ranks)
        on_path = np.bincount(self.core.path_rank, self._path_s, self.trace.ranks)
        found = []
        for rank, (main, times_s) in enumerate(zip(self.main, self.in_calls_s, strict=True)):
            mpi_s, end_s = float(times_s[main].sum()), float(self.ends_s[rank])
            found.append(
                RankTime(rank, max(0.0, end_s - mpi_s), mpi_s, float(waiting[rank]), float(on_path[rank]), end_s)
            )
        return found

    @cached_property
    def functions(self) -> list[FunctionTime]:
        """With what is between them, as `COMPUTATION`; those that take longest first."""
        number = len(self.trace.functions)
        times_s, calls = np.zeros(number), np.zeros(number, dtype=np.int64)
        for rank, main in enumerate(self.main):
            rows = self.trace.calls(rank)[main]
            times_s += np.bincount(rows["function"], self.in_calls_s[rank][main], number)
            calls += np.bincount(rows["function"], rows["calls"], number).astype(np.int64)
        found = [
            FunctionTime(name, int(calls[i]), float(times_s[i]) / self.trace.ranks, self.path.get(name, 0.0))
            for i, name in enumerate(self.trace.functions)
            if calls[i]
        ]
        computation_s = sum(rank.computation_s for rank in self.ranks) / self.trace.ranks
        found.append(FunctionTime(COMPUTATION, 0, computation_s, self.path.get(COMPUTATION, 0.0)))
        if WAITING_FOR_CORE in self.path:
            found.append(FunctionTime(WAITING_FOR_CORE, 0, 0.0, self.path[WAITING_FOR_CORE]))
        return sorted(found, key=lambda one: -one.mean_s)

    @property
    def _path_s(self) -> NDArray[np.float64]:
        taken: NDArray[np.float64] = self.core.path_end_s - self.core.path_start_s
        return taken

    @cached_property
    def path(self) -> dict[str, float]:
        """What the critical path consists of, in seconds; together they are `span_s`."""
        numbers, places = np.unique(self.core.path_function, return_inverse=True)
        sums = np.bincount(places, self._path_s, len(numbers))
        names = [
            {-1: COMPUTATION, -2: WAITING_FOR_CORE}.get(int(number)) or self.trace.functions[number]
            for number in numbers
        ]
        order = np.argsort(-sums)
        return {names[i]: float(sums[i]) for i in order}

    @cached_property
    def waits(self) -> list[WaitTotal]:
        """The longest first."""
        from hocket import _core

        states, run = _core.wait_states(), self.core
        functions = np.zeros(len(run.wait_rank), dtype=np.int64)
        for rank in range(self.trace.ranks):
            here = run.wait_rank == rank
            functions[here] = self.trace.calls(rank)["function"][run.wait_call[here]]
        keys, places = np.unique(np.stack([run.wait_state, functions]), axis=1, return_inverse=True)
        places = places.ravel()
        totals_s = np.bincount(places, run.wait_ns * _NS, keys.shape[1])
        counts = np.bincount(places, minlength=keys.shape[1])
        found = [
            WaitTotal(states[state], self.trace.functions[function], int(counts[i]), float(totals_s[i]))
            for i, (state, function) in enumerate(keys.T)
        ]
        return sorted(found, key=lambda one: -one.total_s)

    def to_dict(self) -> dict[str, Any]:
        return {
            "span_s": self.span_s,
            "functions": [vars(one) for one in self.functions],
            "ranks": [vars(one) for one in self.ranks],
            "wait_states": [vars(one) for one in self.waits],
            "critical_path": [{"what": what, "seconds": seconds} for what, seconds in self.path.items()],
        }


class RecordedRun(ProgramRun):
    def _between_polls_s(self, rank: int) -> NDArray[np.float64]:
        outside: NDArray[np.float64] = self.trace.calls(rank)["outside_ns"] * _NS
        return outside


def recorded_run(trace: Trace, replayed: Replayed) -> RecordedRun:
    """`replayed`: by `replay_at` with `call_ops`, which tells what calls belong together."""
    from hocket import _core

    return RecordedRun(trace, _core.analyse_recorded(trace.core, replayed))


def simulated_run(
    trace: Trace,
    replayed: Replayed,
    network: Network,
    costs: CostModel,
    on_progress: Callable[[int, int, float], object] | None = None,
) -> ProgramRun:
    """The same replay, simulated on this network with these costs.

    Raises InvalidInput if `on_progress` stops it.
    """
    from hocket import _core

    return ProgramRun(trace, _core.analyse_simulated(trace.core, replayed, network, costs, on_progress))


@dataclass(frozen=True)
class Drift:
    """By how much the simulated program is late: the rank's last call before each time ends so much later than in the
    recorded run (negative: earlier). A slope is where the two part."""

    time_s: list[float]  #: of the recorded run
    mean_s: list[float]  #: of the ranks
    least_s: list[float]
    most_s: list[float]


def drift(recorded: ProgramRun, simulated: ProgramRun, points: int = DRIFT_POINTS) -> Drift:
    if recorded.trace is not simulated.trace:
        raise InvalidInput("runs of two traces cannot be compared")
    times_s = np.linspace(0, recorded.span_s, points)
    late_s = np.zeros((recorded.trace.ranks, points))
    for rank, main in enumerate(recorded.main):
        if not len(main):
            continue
        before, after = recorded.spans[rank][main, 1], simulated.spans[rank][main, 1]
        last = np.searchsorted(before, times_s, "right") - 1
        late_s[rank] = np.where(last >= 0, (after - before)[np.maximum(last, 0)], 0.0)
    return Drift(*(array.tolist() for array in (times_s, late_s.mean(0), late_s.min(0), late_s.max(0))))
