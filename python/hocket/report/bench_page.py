# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The page of one or several results of `hocket bench run`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from hocket import __version__
from hocket.report import text
from hocket.report.bench_figures import Document, Row, item_figures, paper_figures, time_s
from hocket.report.bench_tables import paper_tables, sentences
from hocket.report.html import render_page

COLUMNS = ("item", "no.", "size", "status", "median", "95 % interval", "p05", "p99", "samples", "launches", "parts")


def render(
    documents: Sequence[Document], comparisons: Sequence[dict[str, Any]] = (), guidelines: Sequence[dict[str, Any]] = ()
) -> str:
    """A complete HTML file that loads nothing.

    `documents`: of `hocket bench show --json`, each with a "label" if there are several. `comparisons`: of `hocket
    bench compare --json`, with "before" and "after", the labels. `guidelines`: of `hocket bench guidelines --json`.
    """
    documents = [{"label": "", **document} for document in documents]
    figures, items = paper_figures(documents), item_figures(documents)
    return render_page(
        "bench.html",
        version=__version__,
        documents=documents,
        figures={name: title for name, (title, _) in figures.items()},
        items={name: title for name, (title, _) in items.items()},
        tables=paper_tables(documents),
        sentences=[(document["label"], sentences(document)) for document in documents],
        failed=[(document["label"], _not_measured(document)) for document in documents],
        comparisons=[_compared(one) for one in comparisons],
        guidelines=[_checked(one) for one in guidelines],
        columns=COLUMNS,
        charts={name: figure for name, (_, figure) in (figures | items).items()},
        fragments={f"points-{i}": _all_rows(document) for i, document in enumerate(documents)},
    )


def _not_measured(document: Document) -> list[tuple[str, str, str]]:
    """Variants with status and reason."""
    found = {
        row["variant"]: (row["variant"], row["status"], row["reason"])
        for row in document["points"]
        if row["measured"] is None
    }
    return list(found.values())


def _all_rows(document: Document) -> Markup:
    lines = (_cells(row) for row in document["points"])
    return Markup("").join(
        Markup("<tr><th scope=row>{}</th>{}</tr>").format(
            cells[0], Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells[1:])
        )
        for cells in lines
    )


def _cells(row: Row) -> tuple[str, ...]:
    found = row["measured"]
    shown = (row["variant"], str(row["number"] or ""), "" if row["bytes"] is None else text.byte_count(row["bytes"]))
    if found is None:
        return (*shown, row["status"], *([""] * 7))
    middle, low, high = time_s(row)
    return (
        *shown,
        row["status"],
        text.seconds(middle),
        "" if low is None or high is None else f"{text.seconds(low)} to {text.seconds(high)}",
        text.seconds(found["percentiles_s"]["5"]),
        text.seconds(found["percentiles_s"]["99"]),
        str(found["samples"]),
        str(found["launches"]),
        _parts(found),
    )


def _parts(found: dict[str, Any]) -> str:
    parts = [f"{name} {text.seconds(value)}" for name, value in found["parts_s"].items()]
    if found["overlap"] is not None:
        parts.append(f"overlap {text.percent(min(1.0, max(0.0, found['overlap'])))}")
    return ", ".join(parts)


def _compared(comparison: dict[str, Any]) -> dict[str, Any]:
    counts = dict.fromkeys(("faster", "slower", "same", "undecided"), 0)
    for one in comparison["differences"]:
        counts[one["verdict"]] += 1
    rows = [
        (
            one["variant"],
            "" if one["bytes"] is None else text.byte_count(one["bytes"]),
            text.seconds(one["before_s"]),
            text.seconds(one["after_s"]),
            f"{one['ratio']:.3f} ({one['low']:.3f} to {one['high']:.3f})",
            one["verdict"],
        )
        for one in comparison["differences"]
    ]
    return {
        "title": f"{comparison['after']} compared with {comparison['before']}",
        "counts": ", ".join(f"{count} {verdict}" for verdict, count in counts.items()),
        "rows": [row for row in rows if row[-1] in ("faster", "slower")],
        "others": [row for row in rows if row[-1] not in ("faster", "slower")],
        "too_few": comparison["least_p"] > 0.05,
    }


def _checked(checks: dict[str, Any]) -> dict[str, Any]:
    rows = [
        (
            one["guideline"],
            "" if one["bytes"] is None else text.byte_count(one["bytes"]),
            text.seconds(one["left_s"]),
            text.seconds(one["right_s"]),
            f"{one['ratio']:.2f} ({one['low']:.2f} to {one['high']:.2f})",
            one["verdict"],
        )
        for one in checks["checks"]
    ]
    return {
        "label": checks.get("label", ""),
        "sentence": checks["sentence"],
        "rows": [row for row in rows if row[-1] == "violated"],
        "others": [row for row in rows if row[-1] != "violated"],
    }
