# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Sentences on where a run spent its time, and on what a plan could gain and serves of it."""

from __future__ import annotations

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


def possible_gain(time: TimeSplit, native_s: float) -> str:
    """Over native runs that take `native_s`, so that people see why a program with few collectives is left as it is.

    A recorded run may take longer to start, as the first one does, which is not a part of what can be gained.
    """

    def gain(at_best_s: float) -> str:
        left_s = native_s - (time.wall_s - at_best_s)
        return f"{native_s / left_s:.2f} times as fast" if left_s > 0 else "any number of times as fast"

    return (
        f"possible at best: {gain(time.at_wire_limit_s)} with every collective at its wire limit, "
        f"{gain(time.without_collectives_s)} with collectives that take no time"
    )


def share_served(served: Served) -> str:
    share = f", {text.percent(served.served_s / served.time_s)} of their time" if served.time_s > 0 else ""
    return f"served by the plan: {served.served_calls} of {served.calls} collective calls{share}"
