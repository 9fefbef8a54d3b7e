# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""From a simulated Program to a TimelineData small enough to draw."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hocket.report.timeline import Bars, TimelineData, TimelineLink

if TYPE_CHECKING:
    from hocket import Network, Program, Timeline

MAX_BARS = 5000
MAX_RANKS = 128
MAX_OPERATIONS = 400_000
MAX_LINKS_WITH_USE = 64
USE_BINS = 480


@dataclass(slots=True)
class _Bar:
    rank: int
    kind: str
    peer: int
    start_s: float
    end_s: float
    bytes: int
    count: int = 1


def timeline_of(
    program: Program, timeline: Timeline, network: Network, title: str, max_bars: int = MAX_BARS
) -> TimelineData:
    """`timeline` is what `simulate(program, network, record_links=True)` gave. `title` names the schedule for people.

    With more than `max_bars` operations, neighbours of a rank with a gap too small to see become one bar. Of a program
    with more than MAX_OPERATIONS only a sample of the ranks is looked at.
    """
    total = sum(len(timeline.start_s(rank)) for rank in range(program.num_ranks))
    ranks = range(0, program.num_ranks, max(1, math.ceil(total / MAX_OPERATIONS)))
    bars = [bar for bar in _all_bars(program, timeline, ranks) if bar.end_s > bar.start_s]
    active = sorted({bar.rank for bar in bars}) or list(ranks)
    step = math.ceil(len(active) / MAX_RANKS)
    ranks_shown = active[::step]
    shown = set(ranks_shown)
    drawn = [bar for bar in bars if bar.rank in shown]
    if len(drawn) > max_bars:
        drawn = _merged(drawn, timeline.makespan_s, max_bars)
    return TimelineData(
        title=title,
        ranks=program.num_ranks,
        makespan_s=timeline.makespan_s,
        num_operations=len(bars),
        ranks_shown=ranks_shown,
        bars=_columns(drawn),
        links=_links(timeline, network),
    )


def reduced(timeline: TimelineData, max_bars: int, max_ranks: int) -> TimelineData:
    """The same with fewer ranks and bars, as `timeline_of` makes them."""
    ranks_shown = timeline.ranks_shown[:: max(1, math.ceil(len(timeline.ranks_shown) / max_ranks))]
    shown = set(ranks_shown)
    columns = timeline.bars
    rows = zip(
        columns.rank,
        columns.kind,
        columns.peer,
        columns.start_s,
        columns.end_s,
        columns.bytes,
        columns.count,
        strict=True,
    )
    bars = [_Bar(*row) for row in rows if row[0] in shown]
    if len(bars) > max_bars:
        bars = _merged(bars, timeline.makespan_s, max_bars)
    return dataclasses.replace(timeline, ranks_shown=ranks_shown, bars=_columns(bars))


def _columns(bars: list[_Bar]) -> Bars:
    return Bars(
        rank=[bar.rank for bar in bars],
        kind=[bar.kind for bar in bars],
        peer=[bar.peer for bar in bars],
        start_s=[bar.start_s for bar in bars],
        end_s=[bar.end_s for bar in bars],
        bytes=[bar.bytes for bar in bars],
        count=[bar.count for bar in bars],
    )


def _all_bars(program: Program, timeline: Timeline, ranks: Sequence[int]) -> list[_Bar]:
    bars: list[_Bar] = []
    sends: dict[tuple[int, int, int], list[_Bar]] = defaultdict(list)  # (source, target, tag) in the order of the ops
    receives: dict[tuple[int, int, int], list[_Bar]] = defaultdict(list)
    for rank in ranks:
        starts, ends = timeline.start_s(rank), timeline.end_s(rank)
        for i, op in enumerate(program.ops(rank)):
            peer = op.peer if op.kind not in ("compute", "reduce") else -1
            bar = _Bar(rank, op.kind, peer, float(starts[i]), float(ends[i]), op.bytes)
            bars.append(bar)
            if op.kind == "send":
                sends[rank, peer, op.tag].append(bar)
            elif op.kind == "recv":
                receives[peer, rank, op.tag].append(bar)
    pairs: dict[tuple[int, int], list[tuple[_Bar, _Bar]]] = defaultdict(list)
    for (source, target, tag), sent in sends.items():
        if target in ranks:
            pairs[source, target].extend(zip(sent, receives[source, target, tag], strict=True))
    for messages in pairs.values():
        _cut_waiting(messages)
    return bars


