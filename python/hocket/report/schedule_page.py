# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The page of a schedule on a network: its transfers on the drawing of the network, and over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hocket import __version__
from hocket.report import text
from hocket.report.convert import reduced
from hocket.report.drawing import Arrow, draw_network
from hocket.report.html import render_page
from hocket.report.timeline import Bars, TimelineData
from hocket.report.timeline_figures import gantt_figure
from hocket.schedules.transfers import gap_of

if TYPE_CHECKING:
    from hocket import Network
    from hocket.schedules.transfers import TimedTransfer

MOST_ARROWS, MOST_BARS, MOST_RANKS, MOST_ROWS = 48, 4000, 64, 400


@dataclass(frozen=True)
class DrawnSchedule:
    """What the page shows of a schedule, wherever it comes from."""

    title: str  # "bcast of 1 MB from rank 0"
    makespan_s: float
    lower_bound_s: float
    status: str  # "optimal", "feasible"
    how: str  # a sentence: how it was found, and what it is the best of
    transfers: Sequence[TimedTransfer]

    @property
    def gap(self) -> float:
        return gap_of(self.makespan_s, self.lower_bound_s)

    @property
    def sizes(self) -> str:
        """Of its transfers."""
        sizes = [t.bytes for t in self.transfers] or [0]
        least, most = text.byte_count(min(sizes)), text.byte_count(max(sizes))
        return f"of {least} each" if least == most else f"of {least} to {most}"


def render(schedule: DrawnSchedule, network: Network) -> str:
    """HTML that needs no other file."""
    timeline = reduced(timeline_of(schedule, network.num_ranks), MOST_BARS, MOST_RANKS)
    charts: dict[str, Any] = {"gantt": gantt_figure([("", timeline)], str)} if len(timeline.bars) else {}
    for trace in charts["gantt"]["data"] if charts else ():
        trace["marker"]["line"] = {"color": "--surface", "width": 1}
    shown = schedule.transfers[:MOST_ROWS]
    return render_page(
        "schedule.html",
        version=__version__,
        schedule=schedule,
        network=network.name,
        drawing=draw_network(network, f"{schedule.title} on {network.name}", arrows=_arrows(schedule)),
        has_arrows=bool(_arrows(schedule)),
        transfers=shown,
        left_out=len(schedule.transfers) - len(shown),
        charts=charts,
    )


def timeline_of(schedule: DrawnSchedule, ranks: int) -> TimelineData:
    bars = Bars()
    for t in schedule.transfers:
        for kind, rank, peer in (("send", t.source, t.target), ("recv", t.target, t.source)):
            bars.rank.append(rank)
            bars.kind.append(kind)
            bars.peer.append(peer)
            bars.start_s.append(t.start_s)
            bars.end_s.append(t.end_s)
            bars.bytes.append(t.bytes)
            bars.count.append(1)
    return TimelineData(
        title=schedule.title,
        ranks=ranks,
        makespan_s=schedule.makespan_s,
        num_operations=len(bars),
        ranks_shown=list(range(ranks)),
        bars=bars,
        links=[],
    )


def _arrows(schedule: DrawnSchedule) -> list[Arrow]:
    if len(schedule.transfers) > MOST_ARROWS:
        return []
    return [
        Arrow(
            t.source,
            t.target,
            str(i),
            f"{i}: {t.source} to {t.target}, {text.seconds(t.start_s)} to {text.seconds(t.end_s)}",
        )
        for i, t in enumerate(schedule.transfers, 1)
    ]
