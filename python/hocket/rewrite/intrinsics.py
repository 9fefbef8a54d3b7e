# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The intrinsic functions of Fortran that only read: intrinsics.txt as values; and those that communicate."""

from __future__ import annotations

import functools
from pathlib import Path

#: Collective subroutines of coarrays and their arguments (Fortran 2018, 16.6). The first one is read and written.
CO_PROCEDURES = {
    "co_broadcast": ("a", "source_image", "stat", "errmsg"),
    "co_max": ("a", "result_image", "stat", "errmsg"),
    "co_min": ("a", "result_image", "stat", "errmsg"),
    "co_reduce": ("a", "operation", "result_image", "stat", "errmsg"),
    "co_sum": ("a", "result_image", "stat", "errmsg"),
}


@functools.cache
def intrinsics() -> frozenset[str]:
    text = Path(__file__).with_name("intrinsics.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())
