# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket bench overlap` makes of times; the program itself is in tests/mpi, the command in tests/cli."""

from __future__ import annotations

from typing import Any

import pytest

from hocket.bench.overlap.measure import Case
from hocket.bench.overlap.modes import BASE, MODES
from hocket.bench.overlap.rows import Row, rows
from hocket.report.overlap_page import render
from hocket.report.overlap_tables import sentences, tables

CASE = Case("alltoall", 10**6, 1, "free-core")


def _times(time_s: list[float], compute_s: float = 0.0, cpu_s: float = 0.001) -> dict[str, list[float]]:
    return {"time_s": time_s, "compute_s": [compute_s] * len(time_s), "cpu_s": [cpu_s] * len(time_s)}


def _launch(base: list[float], other: list[float]) -> dict[str, Any]:
    """Native communication takes 4 s, that of the other mode 5 s, the computation 6 s."""
    count = len(base)
    return {
        "compute": _times([6.0] * count, 6.0),
        "communication": {"blocking": _times([4.0] * count), "schedule, thread": _times([5.0] * count)},
        "modes": [
            {"mode": BASE, "communication": "blocking", **_times(base, 6.0)},
            {"mode": "nap-ovlp", "communication": "schedule, thread", **_times(other, 6.6)},
        ],
    }


def _rows(*launches: dict[str, Any], mpi: str = "MPICH 5.0.2") -> list[Row]:
    return rows(CASE, mpi, "star:2", 2, launches)


def test_modes_that_are_not_told_apart_and_what_cannot_be_are_told() -> None:
    equal = sentences(_document(_rows(_launch([10.0, 10.0, 12.0], [9.0, 12.0, 10.0]))))
    assert any("not told apart from" in line for line in equal)
    impossible = sentences(_document(_rows(_launch([6.0], [7.0]))))
    assert any("hides nothing, shows an overlap of 1.00" in line for line in impossible)


def test_the_formulas() -> None:
    base, nap = _rows(_launch([10.0, 10.0], [7.0, 7.0]), _launch([10.0, 10.0], [7.0, 7.0]))
    assert (base.speedup, base.overlap, base.overlap_native) == (1.0, 0.0, 0.0)
    assert base.speedup_limit == pytest.approx(10 / 6)
    assert nap.speedup == pytest.approx(10 / 7)
    assert nap.overlap == pytest.approx((5 + 6 - 7) / 5)
    assert nap.overlap_native == pytest.approx((4 + 6 - 7) / 4)
    assert nap.time_per_max == pytest.approx(7 / 6)
    assert nap.compute_inflation == pytest.approx(1.1)
    assert nap.communication_s == 5.0
    assert nap.native_s == 4.0
    assert nap.samples == 4
    assert not nap.bimodal


def test_overlap_is_not_clamped() -> None:
    _, slower = _rows(_launch([10.0], [13.0]))
    assert slower.overlap == pytest.approx(-0.4)
    _, faster = _rows(_launch([10.0], [5.5]))
    assert faster.overlap == pytest.approx(1.1)


def test_ratios_are_of_times_that_were_measured_together() -> None:
    # Both take twice as long in the second launch: that is the machine, and no spread of the ratio.
    _, nap = _rows(_launch([10.0] * 3, [8.0] * 3), _launch([20.0] * 3, [16.0] * 3))
    assert nap.speedup == nap.speedup_quartiles[0] == nap.speedup_quartiles[1] == 1.25
    assert nap.bimodal


def _document(found: list[Row]) -> dict[str, Any]:
    return {
        "machine": "here",
        "compute_threads": 1,
        "modes": MODES,
        "rows": [row.to_dict() for row in found],
        "notes": ["no latencies"],
        "cables": ["200 Mbit/s"],
        "failures": ["there: it hung"],
    }


def test_the_page_and_the_tables_tell_what_the_rows_say() -> None:
    launch = _launch([10.0], [7.0])
    document = _document([*_rows(launch), *_rows(launch, mpi="Open MPI <5>")])
    page = render(document)
    assert "Open MPI &lt;5&gt;" in page
    assert "Open MPI <5>" not in page
    found = tables(document)
    assert len(found) == 2
    assert [row[0] for row in found[0][1]] == [BASE, "nap-ovlp"]
    assert "1.43\N{MULTIPLICATION SIGN}" in found[0][1][1]
    told = sentences(document)
    assert any("nap-ovlp is fastest" in line for line in told)
    assert "emulated: cables of 200 Mbit/s" in told
    assert "cables of 200 Mbit/s" in page
    assert not any("disturbed" in line or "not told apart" in line for line in told)
    assert "note: no latencies" in told
    assert any("there: it hung" in line for line in told)


def test_a_busy_machine_is_told() -> None:
    found = rows(Case("alltoall", 10**6, 1, "real"), "MPICH 5.0.2", None, 2, [_launch([10.0], [7.0])])
    assert any("had a core for 0% of the time" in line for line in sentences(_document(found)))
    assert not any("had a core" in line for line in sentences(_document(_rows(_launch([10.0], [7.0])))))
