# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Charts of runs of a traced program: ranks over time, and where a prediction and a measurement part."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hocket.report.figure_parts import LEFT_MARGIN, Figure, panel_title, rows_axis, time_axis, time_scale
from hocket.traces.analysed import ACTIVITIES, SHARES, Drift, Timeline

_COLOURS = ("--surface", "--compute", "--send", "--reduce", "--shade0", "--receive")  # of ACTIVITIES
_GAP, _TOP, _BOTTOM = 34, 62, 44  #: pixels


def timeline_figure(panels: Sequence[tuple[str, Timeline]]) -> Figure:
    """The runs one above the other on one axis. page.js fills the cells from `levels`: those that fit the window."""
    scale, unit = time_scale(max(levels.span_s for _, levels in panels))
    heights = [max(60, min(24, 480 // len(levels.ranks)) * len(levels.ranks)) for _, levels in panels]
    total = sum(heights) + _GAP * len(heights)
    layout: Figure = {
        "height": total + _TOP + _BOTTOM,
        "margin": {"l": LEFT_MARGIN, "r": 24, "t": _TOP, "b": _BOTTOM},
        "xaxis": time_axis(unit, "time since MPI_Init")
        | {"range": [0, panels[0][1].span_s / scale], "anchor": "free", "position": 0},
        "showlegend": False,
        "dragmode": "zoom",
        "annotations": [],
    }
    traces: list[Figure] = []
    cells: list[Figure] = []
    top = total
    for i, ((title, levels), height) in enumerate(zip(panels, heights, strict=True)):
        suffix = "" if i == 0 else str(i + 1)
        top -= _GAP
        domain = [(top - height) / total, top / total]
        top -= height
        every = max(1, math.ceil(12 * len(levels.ranks) / height))
        rows = range(0, len(levels.ranks), every)
        labels = [str(levels.ranks[row]) for row in rows]
        layout[f"yaxis{suffix}"] = rows_axis(list(rows), labels, len(levels.ranks) - 0.5, -0.5) | {
            "domain": domain,
            "title": {"text": "rank", "font": {"size": 13}},
        }
        layout["annotations"].append(panel_title(title, domain[1]))
        cells.append(_levels(levels, len(traces), scale))
        traces.append(_cells(suffix, unit, first=i == 0))
        traces.append(_path(levels, scale, suffix))
    return {"data": traces, "layout": layout, "levels": cells}


def _levels(levels: Timeline, trace: int, scale: float) -> Figure:
    """What page.js needs: of each level its number of columns, and its cells row by row."""
    return {
        "trace": trace,
        "end": levels.span_s / scale,
        "rows": len(levels.ranks),
        "names": list(ACTIVITIES),
        "shares": SHARES,
        "levels": [
            {"columns": columns, "cells": cells} for columns, cells in zip(levels.columns, levels.cells, strict=True)
        ],
    }


def _cells(suffix: str, unit: str, first: bool) -> Figure:
    number = len(ACTIVITIES)
    steps = [[edge / number, colour] for i, colour in enumerate(_COLOURS) for edge in (i, i + 1)]
    return {
        "type": "heatmap",
        "z": [[0]],
        "zmin": -0.5,
        "zmax": number - 0.5,
        "colorscale": steps,
        "showscale": first,
        "colorbar": {
            "orientation": "h",
            "x": 1,
            "xanchor": "right",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "lenmode": "pixels",
            "len": 560,
            "thickness": 8,
            "tickvals": list(range(number)),
            "ticktext": list(ACTIVITIES),
        },
        "hovertemplate": f"rank row %{{y}}, %{{x:.6~g}} {unit}<br>%{{customdata}}<extra></extra>",
        "yaxis": f"y{suffix}",
    }


def _path(levels: Timeline, scale: float, suffix: str) -> Figure:
    """The critical path as a line from rank to rank."""
    row_of = {rank: row for row, rank in enumerate(levels.ranks)}
    steps = zip(levels.path_start_s, levels.path_end_s, strict=True)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [round(time_s / scale, 7) for step in steps for time_s in step],
        "y": [row_of[rank] for rank in levels.path_rank for _ in range(2)],
        "line": {"color": "--bad", "width": 1.5, "shape": "linear"},
        "hoverinfo": "skip",
        "yaxis": f"y{suffix}",
    }


def drift_figure(drift: Drift) -> Figure:
    """How late the simulated program is over the time of the recorded one: the mean of the ranks, and their range."""
    scale, unit = time_scale(drift.time_s[-1])
    x = [round(time_s / scale, 6) for time_s in drift.time_s]

    def line(values: list[float], **more: object) -> Figure:
        y = [round(value / scale, 6) for value in values]
        return {"type": "scatter", "mode": "lines", "x": x, "y": y} | more

    edge = {"line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    return {
        "data": [
            line(drift.least_s, **edge),
            line(drift.most_s, fill="tonexty", fillcolor="--shade0", **edge),
            line(drift.mean_s, name="mean of the ranks", line={"color": "--tuned", "width": 2}, showlegend=False),
        ],
        "layout": {
            "height": 280,
            "margin": {"l": LEFT_MARGIN, "r": 24, "t": 12, "b": 44},
            "xaxis": time_axis(unit, "time of the recorded run"),
            "yaxis": {"title": {"text": "predicted later by", "font": {"size": 13}}, "ticksuffix": f" {unit}"},
        },
    }
