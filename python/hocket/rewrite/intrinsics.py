# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The intrinsic functions of Fortran that only read: intrinsics.txt as values."""

from __future__ import annotations

import functools
from pathlib import Path


@functools.cache
def intrinsics() -> frozenset[str]:
    text = Path(__file__).with_name("intrinsics.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())
