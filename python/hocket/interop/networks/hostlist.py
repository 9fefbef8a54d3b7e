# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Slurm's host lists: `n[001-003,7],login` is n001 n002 n003 n7 login.

Written here because what there is does other things too: ClusterShell's node sets ask the machine's configuration for
groups and expand before anyone can count, and python-hostlist has a licence that hocket cannot take on. The tests
compare with ClusterShell.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import NoReturn

Refuse = Callable[[str, str], NoReturn]  # what is wrong, hint

MOST_NAMES = 1 << 21  # as many nodes as a network may have
MOST_CHARACTERS = 1024  # of a name; those of hosts have at most 255
EXPECTED = "expected: names such as n[001-128],login[1-2]"

_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", re.ASCII)
_PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\],]+)")


def expand(text: str, refuse: Refuse) -> list[str]:
    """The names in the order of the list; a name that occurs twice is there twice."""
    names: list[str] = []
    for item in _items(text, refuse):
        parts: list[list[str]] = []
        product, longest = 1, 0
        for ranges, literal in item:
            parts.append(_choices(ranges, refuse) if ranges else [literal])
            product *= len(parts[-1])
            longest += max(map(len, parts[-1]))
            if len(names) + product > MOST_NAMES:
                refuse_many(refuse)
            if longest > MOST_CHARACTERS:
                refuse(f"a name of the host list {quoted(text)} has more than {MOST_CHARACTERS} characters", EXPECTED)
        names.extend("".join(choice) for choice in itertools.product(*parts))
    return names


def _items(text: str, refuse: Refuse) -> Iterator[list[tuple[str, str]]]:
    """The parts of the list between commas, each as pieces: (inside of brackets, "") or ("", literal)."""
    position = 0
    item: list[tuple[str, str]] = []
    while position < len(text):
        if text[position] == ",":
            if not item:
                refuse(f"a name of the host list {quoted(text)} is empty", EXPECTED)
            yield item
            item = []
            position += 1
            continue
        found = _PIECE.match(text, position)
        if found is None or found[1] == "":
            refuse(f"the brackets of the host list {quoted(text)} are not closed, empty or nested", EXPECTED)
        item.append((found[1] or "", found[2] or ""))
        position = found.end()
    if not item:
        refuse(f"a name of the host list {quoted(text)} is empty", EXPECTED)
    yield item


def _choices(ranges: str, refuse: Refuse) -> list[str]:
    result: list[str] = []
    for element in ranges.split(","):
        found = _RANGE.fullmatch(element)
        if found is None:
            refuse(f"{quoted(element)} in brackets is neither a number nor a range of numbers", EXPECTED)
        first, last = found[1], found[2] or found[1]
        if int(last) < int(first):
            refuse(f"the range {quoted(element)} ends before it begins", EXPECTED)
        if len(result) + int(last) - int(first) >= MOST_NAMES:
            refuse_many(refuse)
        result.extend(str(number).zfill(len(first)) for number in range(int(first), int(last) + 1))
    return result


def refuse_many(refuse: Refuse) -> NoReturn:
    refuse(f"a host list has more than {MOST_NAMES} names", "list the hosts that the network has")


def quoted(text: str) -> str:
    """For messages: on one line, not too long."""
    shown = text if len(text) <= 60 else text[:57] + "..."
    return '"' + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown) + '"'
