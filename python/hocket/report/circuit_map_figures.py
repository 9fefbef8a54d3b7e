# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Crossover maps as heat maps: the fastest algorithm, and how much faster it is than a circuit for each message."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket import __version__
from hocket.report import text
from hocket.report.circuit_figures import FORMATS, new_canvas, picture, write_page_and_images
from hocket.report.figure_parts import Figure
from hocket.report.html import render_page

if TYPE_CHECKING:
    from hocket.circuits.maps import CircuitMap, CircuitMaps

#: Of algorithms; distinct for readers who do not see all colours (Okabe and Ito, Color Universal Design, 2008).
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")


def write_maps(maps: CircuitMaps, folder: Path, formats: tuple[str, ...] = FORMATS) -> list[Path]:
    """One page with all maps and a picture of each in every other format; returns the files."""
    images = {f"map-{one.collective}-{one.ports}-ports": partial(_image, one, maps) for one in maps.maps}
    return write_page_and_images(folder, formats, ("circuit-maps.html", partial(_page, maps)), images)


def title(one: CircuitMap) -> str:
    return f"{one.collective}, {one.ports} port{'s' * (one.ports > 1)}"


def gain(one: CircuitMap) -> list[list[float]]:
    """A circuit for each message against batches of circuits, each by its fastest algorithm."""
    return [
        [naive / managed if managed > 0 else 1.0 for naive, managed in zip(*rows, strict=True)]
        for rows in zip(one.naive_s, one.time_s, strict=True)
    ]


def _page(maps: CircuitMaps) -> str:
    charts: dict[str, Figure] = {}
    for number, one in enumerate(maps.maps):
        charts[f"fastest-{number}"] = _fastest(one)
        charts[f"gain-{number}"] = _gain(one)
    return render_page(
        "circuit_maps.html",
        charts,
        version=__version__,
        request=maps.request.costs,
        titles=[title(one) for one in maps.maps],
        algorithms=[
            [(name.replace("_", " "), _COLOURS[number % len(_COLOURS)]) for number, name in enumerate(one.algorithms)]
            for one in maps.maps
        ],
    )


def _labels(one: CircuitMap) -> list[list[str]]:
    return [
        [
            f"{text.byte_count(size)}, set-up and teardown {text.seconds(connection_s)}<br>"
            f"{one.algorithms[one.fastest[row][column]].replace('_', ' ')}: {text.seconds(one.time_s[row][column])}<br>"
            f"a circuit a message: {text.seconds(one.naive_s[row][column])}"
            for column, size in enumerate(one.bytes)
        ]
        for row, connection_s in enumerate(one.connection_s)
    ]


def _heat_map(one: CircuitMap, values: list[list[float]], **look: Any) -> Figure:
    axis = {"type": "log", "exponentformat": "SI", "dtick": 1}
    return {
        "data": [
            {
                "type": "heatmap",
                "x": list(one.bytes),
                "y": list(one.connection_s),
                "z": values,
                "text": _labels(one),
                "hovertemplate": "%{text}<extra></extra>",
                **look,
            }
        ],
        "layout": {
            "height": 380,
            "margin": {"l": 80, "r": 24, "t": 24, "b": 56},
            "xaxis": axis | {"title": {"text": "bytes", "font": {"size": 13}}, "ticksuffix": "B"},
            "yaxis": axis | {"title": {"text": "set-up and teardown", "font": {"size": 13}}, "ticksuffix": "s"},
        },
    }


def _fastest(one: CircuitMap) -> Figure:
    count = len(one.algorithms)
    scale = [
        [edge / count, _COLOURS[number % len(_COLOURS)]] for number in range(count) for edge in (number, number + 1)
    ]
    values = [[float(number) for number in row] for row in one.fastest]
    return _heat_map(one, values, colorscale=scale, zmin=-0.5, zmax=count - 0.5, showscale=False)


def _gain(one: CircuitMap) -> Figure:
    return _heat_map(one, gain(one), colorscale="Viridis", zmin=1, colorbar={"title": {"text": "times"}})


def _image(one: CircuitMap, maps: CircuitMaps, kind: str) -> bytes:
    canvas = new_canvas(11, 4.4)
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    left, right = canvas.subplots(1, 2)
    x, y = _edges(one.bytes), _edges(one.connection_s)
    count = len(one.algorithms)
    colours = [_COLOURS[number % len(_COLOURS)] for number in range(count)]
    left.pcolormesh(x, y, one.fastest, cmap=ListedColormap(colours), vmin=-0.5, vmax=count - 0.5, rasterized=True)
    left.legend(
        handles=[
            Patch(color=colour, label=name.replace("_", " "))
            for colour, name in zip(colours, one.algorithms, strict=True)
        ]
    )
    left.set_title(f"the fastest of {title(one)}, {maps.request.costs.ranks} nodes")
    mesh = right.pcolormesh(x, y, gain(one), cmap="viridis", vmin=1, rasterized=True)
    right.set_title("times faster than a circuit a message")
    canvas.colorbar(mesh, ax=right)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("bytes")
        axes.set_ylabel("set-up and teardown in s")
    return picture(canvas, kind)


def _edges(middles: tuple[float, ...]) -> list[float]:
    """Of cells around `middles`, on a logarithmic axis."""
    if len(middles) == 1:
        return [middles[0] / 2, middles[0] * 2]
    inner = [math.sqrt(a * b) for a, b in pairwise(middles)]
    return [middles[0] ** 2 / inner[0], *inner, middles[-1] ** 2 / inner[-1]]
