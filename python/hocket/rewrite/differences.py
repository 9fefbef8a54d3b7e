# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The change of a file as a patch, and as two columns."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CONTEXT = 3


def unified_diff(path: Path, old: bytes, new: bytes) -> str:
    """As `patch -p0` takes it."""
    before, after = (text.decode(errors="surrogateescape").splitlines(keepends=True) for text in (old, new))
    name = str(path)
    lines = difflib.unified_diff(before, after, name, name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


@dataclass(frozen=True)
class Row:
    """A line of both sides; the number is 0 where a side has none."""

    kind: str  # "same", "removed", "added", "changed", "gap"
    old_line: int
    old_text: str
    new_line: int
    new_text: str


def side_by_side(old: bytes, new: bytes) -> Iterator[Row]:
    before, after = (text.decode(errors="replace").splitlines() for text in (old, new))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        yield Row("gap", group[0][1] + 1, "", group[0][3] + 1, "")
        for kind, i1, i2, j1, j2 in group:
            for k in range(max(i2 - i1, j2 - j1)):
                has_old, has_new = i1 + k < i2, j1 + k < j2
                kind_of = "same" if kind == "equal" else "changed" if has_old and has_new else ""
                yield Row(
                    kind_of or ("removed" if has_old else "added"),
                    i1 + k + 1 if has_old else 0,
                    before[i1 + k] if has_old else "",
                    j1 + k + 1 if has_new else 0,
                    after[j1 + k] if has_new else "",
                )
