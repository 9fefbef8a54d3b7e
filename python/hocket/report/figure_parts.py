# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the charts share.

A figure is plotly's, in plain JSON values. A colour is the name of a CSS variable ("--native"): page.js puts the colour
of the light or dark theme in its place. The axes of times start at 0. Plotly reads a subset of HTML in every text, so
that text from outside goes through `plain`.
"""

from __future__ import annotations

import html
from typing import Any

Figure = dict[str, Any]
LEFT_MARGIN = 100
_SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def plain(label: str) -> str:
    """Text that plotly shows as it is."""
    return html.escape(label, quote=False)


def time_scale(longest_s: float) -> tuple[float, str]:
    return next((s for s in _SCALES if longest_s >= s[0]), _SCALES[-1] if longest_s > 0 else _SCALES[0])


def time_axis(unit: str, title: str = "") -> Figure:
    return {
        "rangemode": "tozero",
        "ticksuffix": f" {unit}",
        "title": {"text": title, "font": {"size": 13}},
        "zeroline": True,
        "nticks": 8,
        "tickangle": 0,
    }


def rows_axis(values: list[Any], labels: list[str], low: float, high: float) -> Figure:
    return {
        "tickmode": "array",
        "tickvals": values,
        "ticktext": labels,
        "range": [low, high],
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
    }


def percent_scale(length: int, thickness: int, ticks: list[int], **more: Any) -> Figure:
    """The colour bar of a heat map from 0 to 100 %, in the upper right corner; lengths in pixels."""
    return {
        "orientation": "h",
        "x": 1,
        "xanchor": "right",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "lenmode": "pixels",
        "len": length,
        "thickness": thickness,
        "tickvals": ticks,
        "ticktext": [f"{tick} %" for tick in ticks],
    } | more


def bar(lengths: list[float], rows: list[Any], colour: str, **more: Any) -> Figure:
    return {
        "type": "bar",
        "orientation": "h",
        "x": lengths,
        "y": rows,
        "marker": {"color": colour, "line": {"width": 0}},
    } | more


def diamond(x: list[float], y: list[float], name: str, values: list[str], legend: bool = True) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": x,
        "y": y,
        "text": [f"{name}: {value}" for value in values],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": "diamond", "size": 11, "color": "--surface", "line": {"color": "--text", "width": 2}},
        "legendgroup": name,
        "showlegend": legend,
    }


def panel_title(title: str, top: float) -> Figure:
    """The annotation above the left end of a panel whose upper edge is at `top` of the page's height, 0 to 1."""
    return {
        "text": plain(title),
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": top,
        "xanchor": "left",
        "yanchor": "bottom",
        "xshift": -LEFT_MARGIN,
        "yshift": 4,
        "showarrow": False,
    }
