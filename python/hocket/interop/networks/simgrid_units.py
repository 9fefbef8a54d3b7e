# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Quantities in SimGrid platforms: "1.25GBps", "50us", "0-15,20"."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from hocket.interop.networks.draft import Draft
from hocket.interop.networks.hostlist import MOST_NAMES, quoted

# At most so many digits that no number is too large to compute with.
_QUANTITY = re.compile(
    r"([0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE]([-+]?[0-9]{1,3}))?\s*([A-Za-z]*)", re.ASCII
)
_TENS = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_TWOS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_PREFIXES = {**{k: Fraction(10**n) for k, n in _TENS.items()}, **{k: Fraction(2**n) for k, n in _TWOS.items()}}
_BANDWIDTHS = {
    **{prefix + "Bps": factor for prefix, factor in _PREFIXES.items()},
    **{prefix + "bps": factor / 8 for prefix, factor in _PREFIXES.items()},
}
_TIMES = {
    **{unit: Fraction(s) for unit, s in {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}.items()},
    **{unit: Fraction(1, 10**n) for unit, n in {"ms": 3, "us": 6, "ns": 9, "ps": 12}.items()},
}


def bandwidth(text: str, line: int, what: str, draft: Draft) -> float:
    """In B/s, which is also the unit of a number without one."""
    value = _quantity(text, line, what, draft, {**_BANDWIDTHS, "": Fraction(1)}, "1.25GBps or 10Gbps")
    if not 0.125 <= value <= 1e18:
        draft.refuse(line, f"{what} is {quoted(text)}", "accepted: 1bps to 1e18 Bps")
    return value


def latency(text: str, line: int, what: str, draft: Draft) -> float:
    """In s, which is also the unit of a number without one."""
    value = _quantity(text, line, what, draft, {**_TIMES, "": Fraction(1)}, "50us")
    if not 0 <= value <= 1e6:
        draft.refuse(line, f"{what} is {quoted(text)}", "accepted: 0 to 1e6 s")
    return value


def _quantity(text: str, line: int, what: str, draft: Draft, units: dict[str, Fraction], example: str) -> float:
    # Several values are those of power states that SimGrid can switch between; it begins with the first.
    first = text.split(",")[0].strip()
    found = _QUANTITY.fullmatch(first)
    if found is None or found[3] not in units:
        draft.refuse(line, f"{what} is {quoted(text)}", f"expected: a number with a unit, such as {example}")
    try:  # one rounding, so that 500ns and 0.5us are the same
        return float(Fraction(found[1]) * Fraction(10) ** int(found[2] or 0) * units[found[3]])
    except OverflowError:
        return math.inf


def radicals(text: str, line: int, draft: Draft) -> list[int]:
    """The numbers of the hosts of a cluster, in order."""
    numbers: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?\s*", part)
        if found is None or (found[2] and int(found[2]) < int(found[1])):
            draft.refuse(line, f"radical is {quoted(text)}", 'expected: numbers and ranges, such as "0-15,20"')
        first, last = int(found[1]), int(found[2] or found[1])
        if len(numbers) + last - first >= MOST_NAMES:
            draft.refuse(line, f"radical is {quoted(text)}: more than {MOST_NAMES} hosts", "make the cluster smaller")
        numbers.extend(range(first, last + 1))
    return numbers
