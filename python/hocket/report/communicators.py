# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Names of communicators by their members: "world", "4 of 8: even ranks", "pairs (x4)"."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

from hocket.report import text

Members = tuple[int, ...]  # world ranks in the order of the communicator


def disjoint_sets(communicators: Sequence[Members]) -> list[list[Members]]:
    """Communicators of equal size, sorted into sets in which no rank occurs twice.

    Those that are alike, such as the rows of a grid of ranks, come into one set: each set begins with those of one
    shape, that is, of the same distances between their ranks. Others join where they fit.
    """
    by_shape: dict[Members, list[Members]] = {}
    for members in communicators:
        by_shape.setdefault(tuple(rank - members[0] for rank in members), []).append(members)
    sets: list[list[Members]] = []
    for alike in by_shape.values():
        own: list[list[Members]] = []
        for members in alike:
            _place(members, own)
        for one in own:
            fitting = next((other for other in sets if _ranks(other).isdisjoint(_ranks(one))), None)
            if fitting is None:
                sets.append(one)
            else:
                fitting += one
    return sets


def _place(members: Members, sets: list[list[Members]]) -> None:
    for one in sets:
        if _ranks(one).isdisjoint(members):
            one.append(members)
            return
    sets.append([members])


def _ranks(communicators: Sequence[Members]) -> set[int]:
    return {rank for members in communicators for rank in members}


def names(sets: Sequence[Sequence[Members]], ranks: int) -> list[str]:
    """Of each set of disjoint communicators of a world of so many ranks; different sets have different names."""
    short = [_short(communicators, ranks) for communicators in sets]
    found = [
        name if len(one) == 1 or short.count(name) == 1 else f"{name}: {_places(one[0])}"
        for name, one in zip(short, sets, strict=True)
    ]
    seen: Counter[str] = Counter()
    for i, name in enumerate(found):
        seen[name] += 1
        found[i] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return found


def _short(communicators: Sequence[Members], ranks: int) -> str:
    first = communicators[0]
    if len(communicators) > 1:
        kind = "pairs" if len(first) == 2 else f"groups of {len(first)}"
        return f"{kind} (x{len(communicators)})"
    if len(first) == ranks:
        return "world" if first == tuple(range(ranks)) else "world in another order"
    return f"{len(first)} of {ranks}: {_one(first, ranks)}"


def _one(members: Members, ranks: int) -> str:
    """The ranks of one communicator."""
    if members == tuple(range(0, ranks, 2)):
        return "even ranks"
    if members == tuple(range(1, ranks, 2)):
        return "odd ranks"
    step = _step(members)
    if step is not None and step > 1 and len(members) > 3:
        return f"every {_ordinal(step)} rank from {members[0]}"
    return f"ranks {text.ranks(members)}"


def _places(members: Members) -> str:
    """How communicators of the shape of this one lie."""
    step = _step(members)
    if step == 1:
        return "consecutive ranks"
    if step is not None and step > 1:
        return f"every {_ordinal(step)} rank"
    return f"as ranks {text.ranks(members)}"


def _step(members: Members) -> int | None:
    steps = {b - a for a, b in itertools.pairwise(members)}
    return steps.pop() if len(steps) == 1 else None


def _ordinal(number: int) -> str:
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10 if number % 100 not in (11, 12, 13) else 0, 'th') }"
