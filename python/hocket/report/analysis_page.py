# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The page of a traced program: what was measured, and beside it what is predicted; its parts for other pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hocket import __version__
from hocket.report.analysis_figures import drift_figure, timeline_figure
from hocket.report.html import render_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hocket.report.figure_parts import Figure
    from hocket.traces.analysed import ProgramAnalysis, RunAnalysis

MOST_ROWS = 40  #: of a table


@dataclass(frozen=True)
class Tables:
    """Each row has for each run what it says, or None."""

    functions: list[tuple[str, int, list[Any]]]
    waits: list[tuple[str, str, list[Any]]]
    ranks: list[tuple[Any, ...]]


def render(found: ProgramAnalysis) -> str:
    return render_page(
        "analysis.html", version=__version__, found=found, tables=tables_of(found), charts=charts_of(found)
    )


def charts_of(found: ProgramAnalysis, prefix: str = "") -> dict[str, Figure]:
    """By their names in the page, which begin with `prefix`."""
    charts: dict[str, Figure] = {}
    timelines = [(name, run.timeline) for name, run in found.runs if run.timeline is not None]
    if timelines:
        charts[f"{prefix}timeline"] = timeline_figure(timelines)
    if found.drift is not None and found.recorded.span_s > 0:
        charts[f"{prefix}drift"] = drift_figure(found.drift)
    return charts


def tables_of(found: ProgramAnalysis) -> Tables:
    runs = [run for _, run in found.runs]
    ranks = list(zip(*(run.ranks for run in runs), strict=True))
    return Tables(_functions(runs)[:MOST_ROWS], _waits(runs)[:MOST_ROWS], ranks[:MOST_ROWS])


def _functions(runs: Sequence[RunAnalysis]) -> list[tuple[str, int, list[Any]]]:
    """Name, calls, and of each run its row or None; those that take longest first."""
    found = [{one.function: one for one in run.functions} for run in runs]
    names = dict.fromkeys(name for of_run in found for name in of_run)
    rows = []
    for name in names:
        of_runs = [of_run.get(name) for of_run in found]
        longest_s = max(max(one.mean_s, one.on_path_s) for one in of_runs if one is not None)
        rows.append((longest_s, name, max(one.calls for one in of_runs if one is not None), of_runs))
    return [(name, calls, of_runs) for _, name, calls, of_runs in sorted(rows, key=lambda row: -row[0])]


def _waits(runs: Sequence[RunAnalysis]) -> list[tuple[str, str, list[Any]]]:
    found = [{(one.state, one.function): one for one in run.wait_states} for run in runs]
    keys = dict.fromkeys(key for of_run in found for key in of_run)
    rows = [(*key, [of_run.get(key) for of_run in found]) for key in keys]
    return sorted(rows, key=lambda row: -max(one.total_s for one in row[2] if one is not None))
