# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Sentences on where a run spent its time, and on what a plan could gain and serves of it."""

from __future__ import annotations

import math

from hocket.report import text
from hocket.report.result import Served, TimeSplit

LEAST_SHARE_TOLD = 0.0005  #: less is 0.0 %


def parts(time: TimeSplit) -> list[tuple[str, float]]:
    """Of the wall time, with their names."""
    return [
        ("computation", time.computation_s),
        ("point-to-point", time.point_to_point_s),
        ("collectives", max(0.0, time.collectives_s - time.waiting_s)),
        ("waiting for late ranks in collectives", time.waiting_s),
        ("other MPI calls", time.other_mpi_s),
        ("start-up and end", time.start_up_s),
    ]


def where_time_goes(time: TimeSplit) -> str:
    shares = ", ".join(
        f"{name} {text.percent(part_s / time.wall_s)}"
        for name, part_s in parts(time)
        if part_s >= LEAST_SHARE_TOLD * time.wall_s
    )
    return f"time of the recorded run, {text.seconds(time.wall_s)}: {shares} (means over the ranks)"


def possible_gain(
    time: TimeSplit, native_s: float, speedup: float | None = None, starts_collectives: bool = False
) -> str:
    """Of the recorded run, so that people see why a program with few collectives is left as it is.

    A recorded run may take longer to start, as the first one does, which is not a part of what can be gained: of its
    start-up so much counts as makes it no longer than native runs, which take `native_s`. `speedup`: what was measured.
    `starts_collectives`: how long the program had to wait for these is not known.
    """
    base_s = max(time.wall_s - time.start_up_s, min(native_s, time.wall_s))

    def gain(at_best_s: float) -> float:
        left_s = base_s - (time.wall_s - at_best_s)
        return base_s / left_s if left_s > 0 else math.inf

    def shown(ratio: float) -> str:
        return f"{ratio:.2f} times as fast" if ratio < math.inf else "any number of times as fast"

    at_none = f"{shown(gain(time.without_collectives_s))} with collectives that take no time"
    if starts_collectives:
        return f"possible at best, by the recorded run: {at_none}, those that the program starts included"
    at_limit = gain(time.at_wire_limit_s)
    beyond = ""
    if speedup is not None and speedup > at_limit:
        beyond = f" (measured: {speedup:.2f}; the limit has ranks come late to collectives as in the recorded run)"
    return (
        f"possible at best, by the recorded run: {shown(at_limit)} with every collective at its wire limit{beyond}, "
        f"{at_none}"
    )


def share_served(served: Served) -> str:
    share = f", {text.percent(served.served_s / served.time_s)} of their time" if served.time_s > 0 else ""
    return f"served by the plan: {served.served_calls} of {served.calls} collective calls{share}"
