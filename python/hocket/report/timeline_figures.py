# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Charts along simulated time: what each rank does, and how much of each link is in use."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from hocket.report import text
from hocket.report.convert import carried_per_bin
from hocket.report.figure_parts import (
    LEFT_MARGIN,
    Figure,
    bar,
    panel_title,
    percent_scale,
    plain,
    rows_axis,
    time_axis,
    time_scale,
)
from hocket.report.timeline import TimelineData, TimelineLink

KIND_COLOURS = {"send": "--send", "recv": "--receive", "compute": "--compute", "reduce": "--reduce",
                "connect": "--good", "disconnect": "--bad"}  # fmt: skip
KIND_LABELS = {"send": "send", "recv": "receive", "compute": "compute", "reduce": "combine",
               "connect": "connect", "disconnect": "disconnect"}  # fmt: skip
_WITH_PEER = {"send": "to", "recv": "from", "connect": "to", "disconnect": "from"}
_WITHOUT_BYTES = ("compute", "connect", "disconnect")
TIME_BINS = 240  #: columns of the link-use chart
MAX_LANES = 8  #: bars of one rank at the same time that are drawn beside each other


def gantt_figure(panels: Sequence[tuple[str, TimelineData]], rank_label: Callable[[int], str]) -> Figure:
    """The timelines one above the other on one time axis, so that lengths can be compared."""
    scale, unit = time_scale(max(timeline.makespan_s for _, timeline in panels))
    row_height = max(5, min(24, 420 // max(len(timeline.ranks_shown) for _, timeline in panels)))
    heights = [row_height * max(2, len(timeline.ranks_shown)) for _, timeline in panels]
    layout, domains = _stacked(heights, scale, unit, max(timeline.makespan_s for _, timeline in panels))
    traces: list[Figure] = []
    seen: set[str] = set()
    for i, (title, timeline) in enumerate(panels):
        suffix = "" if i == 0 else str(i + 1)
        row_of = {rank: row for row, rank in enumerate(timeline.ranks_shown)}
        lanes = _lanes(timeline)
        for kind, colour in KIND_COLOURS.items():
            rows = [j for j, k in enumerate(timeline.bars.kind) if k == kind and timeline.bars.rank[j] in row_of]
            if not rows:
                continue
            bars = timeline.bars
            trace = bar(
                [(bars.end_s[j] - bars.start_s[j]) / scale for j in rows],
                [row_of[bars.rank[j]] for j in rows],
                colour,
                base=[bars.start_s[j] / scale for j in rows],
                offset=[lanes[j][0] for j in rows],
                width=[lanes[j][1] for j in rows],
                name=KIND_LABELS[kind],
                legendgroup=kind,
                showlegend=kind not in seen,
                yaxis=f"y{suffix}",
                text=[_bar_text(timeline, j, rank_label) for j in rows],
                textposition="none",
                hovertemplate="%{text}<extra></extra>",
            )
            seen.add(kind)
            traces.append(trace)
        layout[f"yaxis{suffix}"] = _rank_rows(timeline, rank_label, row_height) | {"domain": domains[i]}
        _end_line(layout, timeline, suffix, scale)
        layout["annotations"].append(panel_title(title, domains[i][1]))
    return {"data": traces, "layout": layout}


def link_use_figure(panels: Sequence[tuple[str, TimelineData]]) -> Figure:
    """Share of each link's bandwidth in use over time, one row per directed link that carried bytes."""
    longest_s = max(timeline.makespan_s for _, timeline in panels)
    scale, unit = time_scale(longest_s)
    limited = [[link for link in timeline.links if link.use and link.bandwidth_bytes_per_s] for _, timeline in panels]
    row_height = max(6, min(18, 400 // max(1, max(len(links) for links in limited))))
    layout, domains = _stacked([row_height * max(2, len(links)) for links in limited], scale, unit, longest_s)
    layout["margin"]["t"] += 32
    layout["height"] += 32
    traces: list[Figure] = []
    width_s = (longest_s or 1) / TIME_BINS
    for i, ((title, timeline), links) in enumerate(zip(panels, limited, strict=True)):
        suffix = "" if i == 0 else str(i + 1)
        names = [f"{link.source} → {link.target}" for link in links]
        shares = [_shares(link, width_s) for link in links]
        traces.append(
            {
                "type": "heatmap",
                "x0": width_s / 2 / scale,
                "dx": width_s / scale,
                "y": list(range(len(links))),
                "z": [[round(share, 1) for share in row] for row in shares],
                "customdata": [[plain(name)] * TIME_BINS for name in names],
                "zmin": 0,
                "zmax": 100,
                "colorscale": [[0, "--surface-2"], [1, "--tuned"]],
                "hovertemplate": f"%{{customdata}}<br>%{{x:.3s}} {unit}: %{{z}} % of the bandwidth<extra></extra>",
                "showscale": i == 0,
                "colorbar": percent_scale(
                    220, 8, [0, 50, 100], title={"text": "bandwidth in use", "side": "top", "font": {"size": 12}}
                ),
                "yaxis": f"y{suffix}",
            }
        )
        labels = [plain(name) for name in names] if row_height >= 10 else []
        layout[f"yaxis{suffix}"] = rows_axis(list(range(len(labels))), labels, len(links) - 0.5, -0.5) | {
            "domain": domains[i]
        }
        _end_line(layout, timeline, suffix, scale)
        layout["annotations"].append(panel_title(title, domains[i][1]))
    return {"data": traces, "layout": layout}


def _shares(link: TimelineLink, width_s: float) -> list[float]:
    """Mean use in percent in each of TIME_BINS bins."""
    capacity = (link.bandwidth_bytes_per_s or math.inf) * width_s
    return [100 * carried / capacity for carried in carried_per_bin(link.use, width_s, TIME_BINS)]


def _stacked(heights: list[int], scale: float, unit: str, longest_s: float) -> tuple[Figure, list[list[float]]]:
    """A layout of panels one above the other, and the vertical domain of each."""
    gap = 34
    total = sum(heights) + gap * len(heights)
    domains, top = [], total
    for height in heights:
        top -= gap
        domains.append([(top - height) / total, top / total])
        top -= height
    axis = time_axis(unit, "simulated time") | {
        "range": [0, 1.02 * (longest_s or 1) / scale],
        "anchor": "free",
        "position": 0,
    }
    layout: Figure = {
        "height": total + 44 + 30,
        "margin": {"l": LEFT_MARGIN, "r": 24, "t": 30, "b": 44},
        "xaxis": axis,
        "barmode": "overlay",
        "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yref": "container", "yanchor": "top"},
        "annotations": [],
        "shapes": [],
    }
    return layout, domains


def _end_line(layout: Figure, timeline: TimelineData, suffix: str, scale: float) -> None:
    layout["shapes"].append(
        {
            "type": "line",
            "xref": "x",
            "yref": f"y{suffix} domain",
            "x0": timeline.makespan_s / scale,
            "x1": timeline.makespan_s / scale,
            "y0": 0,
            "y1": 1,
            "line": {"color": "--text-2", "width": 1, "dash": "dot"},
        }
    )


def _lanes(timeline: TimelineData) -> list[tuple[float, float]]:
    """Offset and width of each bar in the row of its rank: sends in the upper half, the rest in the lower one (the axis
    points down); bars at the same time beside each other."""
    bars = timeline.bars
    halves: dict[tuple[int, bool], list[int]] = {}
    for j in sorted(range(len(bars)), key=lambda j: bars.start_s[j]):
        halves.setdefault((bars.rank[j], bars.kind[j] == "send"), []).append(j)
    places = [(0.0, 0.0)] * len(bars)
    for (_, is_send), members in halves.items():
        ends_s: list[float] = []
        lane_of = {}
        for j in members:
            free = (lane for lane, end_s in enumerate(ends_s) if end_s <= bars.start_s[j] + 1e-9 * timeline.makespan_s)
            lane = next(free, min(len(ends_s), MAX_LANES - 1))
            if lane == len(ends_s):
                ends_s.append(0)
            ends_s[lane] = bars.end_s[j]
            lane_of[j] = lane
        width = 0.4 / len(ends_s)
        for j, lane in lane_of.items():
            places[j] = ((-0.42 if is_send else 0.02) + lane * width, width * (1 if len(ends_s) == 1 else 0.85))
    return places


def _bar_text(timeline: TimelineData, j: int, rank_label: Callable[[int], str]) -> str:
    bars = timeline.bars
    peer = "several ranks" if bars.peer[j] < 0 else rank_label(bars.peer[j])
    kind = bars.kind[j]
    what = f"{_WITH_PEER[kind]} {peer}" if kind in _WITH_PEER else ""
    count = f"{bars.count[j]} messages, " if bars.count[j] > 1 else ""
    size = "" if kind in _WITHOUT_BYTES else f"{count}{text.byte_count(bars.bytes[j])}, "
    span = f"{text.seconds(bars.start_s[j])} to {text.seconds(bars.end_s[j])}"
    return plain(f"{rank_label(bars.rank[j])}: {KIND_LABELS[kind]} {what}".strip()) + f"<br>{size}{span}"


def _rank_rows(timeline: TimelineData, rank_label: Callable[[int], str], row_height: int) -> Figure:
    every = max(1, math.ceil(12 / row_height))
    rows = range(0, len(timeline.ranks_shown), every)
    labels = [plain(rank_label(timeline.ranks_shown[row])) for row in rows]
    return rows_axis(list(rows), labels, len(timeline.ranks_shown) - 0.5, -0.5)
