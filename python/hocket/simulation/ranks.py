# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Ranks in options."""

from __future__ import annotations

import re

MOST_RANKS = 2**24  #: named at once


def ranks_from(text: str) -> range:
    """Of "7" or "0-63". @raises ValueError telling what is wrong with it"""
    ends = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if ends is None:
        raise ValueError(f"{text!r} is neither a rank, such as 7, nor a range of ranks, such as 0-63")
    if max(map(len, filter(None, ends.groups()))) > 9:
        raise ValueError(f"{text[:40]}: no network has so many ranks")
    first, last = int(ends[1]), int(ends[2] or ends[1])
    if last < first:
        raise ValueError(f"{text}: the range ends before it begins")
    if last - first >= MOST_RANKS:
        raise ValueError(f"{text}: more than {MOST_RANKS} ranks")
    return range(first, last + 1)
