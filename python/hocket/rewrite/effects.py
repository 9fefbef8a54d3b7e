# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a statement does: which elements it reads and writes, and what forbids to move anything across it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from hocket.rewrite.sets import Access
from hocket.rewrite.symbols import Symbol


@dataclass(frozen=True)
class Barrier:
    """Why nothing moves across a statement."""

    code: str  # one word, for programs: see docs/reference/rewrite.md
    reason: str
    hint: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


@dataclass(frozen=True)
class MpiUse:
    """A call of MPI that communicates."""

    name: str
    role: str  # of mpi_procedures.txt
    line: int


@dataclass
class Effects:
    accesses: list[Access] = field(default_factory=list)
    barriers: list[Barrier] = field(default_factory=list)
    mpi: list[MpiUse] = field(default_factory=list)
    has_work: bool = False  # a loop, an array operation or a call: worth to run beside communication
    exposed: set[str] = field(default_factory=set)  # keys of scalars whose earlier value is read

    @property
    def written(self) -> set[str]:
        """The aliases of what is written."""
        return {access.alias for access in self.accesses if access.is_write}


@dataclass
class Summary:
    """What a call of a procedure does."""

    dummies: dict[str, tuple[bool, bool]] = field(default_factory=dict)  # read, written
    others: dict[tuple[str, bool], Symbol] = field(default_factory=dict)  # key and whether written: of modules, hosts
    barrier: Barrier | None = None
    mpi: list[MpiUse] = field(default_factory=list)
    has_work: bool = True


_ORDER_IS_SEEN = re.compile(rb"(?i)\bmpi_(any_source|i?m?probe|waitany|testany|waitsome|testsome|win_\w+)\b")


def shows_order(texts: Iterable[bytes]) -> bool:
    """Whether a program of these texts can tell which of two messages of other ranks was sent first."""
    return any(_ORDER_IS_SEEN.search(text) for text in texts)
