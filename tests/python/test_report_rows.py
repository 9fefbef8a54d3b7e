# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Many collectives in few rows: which share one, what it is called, and how reasons are folded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hocket.report import text
from hocket.report.communicators import disjoint_sets, names
from hocket.report.result import CollectiveResult, ProgramResult, Result
from hocket.report.rows import MAX_SHOWN, drawn, left_native, rows_of, shown

WORLD = list(range(8))


def entry(collective="bcast", members=WORLD, size=1024, root=0, calls=10, reason=None, recorded_s=0.01, **more):
    measured = {"native_s": [2e-3], "tuned_s": [1e-3], "ratio": 2.0, "ratio_interval": (1.5, 2.5)}
    given = {"algorithm": "ring", "segments": 1, **({} if reason else measured), **more}
    return CollectiveResult(
        collective=collective, members=list(members), bytes=size, root=root, calls=calls, order=None,
        predicted_s=1e-3, wire_limit_s=5e-4, kept=reason is None, reason=reason, recorded_s=recorded_s,
        **{"native_s": [], "tuned_s": [], **given},
    )  # fmt: skip


def result(collectives):
    return Result(
        "0.1.0", "2025-11-21T20:41:00Z", ["app"], "MPICH", 8, ["h"] * 8, "Linux", "star", False,
        ProgramResult.from_runs([10.0], [5.0]), collectives,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("communicators", "name"),
    [
        ([(0, 1, 2, 3, 4, 5, 6, 7)], "world"),
        ([(7, 1, 2, 3, 4, 5, 6, 0)], "world in another order"),
        ([(0, 2, 4, 6)], "4 of 8: even ranks"),
        ([(1, 3, 5, 7)], "4 of 8: odd ranks"),
        ([(2, 3, 4)], "3 of 8: ranks 2\N{EN DASH}4"),
        ([(5, 3)], "2 of 8: ranks 5, 3"),
        ([(0, 1), (2, 3), (4, 5), (6, 7)], "pairs (x4)"),
        ([(0, 2, 4, 6), (1, 3, 5, 7)], "groups of 4 (x2)"),
    ],
)
def test_names(communicators, name):
    assert names([communicators], 8) == [name]


def test_every_third_rank():
    assert names([[tuple(range(1, 16, 3))]], 16) == ["5 of 16: every 3rd rank from 1"]


def test_different_sets_have_different_names():
    rows = [(0, 1), (2, 3), (4, 5), (6, 7)]
    columns = [(0, 4), (1, 5), (2, 6), (3, 7)]
    odd = [(0, 3), (1, 7)], [(0, 7), (1, 3)]
    assert names([rows, columns], 8) == ["pairs (x4): consecutive ranks", "pairs (x4): every 4th rank"]
    found = names([*odd, [(0, 3), (2, 7)]], 8)
    assert len(set(found)) == 3


def test_rows_and_columns_of_a_grid_are_two_sets():
    rows, columns = [(0, 1, 2, 3), (4, 5, 6, 7)], [(0, 4), (1, 5), (2, 6), (3, 7)]
    assert disjoint_sets([rows[0], rows[1]]) == [rows]
    pairs = [(0, 1), (2, 3), (4, 5), (6, 7)]
    mixed = [pairs[0], columns[0], pairs[1], columns[1], columns[2], pairs[2], pairs[3], columns[3]]
    assert disjoint_sets(mixed) == [pairs, columns]
    # Partners at different distances, as those of a transposition, that share no rank.
    assert disjoint_sets([(0, 1), (2, 4), (3, 6), (5, 7)]) == [[(0, 1), (2, 4), (5, 7), (3, 6)]]


def test_disjoint_communicators_with_the_same_calls_are_one_row():
    pairs = [entry(members=pair, recorded_s=0.01 + pair[0] / 1000) for pair in ([0, 1], [2, 3], [4, 5], [6, 7])]
    (row,) = rows_of(pairs, 8)
    assert (row.label, row.calls_text, row.kept) == ("bcast of 1 KiB, root 0, pairs (x4)", "10 each", 4)
    assert row.time_s == pytest.approx(10 * 0.016)  # at the same time: that of the slowest counts


def test_calls_and_bytes_of_disjoint_communicators_may_differ_a_little():
    columns = ([0, 4], [1, 5], [2, 6], [3, 7])
    large = [entry(members=pair, size=600 + pair[0], calls=7 + pair[0], recorded_s=0.1) for pair in columns]
    small = [entry(members=pair, size=300, calls=1, recorded_s=0.1) for pair in columns[:2]]
    other = entry(members=[0, 1], size=600, calls=9, recorded_s=1e-6)  # shares ranks with them
    row, alone = rows_of([other, *large, *small], 8)
    assert (row.label, row.calls_text) == ("bcast of 300 to 603 B, root 0, pairs (x4)", "8 to 10 each")
    assert row.time_s == pytest.approx(0.1 * 10 + 0.1 * 1)
    assert alone.label == "bcast of 600 B, root 0, 2 of 8: ranks 0, 1"
    # A size that some of them alone have, with another outcome, has a row of its own.
    left = [replace(one, kept=False, reason="latency decides") for one in small]
    assert [one.communicator for one in rows_of([*large, *left], 8)] == ["pairs (x4)", "pairs (x2)"]


