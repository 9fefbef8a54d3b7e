# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Quantities as text for people: three significant digits, always with the unit."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

NOT_MEASURED = "\N{EN DASH}"


def significant(value: float, digits: int = 3) -> str:
    """`value` rounded to `digits` significant digits, without an exponent and without trailing zeros after a point."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    return f"{rounded:.{max(decimals, 0)}f}".rstrip("0").rstrip(".") if decimals > 0 else f"{rounded:.0f}"


def seconds(value: float | None) -> str:
    return NOT_MEASURED if value is None else _scaled(value, "s", ((1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")))


def byte_count(value: float | None) -> str:
    """64 KiB as such, as people write sizes of messages; what has no short name of that kind in powers of 1000."""
    if value is None:
        return NOT_MEASURED
    for power, prefix in ((40, "T"), (30, "G"), (20, "M"), (10, "K")):
        if value and value % (1 << power) == 0 and value % 1000 and value < 1024 << power:
            return f"{value / (1 << power):.0f} {prefix}iB"
    return _scaled(value, "B", ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")))


def bandwidth(bytes_per_s: float | None) -> str:
    """In bits per second, as cables are sold; None = unlimited."""
    if bytes_per_s is None or math.isinf(bytes_per_s):
        return "unlimited"
    return _scaled(8 * bytes_per_s, "bit/s", ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")))


def counted(number: int, one: str, more: str = "") -> str:
    """ "1 switch", "2 switches"; `more` = `one` with an s unless given."""
    return f"{number} {one if number == 1 else more or one + 's'}"


def percent(fraction: float, signed: bool = False) -> str:
    value = 100 * fraction
    digits = 1 if 0 < abs(value) < 10 else 0
    minus = "\N{MINUS SIGN}"
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    return f"{text.replace('-', minus)} %"


def span(ends: Sequence[str]) -> str:
    """The first and the last of texts in ascending order: "1 to 2 ms", "1 ms to 2 s"; one where they are alike."""
    if ends[0] == ends[-1]:
        return ends[0]
    (number, _, unit), last_unit = ends[0].partition(" "), ends[-1].partition(" ")[2]
    return f"{number if unit == last_unit else ends[0]} to {ends[-1]}"


def ratio(value: float) -> str:
    return f"{significant(value)}\N{MULTIPLICATION SIGN}"


def median(times_s: Sequence[float]) -> float | None:
    return statistics.median(times_s) if times_s else None


def ranks(members: Sequence[int]) -> str:
    """[0, 1, 2, 5] -> "0-2, 5", with an en dash."""
    runs: list[list[int]] = []
    for rank in members:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    parts = [str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a}\N{EN DASH}{b}" for a, b in runs]
    return ", ".join(parts) if len(parts) <= 12 else ", ".join(parts[:12]) + f", … ({len(members)} ranks)"


def _scaled(value: float, unit: str, prefixes: Sequence[tuple[float, str]]) -> str:
    if value == 0:
        return f"0 {unit}"
    for factor, prefix in prefixes:
        # 999.6 B would print as "1000 B": it belongs to the next larger unit, which comes earlier
        if abs(value) >= 0.9995 * factor:
            return f"{significant(value / factor)} {prefix}{unit}"
    factor, prefix = prefixes[-1]
    return f"{significant(value / factor)} {prefix}{unit}"
