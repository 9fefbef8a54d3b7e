# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where a run of a traced program spent its time: calls, wait states, the critical path; two runs beside each other."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hocket.traces.analysed import Drift, FunctionTime, PathPart, RankTime, RunAnalysis, Timeline, WaitTotal

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hocket import CostModel, Network
    from hocket._core import AnalysedRun, Replayed
    from hocket.traces.trace import Trace

COMPUTATION, WAITING_FOR_CORE = "computation", "waiting for a core"
DRIFT_POINTS = 400  # of the curve over time
_NS = 1e-9


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

    def found(self, timeline: Timeline | None = None) -> RunAnalysis:
        path = [PathPart(what, seconds) for what, seconds in self.path.items()]
        return RunAnalysis(self.span_s, self.functions, self.ranks, self.waits, path, timeline)


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


def drift(recorded: ProgramRun, simulated: ProgramRun, points: int = DRIFT_POINTS) -> Drift | None:
    """Of the ranks whose main threads make the same calls in both runs; None if there are none.

    The simulated run may be that of another recording of the program.
    """
    times_s = np.linspace(0, recorded.span_s, points)
    late_s = [
        _late_s(recorded.spans[rank][recorded.main[rank], 1], simulated.spans[rank][simulated.main[rank], 1], times_s)
        for rank in range(min(recorded.trace.ranks, simulated.trace.ranks))
        if _same_calls(recorded, simulated, rank)
    ]
    if not late_s:
        return None
    late = np.stack(late_s)
    return Drift(*(array.tolist() for array in (times_s, late.mean(0), late.min(0), late.max(0))))


def _same_calls(one: ProgramRun, other: ProgramRun, rank: int) -> bool:
    if one.trace is other.trace:
        return True
    return np.array_equal(one.trace.names(rank)[one.main[rank]], other.trace.names(rank)[other.main[rank]])


def _late_s(
    before: NDArray[np.float64], after: NDArray[np.float64], times_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    """At each time: how much later the last call that had ended before it ends in the other run."""
    if not len(before):
        return np.zeros(len(times_s))
    last = np.searchsorted(before, times_s, "right") - 1
    return np.where(last >= 0, (after - before)[np.maximum(last, 0)], 0.0)
