# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Compares what a program printed with and without the plan.

Outputs are files, which may be larger than the memory: two of them are read side by side, line by line.
"""

from __future__ import annotations

import filecmp
import hashlib
import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path

_MOST_OF_LINE = 1 << 16  # bytes of a line that are held at once
_MOST_SORTED = 100_000  # lines: some tens of megabytes in each run
_SHOWN = 70  # characters of a line in a remark


def compare_output(native: Sequence[Path], tuned: Sequence[Path]) -> tuple[bool | None, str]:
    """Whether the runs printed the same (None: it cannot be said), and a remark for the user, if not empty.

    Lines that differ among the native runs themselves, such as times, show nothing about the plan and are left out.
    """
    if not any(_has_text(path) for path in (*native, *tuned)):
        return None, ""
    first = native[0]
    others = [path for path in native[1:] if not filecmp.cmp(first, path, shallow=False)]
    changed = [path for path in tuned if not filecmp.cmp(first, path, shallow=False)]
    if not others and not changed:
        return True, ""
    num_lines = _count_lines(first)
    if any(_count_lines(path) != num_lines for path in others):
        return None, "the number of lines of output differs from run to run even without the plan"
    if any(_count_lines(path) != num_lines for path in changed):
        return False, "the number of lines of output differs between runs"
    varying = _LineSet(num_lines)
    for path in others:
        for number, _, _ in _differences(first, path):
            varying.add(number)
    firsts = [next((one for one in _differences(first, path) if one[0] not in varying), None) for path in changed]
    found = min((one for one in firsts if one), key=lambda one: one[0], default=None)
    if (found or varying.count == num_lines) and (remark := _in_any_order(native, changed, num_lines)):
        return True, remark
    if found:
        number, before, after = found
        return False, f'output differs in line {number + 1}: native "{_show(before)}", with the plan "{_show(after)}"'
    if varying.count == 0:
        return False, "output differs in its line ends"
    if varying.count == num_lines:
        return None, "every line of output differs from run to run even without the plan"
    return True, f"{varying.count} of {num_lines} lines of output differ from run to run even without the plan"


def _in_any_order(native: Sequence[Path], changed: Sequence[Path], num_lines: int) -> str:
    """A remark if these runs have all lines that the native ones have in common: ranks print theirs as they come."""
    if num_lines > _MOST_SORTED:
        return ""
    common = reduce(operator.and_, map(_counts, native))
    if not common or any(common - _counts(path) for path in changed):
        return ""
    varying = num_lines - common.total()
    more = f", and {varying} of {num_lines} differ even without the plan" if varying else ""
    return f"the lines of output come in another order in some runs{more}"


def _counts(path: Path) -> Counter[bytes]:
    """How often each line occurs, by its hash."""
    return Counter(hashlib.blake2b(line, digest_size=16).digest() for line in _lines(path))


class _LineSet:
    """Numbers of lines, in a bit each."""

    def __init__(self, num_lines: int) -> None:
        self._bits = bytearray(num_lines // 8 + 1)
        self.count = 0

    def __contains__(self, number: int) -> bool:
        return bool(self._bits[number >> 3] >> (number & 7) & 1)

    def add(self, number: int) -> None:
        if number not in self:
            self._bits[number >> 3] |= 1 << (number & 7)
            self.count += 1


def _differences(first: Path, second: Path) -> Iterator[tuple[int, bytes, bytes]]:
    """The lines that differ, by number from 0 on."""
    for number, (before, after) in enumerate(zip(_lines(first), _lines(second), strict=True)):
        if before != after:
            yield number, before, after


def _lines(path: Path) -> Iterator[bytes]:
    """Each line without its end; of a long one the beginning, with a digest of the whole behind it."""
    with open(path, "rb") as file:
        while line := file.readline(_MOST_OF_LINE):
            if len(line) < _MOST_OF_LINE or line.endswith(b"\n"):
                yield line.rstrip(b"\r\n")
                continue
            digest = hashlib.sha256(line)
            while part := file.readline(_MOST_OF_LINE):
                digest.update(part.rstrip(b"\r\n") if part.endswith(b"\n") else part)
                if part.endswith(b"\n"):
                    break
            yield line[:_SHOWN] + digest.digest()


def _count_lines(path: Path) -> int:
    return sum(1 for _ in _lines(path))


def _has_text(path: Path) -> bool:
    with open(path, "rb") as file:
        return any(part.strip() for part in iter(lambda: file.read(_MOST_OF_LINE), b""))


def _show(line: bytes) -> str:
    return line.decode(errors="replace")[:_SHOWN]
