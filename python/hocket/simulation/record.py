# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Simulations of traffic and of programs in the form that their files and pages are made from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hocket._core import CircuitTimeline
from hocket.networks.link_groups import LinkGroups, LinkRows, capacity_names, group_links, rows_of
from hocket.report.circuits_over_time import circuits_over_time
from hocket.report.convert import timeline_of
from hocket.report.recorded_simulation import LinkTime, RecordedSimulation
from hocket.report.timeline import Bars, TimelineData

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hocket import Network
    from hocket.simulation.programs import Simulated
    from hocket.simulation.traffic import TrafficRun

MOST_BARS = 50_000  #: of a program


def recorded_traffic(done: TrafficRun, values: dict[str, Any]) -> RecordedSimulation:
    """`done` was made with `RunOptions.record`."""
    result, fabric = done.result, done.fabric
    assert done.groups is not None
    assert done.rows is not None
    makespan_s = float(values["makespan_s"])
    sources = result.message_source.tolist()
    ends_s = [min(end_s, makespan_s) if end_s == end_s else makespan_s for end_s in result.message_end_s.tolist()]
    bars = Bars(
        rank=sources,
        kind=["send"] * len(sources),
        peer=result.message_target.tolist(),
        start_s=result.message_start_s.tolist(),
        end_s=ends_s,
        bytes=result.message_bytes.tolist(),
        count=[1] * len(sources),
    )
    timeline = TimelineData(
        title=done.pattern.name,
        ranks=done.traffic.num_sources,
        makespan_s=makespan_s,
        num_operations=len(sources) + result.num_left_out,
        ranks_shown=done.recorded_ranks,
        bars=bars,
        links=[],
    )
    return RecordedSimulation(
        title=f"{done.pattern.name} on {fabric.name}",
        values=values,
        completed=result.completed,
        makespan_s=makespan_s,
        finish_s=done.sender_finish_s(),
        link_bytes=_passed(result.completed, result.link_bytes, result.link_bins, done.rows),
        capacities=done.groups.capacities,
        capacity_name=capacity_names(fabric, done.groups.capacities),
        link_time=_link_time(done.groups, done.rows, result.link_bins, result.bin_s, makespan_s),
        timeline=timeline,
        num_left_out=result.num_left_out,
    )


def recorded_program(done: Simulated, network: Network, values: dict[str, Any]) -> RecordedSimulation:
    """`done` was made with `ProgramOptions.record`."""
    from hocket import Fabric

    fabric = Fabric.from_network(network)
    groups = group_links(fabric)
    rows = rows_of(groups)
    assert done.program is not None
    timeline = timeline_of(done.program, done.timeline, network, done.name, MOST_BARS)
    return RecordedSimulation(
        title=f"{done.name} on {network.name}",
        values=values,
        completed=done.timeline.completed,
        makespan_s=done.timeline.makespan_s,
        finish_s=done.timeline.finish_s,
        link_bytes=_passed(done.timeline.completed, done.timeline.link_bytes, done.timeline.link_bins, rows),
        capacities=groups.capacities,
        capacity_name=capacity_names(fabric, groups.capacities),
        link_time=_link_time(groups, rows, done.timeline.link_bins, done.timeline.bin_s, done.timeline.makespan_s),
        timeline=timeline,
        num_left_out=0,
        circuits=(
            circuits_over_time(done.program, done.timeline, network)
            if isinstance(done.timeline, CircuitTimeline)
            else None
        ),
    )


def _link_time(
    groups: LinkGroups, rows: LinkRows, bins: NDArray[np.float64], bin_s: float, makespan_s: float
) -> LinkTime:
    import numpy as np

    bandwidths = np.bincount(
        rows.row_of_capacity, weights=groups.capacities.bandwidth_bytes_per_s, minlength=len(rows.group_of_row)
    )
    return LinkTime(
        bin_s if bin_s > 0 else math.inf if not bins.shape[1] else makespan_s or 1.0,  # one bin: all passed at 0 s
        bins,
        rows.row_of_capacity,
        rows.capacities_in_row,
        rows.group_of_row,
        groups.names,
        bandwidths.astype(np.float64),
    )


def _passed(
    completed: bool, sent: NDArray[np.float64], bins: NDArray[np.float64], rows: LinkRows
) -> NDArray[np.float64]:
    """Bytes of each link. Of a simulation that was stopped, `sent` has messages that have not passed yet; the bins tell
    what has: of a row of several links, each has its share of that."""
    import numpy as np

    if completed:
        return sent
    sent_in_row = np.bincount(rows.row_of_link, weights=sent, minlength=len(rows.group_of_row))
    nothing = np.zeros(len(sent_in_row))
    share = np.divide(bins.sum(axis=1), sent_in_row, out=nothing, where=sent_in_row > 0)
    passed: NDArray[np.float64] = sent * share[rows.row_of_link]
    return passed
