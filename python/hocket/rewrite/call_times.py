# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the calls of MPI in a program took, and the computation between them: from a recorded trace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hocket.rewrite.call_order import CallOrder, Site, states_in
from hocket.traces.time_split import is_collective
from hocket.traces.trace import Trace

#: Of a long trace this many calls of each rank, and these ranks, are looked at.
MOST_CALLS = 200_000
MOST_RANKS = 16


@dataclass(frozen=True)
class CallTimes:
    """Medians over the calls of a statement."""

    calls: int  # of a rank
    communication_s: float  # from the last rank's entry to the last one's return; of a message: of the call
    before_s: float  # computation since the call of MPI before, whatever that is
    after_s: float  # computation until the next one
    bytes: int | None  # of the message, as the trace counts it


@dataclass
class _Calls:
    """Of a statement on one rank, in seconds, by call."""

    enter: npt.NDArray[np.float64]
    exit: npt.NDArray[np.float64]
    before: npt.NDArray[np.float64]
    after: npt.NDArray[np.float64]
    bytes: npt.NDArray[np.int64]


@dataclass
class TraceTimes:
    """`unclear`: statements whose calls in the trace may be those of other ones, whose times they share."""

    times: dict[Site, CallTimes] = field(default_factory=dict)
    unclear: set[Site] = field(default_factory=set)
    span_s: float = 0.0  # of the recorded run: from the first return to the last entry, the longest of the ranks


def trace_times(trace: Trace, order: CallOrder) -> TraceTimes:
    """`order`: of the recorded program."""
    found: dict[int, list[_Calls]] = {}
    shared: dict[int, list[_Calls]] = {}  # calls that may be those of several statements
    result = TraceTimes()
    for rank in range(min(trace.ranks, MOST_RANKS)):
        calls = _calls_of(trace, rank)
        if not len(calls):
            continue
        span_s = float(calls["enter_ns"][-1] - calls["exit_ns"][0]) * 1e-9
        result.span_s = max(result.span_s, span_s)
        for state, some in _by_state(order, trace, calls, is_sure=True):
            found.setdefault(state, []).append(some)
        for state, some in _by_state(order, trace, calls, is_sure=False):
            shared.setdefault(state, []).append(some)
    for states in (found, shared):
        for state, ranks in states.items():
            site, name = order.sites[state]
            if site not in result.times:
                result.times[site] = _medians(ranks, is_collective(name))
                result.unclear |= {site} if states is shared else set()
    return result


def measured_spans(trace: Trace, order: CallOrder, windows: Iterable[tuple[Site, Site]]) -> dict[Site, float]:
    """Seconds from the start in the first statement of a window until the wait in the second is over: medians."""
    by_site: dict[Site, list[_Calls | None]] = {}
    for rank in range(min(trace.ranks, MOST_RANKS)):
        calls = _calls_of(trace, rank)
        some = dict(_by_state(order, trace, calls, is_sure=True)) if len(calls) else {}
        for state, (site, _) in enumerate(order.sites):
            by_site.setdefault(site, []).append(some.get(state))
    found = {}
    for start, wait in windows:
        pairs = zip(by_site.get(start, ()), by_site.get(wait, ()), strict=True)
        spans = [
            two.exit - one.enter
            for one, two in pairs
            if one is not None and two is not None and len(one.enter) == len(two.exit)
        ]
        if spans:
            found[start] = float(np.median(np.concatenate(spans)))
    return found


def _calls_of(trace: Trace, rank: int) -> npt.NDArray[Any]:
    """Of the main thread, in the order in which they were entered."""
    calls = trace.calls(rank)
    calls = calls[calls["thread"] == 0]
    order = np.argsort(calls["enter_ns"], kind="stable")
    rows: npt.NDArray[Any] = calls[order][:MOST_CALLS]
    return rows


def _by_state(order: CallOrder, trace: Trace, calls: npt.NDArray[Any], is_sure: bool) -> Iterable[tuple[int, _Calls]]:
    """`is_sure`: of each statement the calls that no other one can have made; else the others that it may have made."""
    names = np.array(trace.functions or [""])[calls["function"]]
    possible = order.of_names([str(one) for one in names])
    enter, end = calls["enter_ns"] * 1e-9, calls["exit_ns"] * 1e-9
    idle = np.maximum(0.0, enter[1:] - end[:-1])
    before, after = np.concatenate([[0.0], idle]), np.concatenate([idle, [0.0]])
    rows: dict[int, list[int]] = {}
    for row, states in enumerate(possible):
        is_one = not states & (states - 1)
        for state in states_in(states) if is_one == is_sure else ():
            rows.setdefault(state, []).append(row)
    for state, some in rows.items():
        at = np.array(some)
        yield state, _Calls(enter[at], end[at], before[at], after[at], calls["bytes"][at])


def _medians(ranks: list[_Calls], is_on_all: bool) -> CallTimes:
    if is_on_all and len({len(one.enter) for one in ranks}) == 1:  # the n-th call of each rank is the same
        last_in = np.max([one.enter for one in ranks], axis=0)
        taken = np.maximum(0.0, np.max([one.exit for one in ranks], axis=0) - last_in)
    else:
        taken = np.concatenate([one.exit - one.enter for one in ranks])
    sizes = np.concatenate([one.bytes for one in ranks])
    sizes = sizes[sizes >= 0]
    return CallTimes(
        calls=max(len(one.enter) for one in ranks),
        communication_s=float(np.median(taken)),
        before_s=float(np.median(np.concatenate([one.before for one in ranks]))),
        after_s=float(np.median(np.concatenate([one.after for one in ranks]))),
        bytes=int(np.median(sizes)) if len(sizes) else None,
    )