def test_communicators_that_share_a_measurement_have_it_once():
    pairs = [entry(members=pair) for pair in ([0, 1], [2, 3])]
    (row,) = rows_of(pairs, 8)
    assert len(row.measured) == 1
    other = entry(members=[4, 5], native_s=[3e-3])
    (row,) = rows_of([*pairs, other], 8)
    assert len(row.measured) == 2


def test_neighbouring_sizes_with_one_outcome_are_one_row():
    sizes = [entry(size=1024 << i, root=None, segments=1 + i, recorded_s=0.01 * 2**i) for i in range(4)]
    sizes[0] = replace(sizes[0], bytes_min=600)
    left = entry(size=1 << 20, root=None, reason="not shown to be faster: 1.01 times (0.9 to 1.1)", recorded_s=0.001)
    beyond = entry(size=1 << 21, root=None, recorded_s=0.0001)
    big, small, end = rows_of([left, *reversed(sizes), beyond], 8)
    assert big.label == "bcast of 600 B to 8 KiB, world"
    assert (big.calls_text, big.schedule, big.is_kept, big.reason) == ("40", "ring in 1 to 4 segments", True, "")
    assert big.most == sizes[3]
    assert (small.label, small.is_kept) == ("bcast of 1 MiB, world", False)
    assert end.label == "bcast of 2 MiB, world"  # another outcome lies between
    assert big.spans == ["2 ms", "1 ms", "2\N{MULTIPLICATION SIGN}", "1 ms", "500 µs"]


def test_other_roots_and_collectives_have_rows_of_their_own():
    found = rows_of([entry(), entry(root=1), entry("reduce"), entry("barrier", size=0, root=None)], 8)
    assert {row.label for row in found} == {
        "bcast of 1 KiB, root 0, world", "bcast of 1 KiB, root 1, world", "reduce of 1 KiB, root 0, world",
        "barrier, world",
    }  # fmt: skip


def test_no_entry_is_lost():
    twice = [entry(), entry()]  # as a plan cannot have, but a file
    assert sum(len(row.entries) for row in rows_of(twice, 8)) == 2


def test_equal_communicators_with_different_outcomes_say_how_many_are_in_the_plan():
    (row,) = rows_of([entry(members=[0, 1]), entry(members=[2, 3], reason="too little to gain: 3 ms of 10 s")], 8)
    assert (row.kept, len(row.entries), row.is_kept) == (1, 2, True)
    assert row.reason == "too little to gain: 3 ms of 10 s"


def test_reasons_of_one_kind_are_folded():
    others = [
        entry("alltoall", size=1024 << i, root=None, calls=100 - i, reason=f"not shown to be faster: 1.0{i} times")
        for i in range(0, 8, 2)
    ]
    between = [entry("alltoall", size=1024 << i, root=None, reason="latency decides") for i in range(1, 8, 2)]
    lines = left_native(result([entry(), *others, *between]))
    assert lines == [
        "alltoall of 1 KiB, world left native: not shown to be faster: 1.00 times",
        "3 more left native: not shown to be faster",
        "alltoall of 2 KiB, world left native: latency decides",
        "3 more left native: latency decides",
    ]


def test_rows_without_an_entry_in_the_plan_are_shown_if_they_take_time():
    kept = entry(recorded_s=1e-6)
    small = entry("reduce", reason="latency decides", recorded_s=1e-6)
    # Neighbouring sizes have different reasons: each has a row.
    many = [entry("gather", size=1 << i, calls=i, reason=f"reason {i % 2}", recorded_s=1.0) for i in range(1, 60)]
    assert [row.collective for row in shown(result([kept, small]))] == ["bcast"]
    found = shown(result([*many, kept]))
    assert len(found) == MAX_SHOWN + 1
    assert found[-1].entries == [kept]


def test_timelines_are_those_of_the_rows_of_most_time():
    rows = [entry(root=i, size=1024 << j, recorded_s=i + j / 10) for i in range(8) for j in range(3)]
    found = drawn(rows_of(rows, 8))
    assert [(one.root, one.bytes) for one in found] == [(i, 4096) for i in (7, 6, 5, 4, 3, 2)]


def test_spans():
    assert text.span(["1 ms", "1 ms"]) == "1 ms"
    assert text.span(["1 ms", "2 ms"]) == "1 to 2 ms"
    assert text.span(["1 ms", "2 s"]) == "1 ms to 2 s"
    assert text.span(["3", "4", "5"]) == "3 to 5"
