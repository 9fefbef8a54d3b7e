# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""From a result folder to one HTML file that needs no network: style, script and data are inside."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from hocket.errors import InvalidInput
from hocket.files import write_whole
from hocket.report import figures, text, timeline_figures
from hocket.report.costs import describe_costs
from hocket.report.drawing import draw_network
from hocket.report.html import render_page
from hocket.report.result import NETWORK_FILE, CollectiveResult, Result, read_result
from hocket.report.timeline import TimelineData, read_timeline

REPORT_FILE = "report.html"
MAX_LINK_ROWS = 200


@dataclass(frozen=True)
class LinkRow:
    """A directed link beside the bytes that crossed it before and after."""

    name: str
    bandwidth: str
    before: float | None
    after: float | None
    before_share: float | None  #: mean share of the bandwidth in use until the end of the timeline
    after_share: float | None


@dataclass(frozen=True)
class Detail:
    """A collective with its timelines."""

    number: int
    label: str
    entry: CollectiveResult
    panels: list[tuple[str, TimelineData]]
    drawings: list[tuple[str, Markup]]
    links: list[LinkRow]
    merged: bool  #: not every operation has a bar of its own
    sampled: bool  #: not every rank has a row
    some_use_left_out: bool  #: not every link has its use over time


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
    labelled = _labelled(result.collectives)
    details = [
        _detail(i, label, entry, _panels(folder, entry), network)
        for i, (label, entry) in enumerate(labelled)
        if entry.timelines.tuned or entry.timelines.native_model
    ]
    charts = {"program": figures.program_figure(result.program)}
    if any(entry.native_s or entry.tuned_s for _, entry in labelled):
        charts["collectives"] = figures.collectives_figure(
            [pair for pair in labelled if pair[1].native_s or pair[1].tuned_s]
        )
    for detail in details:
        label_of = _rank_label(result, detail)
        charts[f"gantt-{detail.number}"] = timeline_figures.gantt_figure(detail.panels, label_of)
        if any(link.use and link.bandwidth_bytes_per_s for _, timeline in detail.panels for link in timeline.links):
            charts[f"links-{detail.number}"] = timeline_figures.link_use_figure(detail.panels)
    return render_page(
        "page.html",
        result=result,
        command=shlex.join(result.command),
        costs=result.costs and describe_costs(result.costs),
        max_link_rows=MAX_LINK_ROWS,
        network=network,
        drawing=draw_network(network, f"Drawing of the network {network.name}"),
        labelled=labelled,
        details=details,
        charts=charts,
    )


def _labelled(collectives: list[CollectiveResult]) -> list[tuple[str, CollectiveResult]]:
    """Names that tell the collectives apart, in the order of the time that they take natively."""

    def native_time_s(entry: CollectiveResult) -> float:
        return (text.median(entry.native_s) or 0) * max(entry.calls, 1)

    several = len({tuple(entry.members) for entry in collectives}) > 1
    labelled = []
    for entry in sorted(collectives, key=native_time_s, reverse=True):
        label = entry.collective + ("" if entry.collective == "barrier" else f" of {text.byte_count(entry.bytes)}")
        label += "" if entry.root is None else f", root {entry.root}"
        label += f", ranks {text.ranks(entry.members)}" if several else ""
        labelled.append((label, entry))
    return labelled


def _panels(folder: Path, entry: CollectiveResult) -> list[tuple[str, TimelineData]]:
    named = (("Before", entry.timelines.native_model), ("After", entry.timelines.tuned))
    panels = []
    for when, name in named:
        if name is not None:
            timeline = read_timeline(folder / name)
            panels.append((f"{when}, {text.seconds(timeline.makespan_s)}: {timeline.title}", timeline))
    return panels


def _detail(
    number: int, label: str, entry: CollectiveResult, panels: list[tuple[str, TimelineData]], network: Any
) -> Detail:
    by_link = [{(link.source, link.target): link for link in timeline.links} for _, timeline in panels]
    most = max((link.bytes for links in by_link for link in links.values()), default=0)
    drawings = []
    for (title, _), links in zip(panels, by_link, strict=True):
        carried = {ends: float(link.bytes) for ends, link in links.items()}
        drawing = draw_network(network, f"Bytes on each link. {title}", carried, most)
        if drawing is not None:
            drawings.append((title, drawing))
    rows = _link_rows(panels, entry)
    timelines = [timeline for _, timeline in panels]
    return Detail(
        number,
        label,
        entry,
        panels,
        drawings,
        rows,
        merged=any(max(timeline.bars.count, default=1) > 1 for timeline in timelines),
        sampled=any(len(timeline.ranks_shown) < len(entry.members) for timeline in timelines),
        some_use_left_out=any(link.bytes and not link.use for timeline in timelines for link in timeline.links),
    )


def _link_rows(panels: list[tuple[str, TimelineData]], entry: CollectiveResult) -> list[LinkRow]:
    timelines = [timeline for _, timeline in panels]
    before = timelines[0] if entry.timelines.native_model else None
    after = timelines[-1] if entry.timelines.tuned else None
    bandwidths = {(link.source, link.target): link.bandwidth_bytes_per_s for t in timelines for link in t.links}
    rows = []
    for (source, target), bandwidth in bandwidths.items():
        cells: list[float | None] = []
        for timeline in (before, after):
            if timeline is None:
                cells += [None, None]
                continue
            carried = sum(link.bytes for link in timeline.links if (link.source, link.target) == (source, target))
            limited = bandwidth is not None and timeline.makespan_s > 0
            cells += [carried, carried / (bandwidth * timeline.makespan_s) if limited and bandwidth else None]
        rows.append(LinkRow(f"{source} → {target}", text.bandwidth(bandwidth), cells[0], cells[2], cells[1], cells[3]))
    return sorted(rows, key=lambda row: max(row.before or 0, row.after or 0), reverse=True)


def _rank_label(result: Result, detail: Detail) -> Callable[[int], str]:
    """A timeline speaks of world ranks, or of the communicator's when it has as many ranks as that."""
    ranks = detail.panels[0][1].ranks
    members = detail.entry.members if ranks == len(detail.entry.members) != result.ranks else range(result.ranks)

    def label(rank: int) -> str:
        if rank >= len(members):
            return f"rank {rank}"
        return f"{members[rank]} · {result.hosts[members[rank]]}"

    return label
