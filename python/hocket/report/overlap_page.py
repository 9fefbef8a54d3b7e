# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The page of an overlap result."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from hocket import __version__
from hocket.report import text
from hocket.report.figure_parts import Figure, plain
from hocket.report.html import render_page
from hocket.report.overlap_tables import cases, mpis, sentences, tables, title

_COLOURS = ("--tuned", "--native", "--good", "--reduce", "--bad", "--compute")
_LEFT = 150


def render(document: dict[str, Any]) -> str:
    groups = cases(document)
    charts: dict[str, Figure] = {}
    for number, rows in enumerate(groups):
        charts[f"speedup-{number}"] = _bars(rows, "speedup", "time of MPI / time", spread="speedup_quartiles")
        charts[f"overlap-{number}"] = _bars(rows, "overlap", "hidden part of what could be")
        charts[f"cpu-{number}"] = _bars(rows, "cpu_s", "CPU time of a rank", suffix=" ms", factor=1e3)
    return render_page(
        "overlap.html",
        version=__version__,
        document=document,
        titles=[title(rows[0]) for rows in groups],
        modes=document["modes"],
        sentences=sentences(document),
        tables=tables(document),
        charts=charts,
    )


def _bars(
    rows: list[dict[str, Any]], key: str, label: str, spread: str | None = None, suffix: str = "", factor: float = 1.0
) -> Figure:
    """A bar for each mode, one beside the other for the MPIs; `spread`: where its quartiles stand."""
    modes = list(dict.fromkeys(row["mode"] for row in rows))
    names = mpis(rows)
    traces = []
    for colour, mpi in zip(cycle(_COLOURS), names, strict=False):
        own = [row for row in rows if row["mpi"] == mpi]
        trace: dict[str, Any] = {
            "type": "bar",
            "orientation": "h",
            "name": plain(mpi),
            "x": [factor * row[key] for row in own],
            "y": [plain(row["mode"]) for row in own],
            "text": [plain(_hover_text(row)) for row in own],
            "textposition": "none",
            "hovertemplate": "%{text}<extra></extra>",
            "marker": {"color": colour, "line": {"width": 0}},
        }
        if spread is not None:
            trace["error_x"] = {
                "type": "data",
                "symmetric": False,
                "array": [max(0.0, row[spread][1] - row[key]) for row in own],
                "arrayminus": [max(0.0, row[key] - row[spread][0]) for row in own],
                "color": "--axis",
                "thickness": 1.5,
                "width": 3,
            }
        traces.append(trace)
    return {
        "data": traces,
        "layout": {
            "barmode": "group",
            "bargap": 0.3,
            "height": 110 + len(modes) * (16 + 12 * len(names)),
            "margin": {"l": _LEFT, "r": 24, "t": 40, "b": 56},
            "xaxis": {"title": {"text": label, "font": {"size": 13}}, "ticksuffix": suffix, "rangemode": "tozero"},
            "yaxis": {"autorange": "reversed", "showgrid": False, "fixedrange": True},
            "showlegend": True,
            "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"},
        },
    }


def _hover_text(row: dict[str, Any]) -> str:
    low, high = map(text.seconds, row["time_quartiles_s"])
    return (
        f"{row['mode']}, {row['mpi']}: {text.seconds(row['time_s'])} ({low} to {high}), "
        f"{text.ratio(row['speedup'])} of a limit of {text.ratio(row['speedup_limit'])}, overlap {row['overlap']:.2f}; "
        f"alone: communication {text.seconds(row['communication_s'])}, computation {text.seconds(row['compute_s'])}"
    )
