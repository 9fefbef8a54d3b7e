# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a file gets from those that it includes, besides declarations: macros and procedures."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_INCLUDE = re.compile(rb"(?im)^[ \t]*(#[ \t]*)?include[ \t]*['\"<]([^'\">\n]+)['\">]")
_MACRO = re.compile(rb"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)")
_UNIT = re.compile(rb"(?im)^(?![ \t]*(?:end\b|!|[c*]))[\w \t(),=*]*\b(?:subroutine|function|module|program)[ \t]+\w")
_OF_MPI = ("mpif.h", "mpi.h")


def find_included(name: str, folders: Sequence[Path]) -> Path | None:
    """The first that can be read."""
    paths = (folder / name for folder in folders)
    return next((one for one in paths if os.path.isfile(one) and os.access(one, os.R_OK)), None)


@dataclass(frozen=True)
class Included:
    macros: frozenset[str] = frozenset()  # in lower case, those of the file itself too
    unread: str = ""  # a file for the preprocessor that is not found
    with_units: str = ""  # a file with procedures


def included_in(text: bytes, folders: Sequence[Path], seen: set[Path] | None = None) -> Included:
    """`seen` are the files that have been read, which say no more a second time."""
    seen = set() if seen is None else seen
    macros = {name.decode().lower() for name in _MACRO.findall(text)}
    unread = with_units = ""
    for mark, word in _INCLUDE.findall(text):
        name = word.decode(errors="replace").strip()
        if name.lower() in _OF_MPI:
            continue
        path = find_included(name, folders)
        if path is None or path in seen:
            unread = unread or (name if mark and path is None else "")
            continue
        seen.add(path)
        inner = path.read_bytes()
        found = included_in(inner, (path.parent, *folders[1:]), seen)
        macros |= found.macros
        unread = unread or found.unread
        with_units = with_units or (name if _UNIT.search(inner) else "") or found.with_units
    return Included(frozenset(macros), unread, with_units)
