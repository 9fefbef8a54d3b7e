# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Charts of measured times beside predictions and limits."""

from __future__ import annotations

from collections.abc import Sequence

from hocket.report import text
from hocket.report.figure_parts import LEFT_MARGIN, Figure, bar, diamond, plain, rows_axis, time_axis, time_scale
from hocket.report.result import CollectiveResult, ProgramResult

MAX_PANELS = 12


def program_figure(program: ProgramResult) -> Figure:
    """Every run of the program as a point, on an axis from 0."""
    scale, unit = time_scale(max(program.native_s + program.tuned_s))
    traces = []
    for row, (name, times_s, colour) in enumerate(
        (("native", program.native_s, "--native"), ("with the plan", program.tuned_s, "--tuned"))
    ):
        median_s = text.median(times_s) or 0
        if not times_s:
            continue
        traces.append(
            bar([median_s / scale], [1 - row], colour, opacity=0.28, width=0.62, hoverinfo="skip", showlegend=False)
        )
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": [time / scale for time in times_s],
                # apart from each other, in the order in which they ran
                "y": [1 - row + 0.2 - 0.4 * i / max(1, len(times_s) - 1) for i in range(len(times_s))],
                "text": [f"{name}, run {i + 1}: {text.seconds(time)}" for i, time in enumerate(times_s)],
                "hovertemplate": "%{text}<extra></extra>",
                "marker": {"color": colour, "size": 9},
                "showlegend": False,
            }
        )
    if program.predicted_s is not None:
        traces.append(diamond([program.predicted_s / scale], [0], "predicted", [text.seconds(program.predicted_s)]))
    return {
        "data": traces,
        "layout": {
            "height": 170,
            "margin": {"l": LEFT_MARGIN, "r": 24, "t": 8, "b": 44},
            "xaxis": time_axis(unit, "wall time of a run"),
            "yaxis": rows_axis([1, 0], ["native", "with the plan"], -0.5 if program.tuned_s else 0.5, 1.5),
            "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"},
        },
    }


def collectives_figure(collectives: Sequence[tuple[str, CollectiveResult]]) -> Figure:
    """For each (label, collective) a panel with its own axis: native, measured with the plan, predicted, wire limit."""
    shown = collectives[:MAX_PANELS]
    traces: list[Figure] = []
    layout: Figure = {
        "height": 60 + 118 * len(shown),
        "margin": {"l": LEFT_MARGIN, "r": 24, "t": 56, "b": 20},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top"},
        "annotations": [],
        "barmode": "overlay",
    }
    step = 1 / max(1, len(shown))
    pixels = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    for i, (label, entry) in enumerate(shown):
        suffix = "" if i == 0 else str(i + 1)
        axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        top = 1 - i * step
        domain = [top - step + 38 / pixels, top - 22 / pixels]
        known = [
            *entry.native_s,
            *entry.tuned_s,
            *(v for v in (entry.predicted_s, entry.wire_limit_s) if v is not None),
        ]
        scale, unit = time_scale(max(known, default=0))
        for row, (name, times_s, colour) in enumerate(
            (("native", entry.native_s, "--native"), ("new schedule", entry.tuned_s, "--tuned"))
        ):
            if times_s:
                traces.append(_median_bar(name, times_s, scale, 1 - row, colour, axes, first=i == 0))
        if entry.predicted_s is not None:
            mark = diamond([entry.predicted_s / scale], [0], "predicted", [text.seconds(entry.predicted_s)], i == 0)
            traces.append(mark | axes)
        if entry.wire_limit_s is not None:
            traces.append(_limit(entry.wire_limit_s, scale, i == 0) | axes)
        layout[f"xaxis{suffix}"] = time_axis(unit) | {"anchor": f"y{suffix}"}
        layout[f"yaxis{suffix}"] = rows_axis([1, 0], ["native", "new schedule"], -0.5, 1.5) | {
            "domain": domain,
            "anchor": f"x{suffix}",
        }
        layout["annotations"].append(
            {
                "text": f"<b>{plain(label)}</b>" + ("" if entry.kept else " (not in the plan)"),
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "y": domain[1],
                "xanchor": "left",
                "yanchor": "bottom",
                "xshift": -LEFT_MARGIN,
                "yshift": 2,
                "showarrow": False,
            }
        )
    return {"data": traces, "layout": layout}


def _median_bar(
    name: str, times_s: list[float], scale: float, row: float, colour: str, axes: Figure, first: bool
) -> Figure:
    """The median, with whiskers to the smallest and the largest time."""
    median_s = text.median(times_s) or 0
    spread = f"{text.seconds(min(times_s))} to {text.seconds(max(times_s))}, {len(times_s)} times"
    return bar(
        [median_s / scale],
        [row],
        colour,
        width=0.62,
        name=name,
        legendgroup=name,
        showlegend=first,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [(max(times_s) - median_s) / scale],
            "arrayminus": [(median_s - min(times_s)) / scale],
            "thickness": 1.5,
            "width": 5,
            "color": "--text",
        },
        text=[f"{name}: median {text.seconds(median_s)}<br>{spread}"],
        textposition="none",
        hovertemplate="%{text}<extra></extra>",
        **axes,
    )


def _limit(limit_s: float, scale: float, legend: bool) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "wire limit",
        "x": [limit_s / scale] * 2,
        "y": [-0.5, 1.5],
        "text": [f"wire limit: {text.seconds(limit_s)}"] * 2,
        "hovertemplate": "%{text}<extra></extra>",
        "line": {"color": "--limit", "width": 2},
        "legendgroup": "limit",
        "showlegend": legend,
    }
