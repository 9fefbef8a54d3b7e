# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The page of a fidelity result: predictions beside measurements."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

from hocket import __version__
from hocket.report import text
from hocket.report.fidelity_tables import by_mpi, by_network, grouped, sentences, worst
from hocket.report.figure_parts import Figure, plain
from hocket.report.html import render_page

WORST = 15
_COLOURS = ("--native", "--tuned", "--good", "--bad", "--send", "--compute")
_SYMBOLS = {"bcast": "circle", "reduce": "square", "allreduce": "diamond", "allgather": "cross", "alltoall": "x"}


def render(document: dict[str, Any]) -> str:
    charts = {
        "error": _scatter(
            document,
            lambda p: 100 * p["error"],
            "predicted / measured \N{MINUS SIGN} 1",
            {"ticksuffix": " %"},
        ),
        "speedup": _scatter(document, lambda p: p["speedup"], "native / measured", {"type": "log"}),
        "wire": _scatter(
            document,
            lambda p: p["measured_s"] / p["wire_limit_s"] if p["bytes"] >= 4096 and p["wire_limit_s"] > 0 else None,
            "measured / wire limit",
            {"type": "log"},
        ),
    }
    return render_page(
        "fidelity.html",
        version=__version__,
        document=document,
        summary=document["summary"],
        sentences=sentences(document),
        tables=[
            by_network(document),
            by_mpi(document),
            grouped(document, "collective", "by collective"),
            grouped(document, "bytes", "by size"),
            worst(document, WORST, lambda p: abs(p["error"]), "the worst predictions"),
            worst(document, WORST, lambda p: 1 / p["speedup"], "the slowest beside native"),
        ],
        charts=charts,
    )


def _scatter(
    document: dict[str, Any], value: Callable[[dict[str, Any]], float | None], title: str, axis: dict[str, Any]
) -> Figure:
    """Against the size: a colour for each MPI, a symbol for each collective."""
    traces = []
    mpis = sorted({point["mpi"] for point in document["points"]})
    for colour, mpi in zip(cycle(_COLOURS), mpis, strict=False):
        points = [(p, y) for p in document["points"] if p["mpi"] == mpi and (y := value(p)) is not None]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": plain(mpi),
                "x": [point["bytes"] for point, _ in points],
                "y": [y for _, y in points],
                "text": [plain(_hover_text(point)) for point, _ in points],
                "hovertemplate": "%{text}<extra></extra>",
                "marker": {
                    "color": colour,
                    "size": 8,
                    "opacity": 0.75,
                    "symbol": [
                        _SYMBOLS.get(point["collective"], "circle") + ("" if point["kept"] else "-open")
                        for point, _ in points
                    ],
                },
            }
        )
    sizes = sorted({point["bytes"] for point in document["points"]})
    return {
        "data": traces,
        "layout": {
            "height": 380,
            "margin": {"l": 84, "r": 24, "t": 40, "b": 56},
            "xaxis": {
                "type": "log",
                "title": {"text": "buffer of a rank", "font": {"size": 13}},
                "tickvals": sizes,
                "ticktext": [text.byte_count(size) for size in sizes],
            },
            "yaxis": {"title": {"text": title, "font": {"size": 13}}, **axis},
            "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"},
        },
    }


def _hover_text(point: dict[str, Any]) -> str:
    return (
        f"{point['collective']} of {text.byte_count(point['bytes'])}, "
        f"{point['algorithm']}, segments: {point['segments']}; "
        f"{point['network']} {point['placement']}, {point['mpi']}: predicted {text.seconds(point['predicted_s'])}, "
        f"measured {text.seconds(point['measured_s'])}, native {text.seconds(point['native_s'])}"
    )
