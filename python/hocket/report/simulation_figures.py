# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Charts of one simulation: links over time, finish times, how evenly links are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hocket.report import text
from hocket.report.figure_parts import Figure, percent_scale, plain, rows_axis, time_axis, time_scale

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hocket.report.recorded_simulation import LinkTime, RecordedSimulation

MOST_ROWS = 96  #: of the heat map
MOST_CURVE_POINTS = 200
FINISH_BINS = 61
_LEFT = 150
_COLOURS = ("--send", "--receive", "--reduce", "--good", "--bad", "--compute")
_HEAT = [[0, "--surface-2"], [0.02, "--shade0"], [0.25, "--shade1"], [0.5, "--shade2"], [0.75, "--shade3"],
         [0.9, "--shade4"], [1, "--shade5"]]  # fmt: skip
_HEAT_TITLE = {
    "text": "bandwidth in use", "font": {"size": 12}, "showarrow": False,
    "xref": "paper", "x": 1, "xanchor": "right", "xshift": -262,
    "yref": "paper", "y": 1, "yanchor": "bottom", "yshift": 36,
}  # fmt: skip
_LEGEND = {"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"}


@dataclass(frozen=True)
class HeatRow:
    label: str
    group: str
    percents: list[float]


def heat_rows(simulation: RecordedSimulation) -> list[HeatRow]:
    """One row for each link that carried bytes; with more links than can be shown, the links of each group by load,
    the busiest first, so many together that the rows fit."""
    import numpy as np

    time = simulation.link_time
    lengths_s = _bin_lengths_s(time, simulation.makespan_s)
    total = time.bytes.sum(axis=1)
    used = np.flatnonzero(total > 0)
    rows = []
    if time.one_a_row and len(used) <= MOST_ROWS:
        for row in sorted(used.tolist(), key=lambda row: (time.group_of_row[row], row)):
            name = simulation.capacity_name(row)  # each has the row of its number
            rows.append(_row(time, [row], lengths_s, name, time.group_names[time.group_of_row[row]]))
        return rows
    share = total / time.bandwidth_of_row
    per_group = max(1, MOST_ROWS // len(time.group_names))
    for group, name in enumerate(time.group_names):
        members = np.flatnonzero(time.group_of_row == group)
        members = members[np.argsort(-share[members], kind="stable")]
        links, first = int(time.capacities_in_row[members].sum()), 1
        for part in np.array_split(members, min(per_group, len(members))):
            last = first + int(time.capacities_in_row[part].sum()) - 1
            span = f"link {first:,}" if first == last else f"links {first:,} to {last:,}"
            rows.append(_row(time, part, lengths_s, f"{name}: {span} of {links:,}, by load", name))
            first = last + 1
    return rows


def heat_figure(simulation: RecordedSimulation, rows: list[HeatRow]) -> Figure:
    """Share of the bandwidth in use: rows of links, columns of time."""
    time = simulation.link_time
    scale, unit = time_scale(simulation.makespan_s)
    height = max(4 if len(rows) > 60 else 6, min(18, 420 // max(1, len(rows)))) * max(2, len(rows))
    by_link = all(row.label != row.group for row in rows) and len(rows) * 10 <= height and time.one_a_row
    if by_link and len({row.label for row in rows}) == len(rows) and " of " not in rows[0].label:
        ticks, labels = [float(i) for i in range(len(rows))], [plain(row.label) for row in rows]
    else:
        ticks, labels = _group_ticks(rows)
    bins = time.bytes.shape[1]
    shapes = [_line(y0=i - 0.5, y1=i - 0.5, x0=0, x1=1, xref="paper") for i in _group_starts(rows)[1:]]
    return {
        "data": [
            {
                "type": "heatmap",
                "x0": time.bin_s / 2 / scale,
                "dx": time.bin_s / scale,
                "y": list(range(len(rows))),
                "z": [row.percents for row in rows],
                "customdata": [[plain(row.label)] * bins for row in rows],
                "ygap": 1 if len(rows) <= 40 else 0,
                "zmin": 0,
                "zmax": 100,
                "colorscale": _HEAT,
                "hovertemplate": f"%{{customdata}}<br>%{{x:.4g}} {unit}: %{{z}} % of the bandwidth<extra></extra>",
                "colorbar": percent_scale(240, 10, [0, 25, 50, 75, 100]),
            }
        ],
        "layout": {
            "height": height + 62 + 48,
            "margin": {"l": _LEFT, "r": 24, "t": 62, "b": 48},
            "xaxis": time_axis(unit, "simulated time") | _span(simulation, scale),
            "yaxis": rows_axis(ticks, labels, len(rows) - 0.5, -0.5),
            "shapes": shapes,
            "annotations": [_HEAT_TITLE],
        },
    }


def utilisation_figure(simulation: RecordedSimulation) -> Figure:
    """Mean share of the bandwidth in use over time, for each group of links."""
    import numpy as np

    time = simulation.link_time
    scale, unit = time_scale(simulation.makespan_s)
    lengths_s = _bin_lengths_s(time, simulation.makespan_s)
    edges = [round(b * time.bin_s / scale, 9) for b in range(time.bytes.shape[1])] + [simulation.makespan_s / scale]
    traces = []
    for group, name in enumerate(time.group_names):
        members = np.flatnonzero((time.group_of_row == group) & np.isfinite(time.bandwidth_of_row))
        if not len(members):
            continue
        percents = _percents(time, members, lengths_s)
        traces.append(_curve(group, name, edges, [*percents, percents[-1] if percents else 0], "hv", f" {unit}"))
    return {
        "data": traces,
        "layout": {
            "height": 300,
            "margin": {"l": 70, "r": 24, "t": 60, "b": 48},
            "xaxis": time_axis(unit, "simulated time") | _span(simulation, scale),
            "yaxis": _percent_axis("mean of the links"),
            "legend": _LEGEND,
        },
    }


def load_figure(simulation: RecordedSimulation) -> Figure:
    """How evenly the links of each group are used: their use until the end, in descending order."""
    import numpy as np

    from hocket.simulation.statistics import utilisations

    time = simulation.link_time
    capacities = simulation.capacities
    used = 100 * utilisations(capacities, simulation.carried_bytes, simulation.makespan_s)
    group_of_capacity = time.group_of_row[time.row_of_capacity]
    traces = []
    for group, name in enumerate(time.group_names):
        values = np.sort(used[(group_of_capacity == group) & np.isfinite(capacities.bandwidth_bytes_per_s)])[::-1]
        if not len(values):
            continue
        places = np.unique(np.linspace(0, len(values) - 1, MOST_CURVE_POINTS).round().astype(int))
        shares = (100 * (places + 1) / len(values)).round(3).tolist()
        heights = values[places].round(2).tolist()
        # from the axis on: the first link stands for the share that it is
        curve = _curve(
            group, f"{name} ({len(values):,})", [0, *shares], [heights[0], *heights], "vh", " % of the links"
        )
        traces.append(curve)
    return {
        "data": traces,
        "layout": {
            "height": 300,
            "margin": {"l": 70, "r": 24, "t": 60, "b": 48},
            "xaxis": {
                "title": {"text": "share of the links, the busiest first", "font": {"size": 13}},
                "ticksuffix": " %",
                "range": [0, 100],
                "zeroline": True,
            },
            "yaxis": _percent_axis("in use until the end"),
            "legend": _LEGEND,
        },
    }


def finish_figure(simulation: RecordedSimulation) -> Figure:
    """How many ranks finish when."""
    import numpy as np

    from hocket.simulation.statistics import finish_quantiles

    finish_s = simulation.finish_s[~np.isnan(simulation.finish_s)]
    scale, unit = time_scale(float(finish_s.max()))
    low, high = float(finish_s.min()), float(finish_s.max())
    margin = 0.02 * (high - low) if high > low * (1 + 1e-9) else 0.05 * high or 1
    counts, edges = np.histogram(finish_s, bins=FINISH_BINS, range=(low - margin, high + margin))
    edges = edges / scale
    most = int(counts.max())
    traces: list[Figure] = [
        {
            "type": "bar",
            "x": ((edges[:-1] + edges[1:]) / 2).tolist(),
            "y": counts.tolist(),
            "width": np.diff(edges).tolist(),
            "marker": {"color": "--shade2", "line": {"width": 0}},
            "text": [
                f"{text.seconds(edges[i] * scale)} to {text.seconds(edges[i + 1] * scale)}: {count:,} ranks"
                for i, count in enumerate(counts.tolist())
            ],
            "textposition": "none",
            "hovertemplate": "%{text}<extra></extra>",
            "showlegend": False,
        }
    ]
    marks = {"mean": float(finish_s.mean()), **finish_quantiles(finish_s)}
    for (name, time_s), colour, dash in zip(
        marks.items(), ("--text", "--good", "--receive", "--bad"), ("solid", "dash", "dash", "dash"), strict=True
    ):
        assert time_s is not None
        label = f"{name}: {text.seconds(time_s)}"
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": label,
                "x": [time_s / scale] * 2,
                "y": [0, 1.05 * most],
                "line": {"color": colour, "width": 2, "dash": dash},
                "hovertemplate": f"{label}<extra></extra>",
            }
        )
    return {
        "data": traces,
        "layout": {
            "height": 300,
            "margin": {"l": 70, "r": 24, "t": 60, "b": 48},
            "xaxis": time_axis(unit, "finish of a rank")
            | {"rangemode": "normal", "zeroline": False, "range": [edges[0], edges[-1]]},
            "yaxis": {
                "title": {"text": "ranks", "font": {"size": 13}},
                "rangemode": "tozero",
                "range": [0, 1.05 * most],
                "tickformat": "~s" if most >= 10_000 else ",d",
            }
            | ({"dtick": 1} if most <= 8 else {}),
            "bargap": 0,
            "legend": _LEGEND,
        },
    }


def _bin_lengths_s(time: LinkTime, makespan_s: float) -> NDArray[np.float64]:
    """The last bin ends with the simulation."""
    import numpy as np

    starts_s = time.bin_s * np.arange(time.bytes.shape[1])
    lengths_s = np.minimum(time.bin_s, makespan_s - starts_s)
    return np.where(lengths_s > 1e-9 * time.bin_s, lengths_s, time.bin_s)


def _percents(time: LinkTime, members: Any, lengths_s: NDArray[np.float64]) -> list[float]:
    capacity = time.bandwidth_of_row[members].sum() * lengths_s
    percents: list[float] = (100 * time.bytes[members].sum(axis=0) / capacity).round(2).tolist()
    return percents


def _row(time: LinkTime, members: Any, lengths_s: NDArray[np.float64], label: str, group: str) -> HeatRow:
    return HeatRow(label, group, [round(value, 1) for value in _percents(time, members, lengths_s)])


def _group_starts(rows: list[HeatRow]) -> list[int]:
    return [i for i, row in enumerate(rows) if i == 0 or row.group != rows[i - 1].group]


def _group_ticks(rows: list[HeatRow]) -> tuple[list[float], list[str]]:
    """The name of each group in the middle of its rows."""
    starts = _group_starts(rows)
    ends = [*starts[1:], len(rows)]
    ticks = [(start + end - 1) / 2 for start, end in zip(starts, ends, strict=True)]
    return ticks, [plain(rows[start].group) for start in starts]


def _curve(group: int, name: str, x: list[float], y: list[float], shape: str, x_unit: str) -> Figure:
    upwards = name.split(" → ")[0] <= name.split(" → ")[-1] if "level" in name.split(" → ")[0] else True
    return {
        "type": "scatter",
        "mode": "lines",
        "name": plain(name),
        "x": x,
        "y": y,
        "line": {
            "color": _COLOURS[group % len(_COLOURS)],
            "width": 2,
            "shape": shape,
            "dash": "solid" if upwards else "dot",
        },
        "hovertemplate": f"{plain(name)}<br>%{{x:.4g}}{x_unit}: %{{y}} %<extra></extra>",
    }


def _percent_axis(title: str) -> Figure:
    return {
        "title": {"text": title, "font": {"size": 13}},
        "rangemode": "tozero",
        "range": [0, 102],
        "tickvals": [0, 25, 50, 75, 100],
        "ticktext": ["0 %", "25 %", "50 %", "75 %", "100 %"],
    }


def _span(simulation: RecordedSimulation, scale: float) -> Figure:
    return {"range": [0, (simulation.makespan_s or 1) / scale]}


def _line(**place: Any) -> Figure:
    return {"type": "line", "yref": "y", "line": {"color": "--axis", "width": 1}} | place
