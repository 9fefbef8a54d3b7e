# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket sweep show` asks for: tables and pictures of the rows of a campaign."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput
from hocket.io.files import write_whole
from hocket.report import text
from hocket.report.sweep_figures import Axis, Cells, Curve, Curves
from hocket.reporter import SILENT, Reporter
from hocket.sweep.campaign import read_toml
from hocket.sweep.networks import slug
from hocket.sweep.store import CAMPAIGN, frame, summary_of
from hocket.sweep.views import View, grid, ordered, pareto, view_of

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_TABLE_ROWS = 50
MOST_TABLE_COLUMNS = 10
MOST_NAMED = 20  # values of a column, in a message
_MAIN = ("makespan_s", "median_s", "time_s", "predicted_s", "measured_s", "item", "bytes", "status")
PAGE = "page.html"


@dataclass(frozen=True)
class ShowRequest:
    folder: Path
    view: View | None = None  #: None = those of the campaign, or the first rows
    where: tuple[str, ...] = ()  #: only these rows: "what=bcast:ring"
    pictures: bool = False  #: write a page and PNG files
    output: Path | None = None  #: None = into the folder


@dataclass(frozen=True)
class Table:
    title: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Shown:
    rows: DataFrame
    tables: tuple[Table, ...]
    files: tuple[Path, ...]  #: that were written

    @property
    def values(self) -> dict[str, Any]:
        return {
            "rows": self.rows.astype(object).where(self.rows.notna(), None).to_dict("records"),
            "files": [str(path) for path in self.files],
        }


def run(request: ShowRequest, reporter: Reporter = SILENT) -> Shown:
    """@raises InvalidInput if there are no rows, or they have no such column."""
    rows = frame(request.folder)
    if rows.empty:
        raise InvalidInput(f"{request.folder}: has no rows", "run the campaign first")
    for condition in request.where:
        rows = _chosen(rows, condition)
    campaign = read_campaign_of(request.folder)
    views = campaign.views if request.view is None else (request.view,)
    tables = [table_of(view, rows) for view in views] or [_first_rows(rows)]
    files: list[Path] = []
    if request.pictures:
        files = _write(request, rows, views, tables, reporter)
    return Shown(rows, tuple(tables), tuple(files))


def _chosen(rows: DataFrame, condition: str) -> DataFrame:
    column, equals, text = condition.partition("=")
    if not equals:
        raise InvalidInput(f"--where {condition}: no =", "as in --where what=bcast:binomial")
    if column not in rows:
        raise InvalidInput(f"--where {condition}: the rows have no such column", f"accepted: {', '.join(rows)}")
    found = rows[[_is_same(value, text) for value in rows[column]]]
    if found.empty:
        known = ", ".join(map(str, ordered(rows[column].dropna())[:MOST_NAMED]))
        raise InvalidInput(f"--where {condition}: no row has that value", f"there are {known}")
    return found


def _is_same(value: Any, text: str) -> bool:
    if str(value) == text:
        return True
    try:
        return float(value) == float(text)
    except (TypeError, ValueError):
        return False


@dataclass(frozen=True)
class Known:
    """What is shown of the campaign as it was run. Its networks may lie elsewhere by now."""

    title: str
    kind: str
    views: tuple[View, ...]


def read_campaign_of(folder: Path) -> Known:
    """@raises InvalidInput if it was damaged since."""
    path = folder / CAMPAIGN
    _, values = read_toml(path)
    shows = values.get("show", [])
    if "request" not in values or not isinstance(shows, list):
        raise InvalidInput(f"{path}: not as hocket sweep writes it", "copy the campaign file there again")
    views = tuple(view_of(one, [], f"{path}: show[{at}]") for at, one in enumerate(shows))
    return Known(str(values.get("title", folder.stem)), str(values["request"]), views)


def table_of(view: View, rows: DataFrame) -> Table:
    if view.kind == "pareto":
        _, front = pareto(view, rows)
        names = list(dict.fromkeys([view.by or view.x, view.x, view.value]))
        return Table(view.name, names, [[_cell(name, row[name]) for name in names] for _, row in front.iterrows()])
    found = grid(view, rows)
    across = view.y or view.by or ""
    column, line = Axis(across, found.y), Axis(view.x, found.x)
    cells: Sequence[Sequence[Any]] = found.winners if view.kind == "crossover" else found.values
    of = "" if view.relative_to else view.value
    return Table(
        view.name,
        [view.x, *column.labels],
        [[label, *(_cell(of, row[at]) for row in cells)] for at, label in enumerate(line.labels)],
    )


