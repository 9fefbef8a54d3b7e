# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The page of a traced program: what was measured, and beside it what is predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hocket import __version__
from hocket.report.analysis_figures import drift_figure, timeline_figure
from hocket.report.html import render_page
from hocket.traces.timeline_levels import timeline_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hocket.traces.analysis import Drift, ProgramRun

MOST_ROWS = 40  #: of a table


def render(
    title: str, recorded: ProgramRun, simulated: ProgramRun | None, drift: Drift | None, notes: Sequence[str]
) -> str:
    runs = [("measured", recorded)] + ([("predicted", simulated)] if simulated is not None else [])
    span_s = max(run.span_s for _, run in runs)
    charts: dict[str, Any] = {}
    if span_s > 0:
        charts["timeline"] = timeline_figure([(name, timeline_levels(run, span_s), run) for name, run in runs])
    if drift is not None and span_s > 0:
        charts["drift"] = drift_figure(drift)
    return render_page(
        "analysis.html",
        version=__version__,
        title=title,
        runs=runs,
        compared=simulated is not None,
        functions=_functions(runs)[:MOST_ROWS],
        ranks=list(zip(*(run.ranks for _, run in runs), strict=True))[:MOST_ROWS],
        num_ranks=recorded.trace.ranks,
        waits=_waits(runs)[:MOST_ROWS],
        shown_of_each=recorded.trace.ranks <= 64,
        notes=notes,
        charts=charts,
    )


def _functions(runs: Sequence[tuple[str, ProgramRun]]) -> list[tuple[str, int, list[Any]]]:
    """Name, calls, and of each run its row or None; those that take longest first."""
    found = [{one.function: one for one in run.functions} for _, run in runs]
    names = dict.fromkeys(name for of_run in found for name in of_run)
    rows = []
    for name in names:
        of_runs = [of_run.get(name) for of_run in found]
        longest_s = max(max(one.mean_s, one.on_path_s) for one in of_runs if one is not None)
        rows.append((longest_s, name, max(one.calls for one in of_runs if one is not None), of_runs))
    return [(name, calls, of_runs) for _, name, calls, of_runs in sorted(rows, key=lambda row: -row[0])]


def _waits(runs: Sequence[tuple[str, ProgramRun]]) -> list[tuple[str, str, list[Any]]]:
    found = [{(one.state, one.function): one for one in run.waits} for _, run in runs]
    keys = dict.fromkeys(key for of_run in found for key in of_run)
    rows = [(*key, [of_run.get(key) for of_run in found]) for key in keys]
    return sorted(rows, key=lambda row: -max(one.total_s for one in row[2] if one is not None))
