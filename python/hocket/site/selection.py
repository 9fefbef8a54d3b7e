# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which of a library's own algorithms is predicted to be best on a network, over all sizes.

A library runs its algorithms in the order of ranks, so that no other order is considered: a rank order does that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hocket._core import Decider, PlanEntry, is_rooted
from hocket.errors import Error

_EXPONENTS = range(27)  # 1 B to 64 MiB; larger sizes as the last
_SEGMENT_BYTES = [1 << exponent for exponent in range(12, 20)]
_LARGEST = (1 << 31) - 1
# Below this a smaller prediction is no reason to change the algorithm between two sizes.
_LEAST_GAIN = 0.02


@dataclass(frozen=True)
class Algorithm:
    """One that the library has."""

    name: str  # as hocket calls it
    is_segmented: bool = False


@dataclass(frozen=True)
class Rule:
    """An algorithm for messages (bcast, reduce, allreduce) or blocks of a rank (the others) of this size and more."""

    from_bytes: int
    algorithm: str
    segment_bytes: int = 0  # 0: whole messages
    predicted_s: float = 0.0  # at `from_bytes`


def choose(
    decider: Decider,
    ranks: int,
    catalogue: Mapping[str, Sequence[Algorithm]],
    step: Callable[[str], None] = lambda name: None,
) -> dict[str, list[Rule]]:
    """For each collective of the catalogue the rules by increasing size; `step` is called with each when it is done."""
    rules = {}
    for collective, algorithms in catalogue.items():
        rules[collective] = _rules(decider, ranks, collective, algorithms)
        step(collective)
    return rules


def _rules(decider: Decider, ranks: int, collective: str, algorithms: Sequence[Algorithm]) -> list[Rule]:
    members = list(range(ranks))
    rules: list[Rule] = []
    for size in (1 << exponent for exponent in _EXPONENTS):
        timed: list[Rule] = []
        for algorithm in algorithms:
            for segment in [s for s in _SEGMENT_BYTES if s < size] if algorithm.is_segmented else [0]:
                entry = PlanEntry(
                    collective,
                    members,
                    0,
                    _LARGEST,
                    algorithm.name,
                    root=0 if is_rooted(collective) else None,
                    segment_bytes=segment or None,
                )
                try:
                    predicted_s = decider.predicted_s(entry, members, size)
                except Error:  # not for this number of ranks
                    continue
                timed.append(Rule(size, algorithm.name, segment, predicted_s))
        if not timed:
            return []
        best = min(timed, key=lambda rule: rule.predicted_s)
        last = rules[-1] if rules else None
        before = next(
            (r for r in timed if last and (r.algorithm, r.segment_bytes) == (last.algorithm, last.segment_bytes)), None
        )
        if before is None or best.predicted_s < before.predicted_s * (1 - _LEAST_GAIN):
            rules.append(best)
    if rules:
        first = rules[0]
        rules[0] = Rule(0, first.algorithm, first.segment_bytes, first.predicted_s)
    return rules