def _cut_waiting(messages: list[tuple[_Bar, _Bar]]) -> None:
    """`messages` go from one rank to one other. A message is not on its way before its send has begun and, as messages
    of a pair follow each other, before the one ahead of it has arrived."""
    previous_end_s = 0.0
    for send, receive in sorted(messages, key=lambda message: message[1].end_s):
        begin_s = max(send.start_s, previous_end_s)
        previous_end_s = receive.end_s
        send.start_s = min(begin_s, send.end_s)
        receive.start_s = min(begin_s, receive.end_s)


def _merged(bars: list[_Bar], makespan_s: float, max_bars: int) -> list[_Bar]:
    lanes: dict[tuple[int, str], list[_Bar]] = defaultdict(list)
    for bar in bars:
        lanes[bar.rank, bar.kind].append(bar)
    # bars of a lane end up at least this far apart, which bounds their number
    gap_s = makespan_s / max(1, max_bars // len(lanes) - 1)
    result: list[_Bar] = []
    for lane in lanes.values():
        lane.sort(key=lambda bar: bar.start_s)
        current = lane[0]
        for bar in lane[1:]:
            if bar.start_s - current.end_s < gap_s:
                current.end_s = max(current.end_s, bar.end_s)
                current.bytes += bar.bytes
                current.count += bar.count
                current.peer = current.peer if current.peer == bar.peer else -1
            else:
                result.append(current)
                current = bar
        result.append(current)
    return result


def _links(timeline: Timeline, network: Network) -> list[TimelineLink]:
    nodes, links = network.nodes, network.links
    carried = [round(float(value)) for value in timeline.link_bytes]
    busy_s = {
        i: carried[i] / link.bandwidth_bytes_per_s
        for i, link in enumerate(links)
        if carried[i] and math.isfinite(link.bandwidth_bytes_per_s)
    }
    with_use = set(sorted(busy_s, key=lambda i: busy_s[i], reverse=True)[:MAX_LINKS_WITH_USE])
    return [
        TimelineLink(
            source=nodes[link.source].name,
            target=nodes[link.target].name,
            bandwidth_bytes_per_s=link.bandwidth_bytes_per_s if math.isfinite(link.bandwidth_bytes_per_s) else None,
            bytes=carried[i],
            use=_course(timeline, i) if i in with_use else [],
        )
        for i, link in enumerate(links)
        if carried[i]
    ]


def _course(timeline: Timeline, link: int) -> list[tuple[float, float, float]]:
    """The rates of the link over time. A long course, and one with bytes that pass in one moment, becomes means over
    equal bins, which carry the same bytes."""
    joined = _joined(timeline.link_use(link).tolist())
    bursts = timeline.link_bursts(link).tolist()
    width_s = timeline.makespan_s / USE_BINS
    if (len(joined) <= USE_BINS and not bursts) or width_s <= 0:
        return joined
    carried = carried_per_bin(joined, width_s, USE_BINS)
    for time_s, size_bytes in bursts:
        carried[min(USE_BINS - 1, int(time_s / width_s))] += size_bytes
    return _joined([(b * width_s, (b + 1) * width_s, value / width_s) for b, value in enumerate(carried)])


def _joined(use: Sequence[Sequence[float]]) -> list[tuple[float, float, float]]:
    """Without idle times; neighbours of equal rate are one."""
    joined: list[tuple[float, float, float]] = []
    for start_s, end_s, rate in use:
        if rate <= 0 or end_s <= start_s:
            continue
        if joined and joined[-1][1] == start_s and math.isclose(joined[-1][2], rate):
            joined[-1] = (joined[-1][0], end_s, joined[-1][2])
        else:
            joined.append((start_s, end_s, rate))
    return joined


def carried_per_bin(use: Sequence[tuple[float, float, float]], width_s: float, bins: int) -> list[float]:
    """Bytes in each of `bins` equal bins from time 0 on."""
    carried = [0.0] * bins
    for start_s, end_s, rate in use:
        for b in range(min(bins - 1, int(start_s / width_s)), min(bins - 1, int(end_s / width_s)) + 1):
            carried[b] += rate * max(0.0, min(end_s, (b + 1) * width_s) - max(start_s, b * width_s))
    return carried
