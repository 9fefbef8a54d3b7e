# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where a recorded program spent its time: computation, messages, collectives, waiting for late ranks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hocket.traces.rank_summary import in_mpi_ns

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from hocket.traces.trace import Collective, Trace

_COLLECTIVE = re.compile(
    r"MPI_I?(barrier|bcast|reduce|allreduce|scan|exscan|gatherv?|scatterv?|allgatherv?|alltoall[vw]?|reduce_scatter|"
    r"reduce_scatter_block|neighbor_allgatherv?|neighbor_alltoall[vw]?)(_init)?(_c)?",
    re.IGNORECASE,
)
_POINT_TO_POINT = re.compile(
    r"MPI_(I?[bsr]?send|I?recv|I?m?probe|I?mrecv|I?sendrecv(_replace)?|[bsr]?send_init|recv_init|start(all)?|"
    r"(wait|test)(all|any|some)?|request_\w+|cancel|psend_init|precv_init|pready\w*|parrived)(_c)?",
    re.IGNORECASE,
)
_WAITS = re.compile(r"MPI_(wait|test)(all|any|some)?", re.IGNORECASE)
_START_UP = re.compile(r"MPI_(init(_thread)?|finalize|session_(init|finalize))", re.IGNORECASE)


def is_collective(function: str) -> bool:
    return _COLLECTIVE.fullmatch(function) is not None


def is_point_to_point(function: str) -> bool:
    """Messages and requests, those of collectives among them."""
    return _POINT_TO_POINT.fullmatch(function) is not None


@dataclass(frozen=True)
class Split:
    """Seconds, as means over the ranks, of the time from MPI_Init to MPI_Finalize."""

    computation_s: float
    point_to_point_s: float
    collectives_s: float  # the waiting for their requests included
    other_mpi_s: float
    waiting_s: float  # of the collectives: for the last rank to enter

    @property
    def span_s(self) -> float:
        return self.computation_s + self.point_to_point_s + self.collectives_s + self.other_mpi_s


def split(trace: Trace, collectives: Iterable[Collective]) -> Split:
    """Of the main threads. `collectives`: those of the trace."""
    point_to_point, own, start_up, waits = (
        np.array([bool(kind.fullmatch(name)) for name in trace.functions] or [False])
        for kind in (_POINT_TO_POINT, _COLLECTIVE, _START_UP, _WAITS)
    )
    parts_ns = np.zeros(4)  # of all ranks: computation, point-to-point, collectives, other
    for rank in range(trace.ranks):
        calls = trace.calls(rank)
        calls = calls[calls["thread"] == 0]
        if not len(calls):
            continue
        times_ns = in_mpi_ns(calls)
        functions = calls["function"]
        begins_or_ends = start_up[functions]
        requests = calls["request"][own[functions] & (calls["request"] != 0)]
        of_collectives = own[functions] | (waits[functions] & np.isin(calls["request"], requests))
        of_messages = point_to_point[functions] & ~of_collectives
        spent_ns = [
            int(times_ns[which].sum())
            for which in (of_messages, of_collectives, ~(begins_or_ends | of_messages | of_collectives))
        ]
        parts_ns += [max(0, _span_ns(calls, begins_or_ends) - sum(spent_ns)), *spent_ns]
    waiting_ns = sum(
        int((call.last_enter_ns - call.enter_ns).clip(0, (call.exit_ns - call.enter_ns).clip(0)).sum())
        for call in collectives
        if call.form == "blocking"
    )
    computation_s, point_to_point_s, collectives_s, other_s = (float(part) * 1e-9 / trace.ranks for part in parts_ns)
    waiting_s = min(collectives_s, waiting_ns * 1e-9 / trace.ranks)
    return Split(computation_s, point_to_point_s, collectives_s, other_s, waiting_s)


def _span_ns(calls: npt.NDArray[np.void], begins_or_ends: npt.NDArray[np.bool_]) -> int:
    """From the return of MPI_Init to the call of MPI_Finalize; from the first call to the last without them."""
    edges = np.flatnonzero(begins_or_ends)
    first = int(calls["exit_ns"][edges[0]] if len(edges) and edges[0] == 0 else calls["enter_ns"].min())
    last = int(calls["enter_ns"][edges[-1]] if len(edges) and edges[-1] == len(calls) - 1 else calls["exit_ns"].max())
    return max(0, last - first)
