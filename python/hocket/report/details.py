# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The collectives that a report shows before and after: timelines, and bytes and use of each link."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from hocket.report import text, timeline_figures
from hocket.report.convert import MAX_RANKS, reduced
from hocket.report.drawing import draw_network
from hocket.report.figure_parts import Figure
from hocket.report.result import CollectiveResult, Result
from hocket.report.rows import MAX_DRAWN, rows_of, time_s
from hocket.report.timeline import TimelineData, read_timeline

MAX_LINK_ROWS = 50
MAX_BARS = 2000  #: of a timeline: more cannot be distinguished on a screen
# What charts and drawings of all details together may take in the page. With the script that draws them, the tables and
# the rest a report stays below 1 MB. There is always one.
MAX_PACKED_BYTES = 150_000


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
    charts: dict[str, Figure]
    drawings: list[tuple[str, str, Markup]]  #: title, name, drawing
    links: list[LinkRow]  #: those of most bytes
    num_links: int
    merged: bool  #: not every operation has a bar of its own
    sampled: bool  #: not every rank has a row
    some_use_left_out: bool  #: not every link has its use over time


def details_of(folder: Path, result: Result, network: Any) -> list[Detail]:
    """Of the rows of most time, as far as there are timelines, and room for them."""
    found: list[Detail] = []
    packed_bytes = 0
    for row in rows_of(result.collectives, result.ranks):
        entries = [entry for entry in row.entries if entry.timelines.tuned or entry.timelines.native_model]
        if not entries:
            continue
        entry = max(entries, key=time_s)
        detail = _detail(len(found), row.label_of(entry), entry, _panels(folder, entry), result, network)
        packed_bytes += _packed_bytes(detail)
        if found and packed_bytes > MAX_PACKED_BYTES:
            break
        found.append(detail)
        if len(found) == MAX_DRAWN:
            break
    return found


def _packed_bytes(detail: Detail) -> int:
    content = json.dumps([detail.charts, [drawing for _, _, drawing in detail.drawings]])
    return len(gzip.compress(content.encode(), 9))


def _panels(folder: Path, entry: CollectiveResult) -> list[tuple[str, TimelineData]]:
    named = (("Before", entry.timelines.native_model), ("After", entry.timelines.tuned))
    panels = []
    for when, name in named:
        if name is not None:
            timeline = reduced(read_timeline(folder / name), MAX_BARS, MAX_RANKS)
            panels.append((f"{when}, {text.seconds(timeline.makespan_s)}: {timeline.title}", timeline))
    return panels


def _detail(
    number: int,
    label: str,
    entry: CollectiveResult,
    panels: list[tuple[str, TimelineData]],
    result: Result,
    network: Any,
) -> Detail:
    by_link = [{(link.source, link.target): link for link in timeline.links} for _, timeline in panels]
    most = max((link.bytes for links in by_link for link in links.values()), default=0)
    drawings = []
    for i, ((title, _), links) in enumerate(zip(panels, by_link, strict=True)):
        carried = {ends: float(link.bytes) for ends, link in links.items()}
        drawing = draw_network(network, f"Bytes on each link. {title}", carried, most)
        if drawing is not None:
            drawings.append((title, f"drawing-{number}-{i}", drawing))
    charts = {f"gantt-{number}": timeline_figures.gantt_figure(panels, _rank_label(result, entry, panels[0][1].ranks))}
    timelines = [timeline for _, timeline in panels]
    if any(link.use and link.bandwidth_bytes_per_s for timeline in timelines for link in timeline.links):
        charts[f"links-{number}"] = timeline_figures.link_use_figure(panels)
    rows = _link_rows(panels, entry)
    return Detail(
        number,
        label,
        entry,
        panels,
        charts,
        drawings,
        rows[:MAX_LINK_ROWS],
        len(rows),
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


def _rank_label(result: Result, entry: CollectiveResult, ranks: int) -> Callable[[int], str]:
    """A timeline speaks of world ranks, or of the communicator's when it has as many ranks as that."""
    members = entry.members if ranks == len(entry.members) != result.ranks else range(result.ranks)

    def label(rank: int) -> str:
        if rank >= len(members):
            return f"rank {rank}"
        return f"{members[rank]} · {result.hosts[members[rank]]}"

    return label
