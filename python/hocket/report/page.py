# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""From a result folder to one HTML file that needs no network: style, script and data are inside."""

from __future__ import annotations

import shlex
import statistics
from pathlib import Path

from hocket.errors import InvalidInput
from hocket.io.files import write_whole
from hocket.report import figures
from hocket.report.analysis_page import charts_of, tables_of
from hocket.report.costs import describe_costs
from hocket.report.decode import decode, read_json_object
from hocket.report.details import MAX_LINK_ROWS, details_of
from hocket.report.drawing import draw_network
from hocket.report.html import render_page
from hocket.report.result import NETWORK_FILE, Result, read_result
from hocket.report.rows import left_native, run_s, shown, starts_collectives, time_s
from hocket.report.time_sentences import parts, possible_gain, share_served
from hocket.traces.analysed import FORMAT, ProgramAnalysis

REPORT_FILE = "report.html"


def write_report(folder: Path, output: Path | None = None) -> Path:
    """Writes the page for a result folder, by default to report.html inside it; returns its path.

    @raises InvalidInput when a file of the folder is missing or wrong.
    """
    page = render(folder)
    output = output or folder / REPORT_FILE
    try:
        write_whole(output, page)
    except OSError as error:
        raise InvalidInput(
            f"{output}: cannot be written: {error.strerror}", "name another file with --output"
        ) from None
    return output


def render(folder: Path) -> str:
    """The page as text."""
    from hocket import Network  # loads the core, which the readers of a result do not need

    result = read_result(folder)
    network_file = folder / NETWORK_FILE
    if not network_file.is_file():
        raise InvalidInput(f"{folder}: {NETWORK_FILE} is missing", "`hocket tune` writes it beside result.json")
    network = Network.from_file(str(network_file))
    rows = shown(result)
    by_bytes = sorted(result.link_bytes, key=lambda link: -max(link.native_bytes, link.tuned_bytes))
    details = details_of(folder, result, network)
    analyses = _analyses(folder, result)
    charts = {"program": figures.program_figure(result.program)}
    measured = [(row.label_of(one), one) for row in rows if row.measured for one in [max(row.measured, key=time_s)]]
    if measured:
        charts["collectives"] = figures.collectives_figure(measured)
    for detail in details:
        charts |= detail.charts
    for name, analysis in analyses:
        charts |= charts_of(analysis, f"{name}-")
    return render_page(
        "page.html",
        result=result,
        command=shlex.join(result.command),
        costs=result.costs and describe_costs(result.costs),
        network=network,
        drawing=draw_network(network, f"Drawing of the network {network.name}"),
        rows=rows,
        run_s=run_s(result),
        num_measured=len(measured),
        left_native=left_native(result),
        time_parts=result.time and parts(result.time),
        sentences=_sentences(result),
        details=details,
        whole=_whole(result),
        analyses=[(name, analysis, tables_of(analysis)) for name, analysis in analyses],
        charts=charts,
        fragments={name: drawing for detail in details for _, name, drawing in detail.drawings},
        link_bytes=by_bytes[:MAX_LINK_ROWS],
    )


def _analyses(folder: Path, result: Result) -> list[tuple[str, ProgramAnalysis]]:
    paths = [("native", result.analyses.native), ("tuned", result.analyses.tuned)]
    return [
        (name, decode(ProgramAnalysis, read_json_object(folder / path, FORMAT), str(folder / path)))
        for name, path in paths
        if path is not None
    ]


def _whole(result: Result) -> list[tuple[str, float, list[float]]]:
    """Of each kind of run: what a replay predicts, and the times that were measured."""
    program = result.program
    rows = [("native", program.replayed_native_s, program.native_s)]
    rows.append(("with the plan", program.replayed_tuned_s, program.tuned_s))
    return [(name, replayed_s, times_s) for name, replayed_s, times_s in rows if replayed_s and times_s]


def _sentences(result: Result) -> list[str]:
    """On the program's time."""
    native_s = statistics.median(result.program.native_s)
    lines = []
    if result.time:
        lines.append(possible_gain(result.time, native_s, result.program.speedup, starts_collectives(result)))
    return [*lines, share_served(result.served)] if result.served and result.served.calls else lines
