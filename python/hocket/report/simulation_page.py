# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The page of one simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hocket import __version__
from hocket.report import circuit_timeline_figures as circuit_figures
from hocket.report import simulation_figures as figures
from hocket.report import text
from hocket.report.convert import reduced
from hocket.report.html import render_page
from hocket.report.timeline_figures import gantt_figure

if TYPE_CHECKING:
    from hocket.report.recorded_simulation import RecordedSimulation

MOST_BARS, MOST_RANKS = 4000, 64
MOST_OUTLINED = 1500  #: bars
LINKS_IN_TABLE = 24


def render(simulation: RecordedSimulation) -> str:
    import numpy as np

    charts: dict[str, Any] = {}
    heat = figures.heat_rows(simulation)
    if heat and simulation.link_time.bytes.size:
        charts["heat"] = figures.heat_figure(simulation, heat)
        charts["utilisation"] = figures.utilisation_figure(simulation)
        charts["load"] = figures.load_figure(simulation)
    if not np.isnan(simulation.finish_s).all():
        charts["finish"] = figures.finish_figure(simulation)
    drawn = reduced(simulation.timeline, MOST_BARS, MOST_RANKS)
    if len(drawn.bars):
        charts["gantt"] = gantt_figure([(_gantt_title(simulation, drawn.ranks_shown), drawn)], str)
        if len(drawn.bars) <= MOST_OUTLINED:
            for trace in charts["gantt"]["data"]:  # messages follow each other without a gap
                trace["marker"]["line"] = {"color": "--surface", "width": 1}
    circuits, circuits_shown = simulation.circuits, {}
    if circuits is not None and circuits.circuits:
        shown, num_shown, hosts = circuit_figures.rows_of(circuits)
        until_s = circuit_figures.drawn_until(circuits, shown)
        circuits_shown = {
            "hosts": hosts,
            "shown": num_shown,
            "until_s": until_s if until_s < circuit_figures.end_of(circuits) else None,
        }
        charts["ports"] = circuit_figures.ports_figure(circuits, shown)
        charts["occupancy"] = circuit_figures.occupancy_figure(circuits)
    used = int((simulation.carried_bytes > 0).sum())
    return render_page(
        "simulation.html",
        version=__version__,
        simulation=simulation,
        values=simulation.values,
        finished=int((~np.isnan(simulation.finish_s)).sum()),
        quantiles=_quantiles(simulation),
        by_link=simulation.link_time.one_a_row and len(heat) == used,
        used=used,
        links=_ranking(simulation),
        merged=max(drawn.bars.count, default=1) > 1,
        settings=_settings(simulation.values),
        circuits_shown=circuits_shown,
        charts=charts,
    )


def _quantiles(simulation: RecordedSimulation) -> dict[str, float | None]:
    import numpy as np

    from hocket.simulation.statistics import finish_quantiles

    known = simulation.finish_s[~np.isnan(simulation.finish_s)]
    mean = float(known.mean()) if len(known) else None
    return {"mean": mean, **finish_quantiles(simulation.finish_s)}


def _ranking(simulation: RecordedSimulation) -> list[dict[str, Any]]:
    import numpy as np

    from hocket.simulation.statistics import by_use, utilisations

    capacities, carried_bytes, time = simulation.capacities, simulation.carried_bytes, simulation.link_time
    used = utilisations(capacities, carried_bytes, simulation.makespan_s)
    bandwidths = capacities.bandwidth_bytes_per_s
    return [
        {
            "name": simulation.capacity_name(int(capacity)),
            "group": time.group_names[time.group_of_row[time.row_of_capacity[capacity]]],
            "bytes": float(carried_bytes[capacity]),
            "bandwidth": text.bandwidth(float(bandwidths[capacity])),
            "share": float(used[capacity]) if np.isfinite(bandwidths[capacity]) else None,
        }
        for capacity in by_use(capacities, carried_bytes, simulation.makespan_s)[:LINKS_IN_TABLE]
    ]


def _settings(values: dict[str, Any]) -> list[tuple[str, str]]:
    """What the simulation was asked for; results have their own places on the page."""
    names = ("pattern", "name", "network", "routing", "sharing", "messages", "bytes", "spread", "in_flight", "seed",
             "distance", "target", "grid", "periodic", "matrix_file", "threads", "reference", "nodes",
             "links")  # fmt: skip
    found = {**values, **(values["results"][0] if "results" in values else {})}
    shown = [(name, found[name]) for name in names if found.get(name) is not None]
    return [(name.replace("_", " "), _printed(name, value)) for name, value in shown if not isinstance(value, list)]


def _printed(name: str, value: Any) -> str:
    if name == "bytes":
        return text.byte_count(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)


def _gantt_title(simulation: RecordedSimulation, shown: list[int]) -> str:
    ranks = simulation.timeline.ranks
    return "all ranks" if len(shown) == ranks else f"{len(shown)} of {ranks:,} ranks"
