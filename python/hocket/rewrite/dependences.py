# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Whether two statements may change places: they may if neither writes what the other accesses."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from hocket.rewrite.effects import Effects
from hocket.rewrite.sets import Access, have_common_element


@dataclass(frozen=True)
class Conflict:
    """Two accesses that keep two statements in their order."""

    first: Access
    second: Access

    def __str__(self) -> str:
        return ", ".join(
            f"line {one.line} {'writes' if one.is_write else 'reads'} {one.text}" for one in (self.first, self.second)
        )


@dataclass
class Proofs:
    """What was proved, to be shown: pairs of sections without a common element."""

    disjoint: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def add(self, first: Access, second: Access) -> None:
        self.disjoint.setdefault((first.text, second.text), (first.line, second.line))


def conflict_of(
    first: Effects, second: Effects, private: Collection[str], proofs: Proofs | None = None
) -> Conflict | None:
    """None if the two may change places; `private` as of `Analysis.private`."""
    by_alias: dict[str, list[Access]] = {}
    for access in second.accesses:
        by_alias.setdefault(access.alias, []).append(access)
    for access in first.accesses:
        for other in by_alias.get(access.alias, ()):
            if not (access.is_write or other.is_write):
                continue
            if access.alias in private and access.is_write and other.is_write:
                continue
            if have_common_element(access, other):
                return Conflict(access, other)
            if proofs is not None:
                proofs.add(access, other)
    return None


def first_conflict(
    one: Effects, others: Sequence[Effects], private: Collection[str], proofs: Proofs | None = None
) -> Conflict | None:
    for other in others:
        found = conflict_of(one, other, private, proofs)
        if found is not None:
            return found
    return None
