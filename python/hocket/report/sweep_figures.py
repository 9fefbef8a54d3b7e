# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Pictures of a campaign's rows: lines, heat maps, crossover maps, Pareto fronts; as figures of a page and as PNG."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from typing import Any

from hocket.report.circuit_figures import new_canvas, picture
from hocket.report.figure_parts import Figure, plain

#: Distinct for readers who do not see all colours (Okabe and Ito, Color Universal Design, 2008).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000")
_MARKS = "os^Dvp*X"


@dataclass(frozen=True)
class Axis:
    """Places in the order in which they are drawn; numbers that grow by factors are drawn on a logarithmic axis."""

    name: str
    places: list[Any]

    @property
    def is_numeric(self) -> bool:
        return all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in self.places)

    @property
    def is_logarithmic(self) -> bool:
        return self.is_numeric and min(self.places) > 0 and max(self.places) >= 8 * min(self.places)

    @property
    def labels(self) -> list[str]:
        return [self.label(place) for place in self.places]

    def label(self, place: Any) -> str:
        if self.is_numeric and (self.name == "bytes" or self.name.endswith("_bytes")):
            return _bytes(place)
        return f"{place:g}" if isinstance(place, float) else str(place)


@dataclass(frozen=True)
class Cells:
    """A map: what fills each cell of `y` and `x`. With `classes` a cell is the number of one, or None."""

    title: str
    x: Axis
    y: Axis
    value: str
    numbers: list[list[float | None]]
    classes: tuple[str, ...] = ()

    def figure(self) -> Figure:
        texts = [[self._text(cell) for cell in row] for row in self.numbers]
        look: Figure = {"colorscale": "Viridis", "colorbar": {"title": {"text": plain(self.value)}}}
        if self.classes:
            count = len(self.classes)
            scale = [[edge / count, colour] for n, colour in self._colours() for edge in (n, n + 1)]
            look = {"colorscale": scale, "zmin": -0.5, "zmax": count - 0.5, "showscale": False}
        return {
            "data": [
                {
                    "type": "heatmap",
                    "x": self.x.labels,
                    "y": self.y.labels,
                    "z": self.numbers,
                    "text": texts,
                    "hovertemplate": "%{x}, %{y}: %{text}<extra></extra>",
                    "xgap": 1,
                    "ygap": 1,
                    **look,
                }
            ],
            "layout": {
                "height": 420,
                "margin": {"l": 120, "r": 24, "t": 24, "b": 72},
                "xaxis": {"type": "category", "title": {"text": plain(self.x.name), "font": {"size": 13}}},
                "yaxis": {"type": "category", "title": {"text": plain(self.y.name), "font": {"size": 13}}},
            },
        }

    def legend(self) -> list[tuple[str, str]]:
        return [(self.classes[number], colour) for number, colour in self._colours()]

    def image(self, kind: str) -> bytes:
        canvas = new_canvas(1.6 + 0.55 * max(8, len(self.x.places)), 1.6 + 0.45 * max(6, len(self.y.places)))
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        axes = canvas.subplots()
        cells = [[float("nan") if cell is None else cell for cell in row] for row in self.numbers]
        if self.classes:
            colours = [colour for _, colour in self._colours()]
            axes.imshow(
                cells, aspect="auto", origin="lower", cmap=ListedColormap(colours), vmin=-0.5, vmax=len(colours) - 0.5
            )
            handles = [Patch(color=colour, label=name) for name, colour in self.legend()]
            axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1))
        else:
            mesh = axes.imshow(cells, aspect="auto", origin="lower", cmap="viridis")
            canvas.colorbar(mesh, ax=axes, label=self.value)
        axes.set_xticks(range(len(self.x.places)), self.x.labels, rotation=45, ha="right")
        axes.set_yticks(range(len(self.y.places)), self.y.labels)
        axes.set_xlabel(self.x.name)
        axes.set_ylabel(self.y.name)
        axes.set_title(self.title)
        return picture(canvas, kind)

    def _text(self, cell: float | None) -> str:
        if cell is None:
            return "no row"
        return plain(self.classes[int(cell)]) if self.classes else f"{cell:.4g}"

    def _colours(self) -> list[tuple[int, str]]:
        return list(zip(range(len(self.classes)), cycle(COLOURS), strict=False))


@dataclass(frozen=True)
class Curve:
    name: str
    x: list[Any]
    y: list[float]
    texts: list[str]
    line: bool = True


@dataclass(frozen=True)
class Curves:
    """Lines over numbers or names, or points of which some are joined."""

    title: str
    x: Axis
    value: str
    curves: list[Curve]

    def figure(self) -> Figure:
        logarithmic = {"type": "log", "exponentformat": "SI", "dtick": 1}
        return {
            "data": [
                {
                    "type": "scatter",
                    "mode": "lines+markers" if curve.line else "markers",
                    "name": plain(curve.name),
                    "x": curve.x if self.x.is_numeric else [self.x.label(one) for one in curve.x],
                    "y": curve.y,
                    "text": [plain(text) for text in curve.texts],
                    "hovertemplate": "%{text}<extra></extra>",
                    "line": {"color": colour, "width": 2},
                    "marker": {"size": 6, "color": colour},
                }
                for curve, colour in zip(self.curves, cycle(COLOURS), strict=False)
            ],
            "layout": {
                "height": 420,
                "margin": {"l": 80, "r": 24, "t": 40, "b": 56},
                "xaxis": (logarithmic if self.x.is_logarithmic else {})
                | {"title": {"text": plain(self.x.name), "font": {"size": 13}}},
                "yaxis": (logarithmic if self._is_logarithmic else {})
                | {"title": {"text": plain(self.value), "font": {"size": 13}}},
                "showlegend": len(self.curves) > 1,
                "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"},
            },
        }

    def legend(self) -> list[tuple[str, str]]:
        return []

    def image(self, kind: str) -> bytes:
        canvas = new_canvas(7.2, 4.6)
        axes = canvas.subplots()
        for curve, colour, mark in zip(self.curves, cycle(COLOURS), cycle(_MARKS), strict=False):
            x = curve.x if self.x.is_numeric else [self.x.label(one) for one in curve.x]
            axes.plot(x, curve.y, mark + ("-" if curve.line else ""), color=colour, markersize=4, label=curve.name)
        if self.x.is_logarithmic:
            axes.set_xscale("log")
        if self._is_logarithmic:
            axes.set_yscale("log")
        axes.set_xlabel(self.x.name)
        axes.set_ylabel(self.value)
        axes.set_title(self.title)
        axes.grid(which="major", alpha=0.3)
        if len(self.curves) > 1:
            axes.legend()
        return picture(canvas, kind)

    @property
    def _is_logarithmic(self) -> bool:
        values = [value for curve in self.curves for value in curve.y]
        return bool(values) and min(values) > 0 and max(values) >= 8 * min(values)


def _bytes(size: Any) -> str:
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"
