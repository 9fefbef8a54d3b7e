# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Closed forms on circuits as figures: time against size, both logarithmic, a curve for each number of ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket import __version__
from hocket.circuits.costs import IDEAL
from hocket.errors import Error, InvalidInput
from hocket.io.files import write_whole
from hocket.report import text
from hocket.report.figure_parts import Figure
from hocket.report.html import render_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from hocket.circuits.costs import CircuitCosts, CircuitFigure, Curve

FORMATS = ("html", "png", "svg")
_COLOURS = ("--bad", "--native", "--tuned", "--good", "--send", "--compute")


def write_figures(costs: CircuitCosts, folder: Path, formats: tuple[str, ...] = FORMATS) -> list[Path]:
    """One page with all figures and a picture of each in every other format; returns the files."""
    if costs.request.bytes < 1:
        raise InvalidInput("a figure over sizes begins at 1 B", "give --bytes 1MB")
    images = {f"{figure.collective}-{figure.algorithm}": partial(_image, figure, costs) for figure in costs.figures}
    return write_page_and_images(folder, formats, ("circuits.html", partial(_page, costs)), images)


def write_page_and_images(
    folder: Path,
    formats: tuple[str, ...],
    page: tuple[str, Callable[[], str]],
    images: Mapping[str, Callable[[str], bytes]],
) -> list[Path]:
    """Into a folder, which is made; returns the files. An image is called with its format."""
    contents = {f"{name}.{kind}": image(kind) for kind in formats if kind != "html" for name, image in images.items()}
    if "html" in formats:
        contents[page[0]] = page[1]().encode()
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder}: is a file; expected a folder for the figures")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{folder}: cannot be made: {error.strerror}") from None
    for name, content in contents.items():
        write_whole(folder / name, content)
    return [folder / name for name in contents]


def title(figure: CircuitFigure) -> str:
    volume = " (volume of an allgather)" if figure.is_less_than_possible else ""
    return f"{figure.collective} {figure.algorithm.replace('_', ' ')}{volume}"


def label_of_bytes(costs: CircuitCosts, figure: CircuitFigure) -> str:
    if figure.collective in ("bcast", "reduce", "allreduce"):
        return "bytes of the message"
    return "bytes of all ranks together" if costs.request.whole else "bytes of a block"


def _page(costs: CircuitCosts) -> str:
    charts = {str(number): _chart(costs, figure) for number, figure in enumerate(costs.figures)}
    request = costs.request
    return render_page(
        "circuits.html",
        charts,
        version=__version__,
        request=request,
        titles=[title(figure) for figure in costs.figures],
        rows=[[(curve.name, curve.batches, curve.time_s[-1]) for curve in figure.curves] for figure in costs.figures],
        largest=[text.byte_count(figure.bytes[-1]) for figure in costs.figures],
    )


def _chart(costs: CircuitCosts, figure: CircuitFigure) -> Figure:
    def trace(curve: Curve, colour: str) -> dict[str, Any]:
        return {
            "type": "scatter",
            "mode": "lines+markers",
            "name": curve.name,
            "x": list(figure.bytes),
            "y": list(curve.time_s),
            "text": [
                f"{curve.name}, {text.byte_count(size)}: {text.seconds(time)}"
                for size, time in zip(figure.bytes, curve.time_s, strict=True)
            ],
            "hovertemplate": "%{text}<extra></extra>",
            "line": {"color": colour, "width": 2, "dash": "dash" if curve.name == IDEAL else "solid"},
            "marker": {"size": 5, "color": colour},
        }

    axis = {"type": "log", "exponentformat": "SI", "dtick": 1}
    return {
        "data": [trace(curve, colour) for curve, colour in zip(figure.curves, cycle(_COLOURS), strict=False)],
        "layout": {
            "height": 420,
            "margin": {"l": 80, "r": 24, "t": 40, "b": 56},
            "xaxis": axis | {"title": {"text": label_of_bytes(costs, figure), "font": {"size": 13}}, "ticksuffix": "B"},
            "yaxis": axis | {"title": {"text": "time", "font": {"size": 13}}, "ticksuffix": "s"},
            "showlegend": True,
            "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"},
        },
    }


def _image(figure: CircuitFigure, costs: CircuitCosts, kind: str) -> bytes:
    canvas = new_canvas(6.4, 4.4)
    axes = canvas.subplots()
    for curve in figure.curves:
        style = "--" if curve.name == IDEAL else "-"
        axes.loglog(figure.bytes, curve.time_s, style, marker="o", markersize=3, label=curve.name)
    axes.set_xlabel(label_of_bytes(costs, figure))
    axes.set_ylabel("time in s")
    axes.set_title(f"{title(figure)}, {costs.request.ranks} nodes")
    axes.grid(which="major", alpha=0.3)
    axes.legend()
    return picture(canvas, kind)


def new_canvas(width_inch: float, height_inch: float) -> Canvas:
    """Raises Error without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise Error("pictures need matplotlib", "pip install 'hocket[plots]', or --format html") from None
    canvas = Canvas(figsize=(width_inch, height_inch))
    FigureCanvasAgg(canvas)
    return canvas


def picture(canvas: Canvas, kind: str) -> bytes:
    content = BytesIO()
    canvas.savefig(content, format=kind, bbox_inches="tight", dpi=150)
    return content.getvalue()
