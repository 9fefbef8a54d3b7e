# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Quantities for people: three significant digits and the right unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket.report import text

UNITS_S = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.09049, "90.5 ms"),
        (1.0, "1 s"),
        (0.9996, "1 s"),
        (0.9994, "999 ms"),
        (1234.0, "1230 s"),
        (2.5e-7, "250 ns"),
        (3e-12, "0.003 ns"),
        (0.0, "0 s"),
        (None, "\N{EN DASH}"),
    ],
)
def test_seconds(value: float | None, shown: str) -> None:
    assert text.seconds(value) == shown


@given(st.floats(1e-9, 1e4))
def test_seconds_are_true_to_three_digits(value: float) -> None:
    number, unit = text.seconds(value).split(" ")
    assert float(number) * UNITS_S[unit] == pytest.approx(value, rel=5.01e-3)


def test_other_quantities() -> None:
    assert text.byte_count(1_000_000) == "1 MB"
    assert text.byte_count(65_536) == "64 KiB"
    assert text.byte_count(1 << 20) == "1 MiB"
    assert text.byte_count(3 * 1024 + 1) == "3.07 kB"
    assert text.byte_count(1_024_000) == "1.02 MB"
    assert text.byte_count(5_000_192) == "5 MB"
    assert text.byte_count(0) == "0 B"
    assert text.bandwidth(93e6 / 8) == "93 Mbit/s"
    assert text.bandwidth(25e9) == "200 Gbit/s"
    assert text.bandwidth(None) == "unlimited"
    assert text.percent(-0.0312, signed=True) == "\N{MINUS SIGN}3.1 %"
    assert text.percent(0.85) == "85 %"
    assert text.percent(0) == "0 %"
    assert text.ratio(3.776) == "3.78\N{MULTIPLICATION SIGN}"
    assert text.ranks([0, 1, 2, 5, 7, 8]) == "0\N{EN DASH}2, 5, 7, 8"
    assert text.ranks(list(range(0, 100, 2))).endswith("(50 ranks)")