def picture_of(view: View, rows: DataFrame) -> Cells | Curves | None:
    """None of a table."""
    if view.kind == "table":
        return None
    if view.kind == "pareto":
        chosen, front = pareto(view, rows)
        axis = Axis(view.x, list(chosen[view.x]))
        curves = [_points(view, "not dominated", front, True), _points(view, "all", chosen, False)]
        return Curves(view.name, axis, view.value, curves)
    found = grid(view, rows)
    x = Axis(view.x, found.x)
    if view.kind == "lines":
        names = Axis(view.by or "", found.y)
        lines = [
            Curve(
                name,
                [a for a, _ in points],
                [b for _, b in points],
                [f"{name}, {x.label(a)}: {b:.4g}" for a, b in points],
            )
            for name, row in zip(names.labels, found.values, strict=True)
            for points in [[(a, b) for a, b in zip(found.x, row, strict=True) if b is not None]]
        ]
        unit = f"{view.value} / that of {view.relative_to}" if view.relative_to else view.value
        return Curves(view.name, x, unit, lines)
    y = Axis(view.y or "", found.y)
    if view.kind == "heat":
        return Cells(view.name, x, y, view.value, found.values)
    winners = sorted({name for row in found.winners for name in row if name is not None})
    numbers = [[None if name is None else float(winners.index(name)) for name in row] for row in found.winners]
    return Cells(view.name, x, y, view.value, numbers, tuple(winners))


def _points(view: View, name: str, rows: DataFrame, line: bool) -> Curve:
    labels = rows[view.by] if view.by else rows.index
    texts = [f"{label}: {a}, {b:.4g}" for label, a, b in zip(labels, rows[view.x], rows[view.value], strict=True)]
    return Curve(name, list(rows[view.x]), [float(value) for value in rows[view.value]], texts, line)


def _first_rows(rows: DataFrame) -> Table:
    names = list(rows)
    if len(names) > MOST_TABLE_COLUMNS:  # as of a benchmark: what differs, the main result first
        differ = [name for name in names[1:] if rows[name].nunique(dropna=False) > 1]
        differ.sort(key=lambda name: name.rpartition(".")[2] not in _MAIN)
        names = [names[0], *sorted(differ[: MOST_TABLE_COLUMNS - 1], key=names.index)]
    shown = [[_cell(name, row[name]) for name in names] for _, row in rows.head(MOST_TABLE_ROWS).iterrows()]
    several = [f"the first {len(shown)} of {len(rows):,} rows"] if len(rows) > len(shown) else []
    several += [f"{len(names)} of {len(list(rows))} columns; --json prints all"] if len(names) < len(list(rows)) else []
    return Table(", ".join(several).capitalize(), names, shown)


def _cell(name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value
    if name.endswith("_s") and not name.endswith("_per_s"):
        return text.seconds(float(value))
    if name == "bytes" and isinstance(value, float):
        return text.byte_count(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _write(
    request: ShowRequest, rows: DataFrame, views: Sequence[View], tables: Sequence[Table], reporter: Reporter
) -> list[Path]:
    from hocket import __version__
    from hocket.report.html import render_page

    folder = request.output or request.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{folder}: cannot be made: {error.strerror}", "write elsewhere: -o FOLDER") from None
    pictures = [picture_of(view, rows) for view in views]
    files: list[Path] = []
    charts, sections = {}, []
    with reporter.steps("drawing", len(views)) as advance:
        for number, (view, shown) in enumerate(zip(views, pictures, strict=True)):
            if shown is not None:
                path = folder / f"{slug(view.name)}.png"
                write_whole(path, shown.image("png"))
                files.append(path)
                charts[str(number)] = shown.figure()
            table = tables[number]
            sections.append(
                {
                    "title": view.name,
                    "legend": shown.legend() if shown else [],
                    "chart": str(number) if shown else None,
                    "table": (table.columns, table.rows[:MOST_TABLE_ROWS]),
                }
            )
            advance("")
    if not views:
        sections.append({"title": "Rows", "legend": [], "chart": None, "table": (tables[0].columns, tables[0].rows)})
    known, summary = read_campaign_of(request.folder), summary_of(request.folder)
    page = render_page(
        "sweep.html",
        charts,
        version=__version__,
        heading=known.title,
        kind=known.kind,
        folder=request.folder.name,
        tasks=summary.get("tasks", rows["task"].nunique()),
        failed=len(summary.get("failed", [])),
        rows=len(rows),
        sections=sections,
    )
    write_whole(folder / PAGE, page)
    return [folder / PAGE, *files]
