# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Charts of results of `hocket bench run`: those of [Uehara] for the machines measured, and one for each item.

A document is what `hocket bench show --json` prints, with a "label" where there are several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from hocket.report import text
from hocket.report.figure_parts import Figure, plain

Document = dict[str, Any]
Row = dict[str, Any]  # a point of a document

_COLOURS = ("--tuned", "--native", "--good", "--reduce", "--bad", "--receive", "--compute", "--shade4")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star", "pentagon")


@dataclass(frozen=True)
class Series:
    """The points of an item with these options; of several that differ in others the one with the most usual ones."""

    name: str
    item: str
    options: tuple[tuple[str, str], ...] = ()

    def rows(self, document: Document) -> list[Row]:
        """What was measured, by ranks and size."""
        rows = [row for row in measured(document) if row["item"] == self.item and self._has(row)]
        rows.sort(key=lambda row: -len(row["variant"]))  # a variant names what is not usual
        found = {(row["ranks"], row["bytes"] or 0): row for row in rows}
        return [found[key] for key in sorted(found)]

    def _has(self, row: Row) -> bool:
        return all(row["options"].get(name) == value for name, value in self.options)


@dataclass(frozen=True)
class PaperFigure:
    """A figure of [Uehara]; numbers are the paper's."""

    number: int
    title: str
    series: tuple[Series, ...]
    is_throughput: bool = False
    least_ranks: bool = False  # of each series only the points of the fewest ranks: the paper has one process


def _one_way(name: str, item: str, operations: int) -> Series:
    return Series(name, item, (("partners", "one-way"), ("operations", str(operations)), ("epoch", "fence")))


LATENCY = tuple(_one_way(f"MPI_{name}", f"rma.{name.lower()}", 1) for name in ("Get", "Put", "Accumulate"))
THROUGHPUT = tuple(_one_way(f"MPI_{name}", f"rma.{name.lower()}", 16) for name in ("Get", "Put", "Accumulate"))
_OWN, _SHARED = ("file", "own"), ("file", "shared")
_PLAIN, _SYNC = ("sync", "false"), ("sync", "true")
PUT_EXCHANGE = Series("MPI_Put and MPI_Win_fence", "rma.put",
                      (("partners", "exchange"), ("operations", "1"), ("epoch", "fence")))  # fmt: skip
MESSAGE_EXCHANGE = Series("MPI_Isend and MPI_Irecv", "p2p.isend_irecv", (("partners", "exchange"), ("operations", "1")))
WRITE = Series("MPI_File_write", "io.write", (_OWN, _PLAIN))
WRITE_SYNC = Series("MPI_File_write and sync", "io.write", (_OWN, _SYNC))
FIGURES = (
    PaperFigure(
        3,
        "Read and write of a file of its own: MPI-IO and Fortran",
        (
            Series("MPI_File_read", "io.read", (_OWN,)),
            WRITE,
            Series("Fortran read", "io.fortran_read"),
            Series("Fortran write", "io.fortran_write", (("flush", "false"),)),
        ),
        least_ranks=True,
    ),
    PaperFigure(
        4,
        "Write with and without sync: MPI-IO and Fortran",
        (
            WRITE,
            WRITE_SYNC,
            Series("Fortran write", "io.fortran_write", (("flush", "false"),)),
            Series("Fortran write and flush", "io.fortran_write", (("flush", "true"),)),
        ),
        least_ranks=True,
    ),
    PaperFigure(
        5,
        "All ranks write one file: independent and collective",
        (
            Series("MPI_File_write", "io.write", (_SHARED, _PLAIN)),
            Series("MPI_File_write_all", "io.write_all", (_SHARED, _PLAIN)),
        ),
    ),
    PaperFigure(6, "Throughput of one-sided communication, 16 operations in a fence", THROUGHPUT, is_throughput=True),
    PaperFigure(7, "Time of one-sided communication, one operation in a fence", LATENCY),
    PaperFigure(8, "Exchange with all other ranks: one-sided and messages", (PUT_EXCHANGE, MESSAGE_EXCHANGE)),
)


def measured(document: Document) -> list[Row]:
    return [row for row in document["points"] if row["measured"] is not None]


def throughput(row: Row) -> tuple[float, float | None, float | None]:
    """Bytes of all ranks per second: of the median time, and between which ends by its interval."""
    found = row["measured"]
    moved, ends = found["bytes_moved"], found["interval_s"]
    low, high = (None, None) if ends is None else (moved / ends[1], moved / ends[0])
    return moved / found["median_s"], low, high


def time_s(row: Row) -> tuple[float, float | None, float | None]:
    """The median, and the ends of its interval."""
    found = row["measured"]
    low, high = found["interval_s"] or (None, None)
    return found["median_s"], low, high


