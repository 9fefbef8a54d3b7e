# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the report draws of a simulated program."""

from __future__ import annotations

from collections import defaultdict

import pytest

from hocket import CostModel, Network, Schedule, lower, simulate
from hocket.report.convert import MAX_RANKS, carried_per_bin, timeline_of
from hocket.report.timeline import TimelineData

MEGABYTE = 1_000_000


def _timeline(
    collective: str, algorithm: str, ranks: int, size_bytes: int, segments: int = 1, max_bars: int = 5000
) -> TimelineData:
    network = Network.generate(f"star:{ranks}", bandwidth="8 Mbit/s")  # 1 s for a megabyte
    program = lower(Schedule.build(collective, algorithm, ranks, segments=segments), size_bytes)
    timeline = simulate(program, network, record_links=True)
    return timeline_of(program, timeline, network, algorithm, max_bars)


def _rows(timeline: TimelineData) -> list[tuple[int, str, int, float, float, int]]:
    bars = timeline.bars
    return list(zip(bars.rank, bars.kind, bars.peer, bars.start_s, bars.end_s, bars.bytes, strict=True))


def test_chain_of_three_by_hand() -> None:
    # 0 -> 1 from 0 s to 1 s, 1 -> 2 from 1 s to 2 s. Rank 2 waits for the first second, which has no bar.
    rows = _rows(_timeline("bcast", "chain", 3, MEGABYTE))
    assert [(rank, kind, peer, size) for rank, kind, peer, _, _, size in rows] == [
        (0, "send", 1, MEGABYTE),
        (1, "recv", 0, MEGABYTE),
        (1, "send", 2, MEGABYTE),
        (2, "recv", 1, MEGABYTE),
    ]
    assert [start for _, _, _, start, _, _ in rows] == pytest.approx([0, 0, 1, 1])
    assert [end for _, _, _, _, end, _ in rows] == pytest.approx([1, 1, 2, 2])


def test_messages_of_a_pair_do_not_overlap() -> None:
    # Two segments of half a megabyte, 0.5 s each on the wire, one after the other on each connection.
    timeline = _timeline("bcast", "pipelined_chain", 2, MEGABYTE, segments=2)
    for kind in ("send", "recv"):
        spans = sorted((start, end) for _, k, _, start, end, _ in _rows(timeline) if k == kind)
        assert [start for start, _ in spans] == pytest.approx([0, 0.5])
        assert [end for _, end in spans] == pytest.approx([0.5, 1])


def test_links_carry_what_the_schedule_sends() -> None:
    timeline = _timeline("bcast", "linear", 3, MEGABYTE)
    carried = {(link.source, link.target): link.bytes for link in timeline.links}
    assert carried == {("h0", "s0"): 2 * MEGABYTE, ("s0", "h1"): MEGABYTE, ("s0", "h2"): MEGABYTE}
    for link in timeline.links:
        integral = sum((end - start) * rate for start, end, rate in link.use)
        assert integral == pytest.approx(link.bytes)
        assert link.bandwidth_bytes_per_s == MEGABYTE


@pytest.mark.parametrize("max_bars", [40, 200, 1000])
def test_merging_keeps_the_bytes_and_the_bound(max_bars: int) -> None:
    whole = _timeline("bcast", "pipelined_chain", 8, MEGABYTE, segments=256)
    merged = _timeline("bcast", "pipelined_chain", 8, MEGABYTE, segments=256, max_bars=max_bars)
    assert len(whole.bars) == whole.num_operations == 2 * 7 * 256
    assert len(merged.bars) <= max_bars
    assert sum(merged.bars.count) == merged.num_operations == whole.num_operations
    for timeline in (whole, merged):
        sums: dict[tuple[int, str], int] = defaultdict(int)
        for rank, kind, _, _, _, size in _rows(timeline):
            sums[rank, kind] += size
        assert set(sums.values()) == {MEGABYTE}
    assert merged.makespan_s == whole.makespan_s == pytest.approx(max(merged.bars.end_s))


def test_very_many_ranks_are_sampled() -> None:
    timeline = _timeline("allgather", "ring", 300, 1000)
    assert len(timeline.ranks_shown) <= MAX_RANKS
    assert set(timeline.bars.rank) == set(timeline.ranks_shown)
    assert len(timeline.bars) <= 5000
    assert sum(1 for link in timeline.links if link.use) == 64
    assert len(timeline.links) == 600


def test_a_long_course_keeps_its_bytes() -> None:
    timeline = _timeline("bcast", "pipelined_chain", 3, MEGABYTE, segments=2000)
    for link in timeline.links:
        assert len(link.use) <= 480
        assert sum((end - start) * rate for start, end, rate in link.use) == pytest.approx(link.bytes, rel=1e-6)


def test_a_burst_is_in_the_bin_of_its_moment() -> None:
    # A quarter of the megabyte passes at 0 s, the rest in 0.75 s at 1 MB/s: 480 bins of 0.75 s / 480.
    network = Network.generate("star:2", bandwidth="8 Mbit/s")
    program = lower(Schedule.build("bcast", "linear", 2), MEGABYTE)
    simulated = simulate(program, network, CostModel(burst_bytes=MEGABYTE / 4), record_links=True)
    assert simulated.link_bursts(0).tolist() == [[0, MEGABYTE / 4]]
    for link in timeline_of(program, simulated, network, "linear").links:
        (first_start_s, first_end_s, first_rate), (start_s, end_s, rate) = link.use
        assert (first_start_s, first_end_s) == (0, pytest.approx(0.75 / 480))
        assert first_rate == pytest.approx(MEGABYTE + MEGABYTE / 4 / (0.75 / 480))
        assert (start_s, end_s, rate) == (first_end_s, pytest.approx(0.75), pytest.approx(MEGABYTE))


def test_bins_by_hand() -> None:
    # 2 bytes/s from 0.5 s to 2.25 s over bins of 1 s: 1, 2, 0.5
    assert carried_per_bin([(0.5, 2.25, 2.0)], 1.0, 4) == pytest.approx([1, 2, 0.5, 0])
    # what ends at the last bin's end stays inside
    assert carried_per_bin([(0.0, 4.0, 1.0)], 1.0, 4) == pytest.approx([1, 1, 1, 1])


def test_program_without_messages() -> None:
    timeline = _timeline("barrier", "dissemination", 1, 0)
    assert len(timeline.bars) == 0
    assert timeline.makespan_s == 0
    assert timeline.links == []