def paper_figures(documents: Sequence[Document]) -> dict[str, tuple[str, Figure]]:
    """By name the title and the chart of each figure that there are points for."""
    found = {}
    for figure in FIGURES:
        lines = [line for series in figure.series for line in _lines(series, documents, figure.least_ranks)]
        if lines:
            value = throughput if figure.is_throughput else time_s
            chart = draw(lines, value, "bytes per second" if figure.is_throughput else "time")
            found[f"figure-{figure.number}"] = (f"Figure {figure.number}. {figure.title}", chart)
    return found


def item_figures(documents: Sequence[Document]) -> dict[str, tuple[str, Figure]]:
    """For each item with several sizes: its time, a line for each variant and document."""
    items: dict[str, dict[str, None]] = {}
    for document in documents:
        for row in measured(document):
            items.setdefault(row["item"], {}).setdefault(row["variant"], None)
    found = {}
    for item, variants in items.items():
        lines = []
        for variant in variants:
            for document in documents:
                rows = [row for row in measured(document) if row["variant"] == variant and row["bytes"] is not None]
                if len(rows) > 1:
                    name = variant.removeprefix(item).strip()
                    lines.append((_name(name, document, None), sorted(rows, key=lambda row: row["bytes"])))
        if lines:
            found[f"item-{item}"] = (item, draw(lines, time_s, "time"))
    return found


def name_of(document: Document) -> str:
    """Of its result."""
    return str(document.get("label") or document["suite"])


def draw(
    lines: Iterable[tuple[str, list[Row]]],
    value: Callable[[Row], tuple[float, float | None, float | None]],
    title: str,
) -> Figure:
    """Values against the size, both with logarithmic axes; bars from end to end of the intervals."""
    traces = []
    sizes: set[int] = set()
    for (name, rows), colour, symbol, dash in zip(
        lines, cycle(_COLOURS), cycle(_SYMBOLS), cycle(d for d in _DASHES for _ in _COLOURS), strict=False
    ):
        values = [value(row) for row in rows]
        sizes.update(row["bytes"] for row in rows)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": plain(name),
                "x": [max(row["bytes"], 0.5) for row in rows],  # 0 B has no logarithm
                "y": [middle for middle, _, _ in values],
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [0 if high is None else max(0.0, high - middle) for middle, _, high in values],
                    "arrayminus": [0 if low is None else max(0.0, middle - low) for middle, low, _ in values],
                    "color": colour,
                    "thickness": 1.2,
                    "width": 4,
                },
                "text": [plain(f"{name}, {hover_text(row)}") for row in rows],
                "hovertemplate": "%{text}<extra></extra>",
                "line": {"color": colour, "width": 1.6, "dash": dash},
                "marker": {"color": colour, "size": 7, "symbol": symbol},
            }
        )
    marks = sorted(sizes)
    step = -(-len(marks) // 8)
    return {
        "data": traces,
        "layout": {
            "height": 360 + 20 * len(traces),
            "margin": {"l": 84, "r": 24, "t": 16, "b": 56},
            "xaxis": {
                "type": "log",
                "title": {"text": "size", "font": {"size": 13}},
                "tickvals": [max(mark, 0.5) for mark in marks[::step]],
                "ticktext": [text.byte_count(mark) for mark in marks[::step]],
            },
            "yaxis": {
                "type": "log",
                "title": {"text": title, "font": {"size": 13}, "standoff": 12},
                "dtick": 1,
                "exponentformat": "SI",
                "minexponent": 0,
                "ticksuffix": "s" if title == "time" else "B/s",
            },
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": -0.18, "yanchor": "top"},
        },
    }


def hover_text(row: Row) -> str:
    found = row["measured"]
    ends = found["interval_s"]
    spread = f" ({text.seconds(ends[0])} to {text.seconds(ends[1])})" if ends else ", no interval yet"
    rate = f", {byte_rate(throughput(row)[0])}" if found["bytes_moved"] else ""
    where = f"{text.byte_count(row['bytes'])}, {text.counted(row['ranks'], 'rank')}"
    launches = text.counted(found["launches"], "launch", "launches")
    count = f"{text.counted(found['samples'], 'sample')} of {launches}"
    return f"{where}: {text.seconds(found['median_s'])}{spread}{rate}; {count}"


def byte_rate(bytes_per_s: float) -> str:
    return text.significant(bytes_per_s / 1e9) + " GB/s"


def _lines(series: Series, documents: Sequence[Document], least_ranks: bool) -> list[tuple[str, list[Row]]]:
    """One for each document and number of ranks."""
    found = []
    for document in documents:
        rows = [row for row in series.rows(document) if row["bytes"] is not None]
        counts = sorted({row["ranks"] for row in rows})
        for count in counts[:1] if least_ranks else counts:
            own = [row for row in rows if row["ranks"] == count]
            found.append((_name(series.name, document, count), own))
    return found


def _name(name: str, document: Document, ranks: int | None) -> str:
    parts = [name, document.get("label", ""), "" if ranks is None else text.counted(ranks, "rank")]
    return ", ".join(part for part in parts if part)
