# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What an algorithm takes beside the sum of its terms, learnt from the measured ones like it.

A Gaussian process [Rasmussen06] over the logarithm of measured / predicted: algorithms of the same name err alike, more
so on the same system, at similar sizes and numbers of ranks. Where nothing similar was measured the correction is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hocket.advise.measured.rounds import Floats
from hocket.advise.measured.tables import Case

# Standard deviations of the logarithm of a correction that ...
SAME_FORM = 0.5  # ... a collective's algorithm has on all systems
SAME_FORM_AND_SYSTEM = 0.4
SAME_NAME_AND_SYSTEM = 0.4  # a ring is a ring in every collective
SAME_TEST = 0.4  # ... all algorithms of a test share: its job was slow that day
NOISE = 0.25

SIZES = 3.0  # doublings of the size over which a correction changes
RANKS = 3.0  # doublings of the ranks, or of the ranks of a host
SIZES_OF_TEST = 4.5
ALL_SIZES = 0.35  # share of the variance that does not depend on the size
ALL_RANKS = 0.5  # and on the number of ranks
MOST = 1.2  # a larger error is a form that the library does not have: it is not carried over whole


@dataclass(frozen=True)
class _Coordinates:
    form: Floats
    name: Floats
    system: Floats
    test: Floats
    size: Floats
    block: Floats
    ranks: Floats
    ranks_per_host: Floats


class Corrections:
    """Of logarithms; both lists of cases may have any length."""

    def __init__(self, cases: Sequence[Case], ranks_per_host: Sequence[int], errors: Floats) -> None:
        self._cases, self._ranks_per_host = tuple(cases), tuple(ranks_per_host)
        at = _coordinates(self._cases, self._ranks_per_host)
        covariance = _covariance(at, at, len(cases), len(cases))
        covariance[np.diag_indices(len(cases))] += NOISE**2
        self._weights = np.linalg.solve(covariance, np.clip(errors, -MOST, MOST))

    def of(self, cases: Sequence[Case], ranks_per_host: Sequence[int]) -> Floats:
        known = len(self._cases)
        at = _coordinates((*self._cases, *cases), (*self._ranks_per_host, *ranks_per_host))
        return np.asarray(_covariance(at, at, known, len(at.form))[:, known:].T @ self._weights)


def _coordinates(cases: Sequence[Case], ranks_per_host: Sequence[int]) -> _Coordinates:
    def number(keys: list[tuple[str, ...]]) -> Floats:
        numbers = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        return np.array([numbers[key] for key in keys], dtype=np.float64)

    whole = ("bcast", "reduce", "allreduce")
    size = np.array([case.bytes for case in cases], dtype=np.float64)
    ranks = np.array([case.ranks for case in cases], dtype=np.float64)
    is_whole = np.array([case.collective in whole for case in cases])
    return _Coordinates(
        form=number([(case.collective, case.algorithm) for case in cases]),
        name=number([(case.algorithm,) for case in cases]),
        system=number([(case.system,) for case in cases]),
        test=number([(case.test, case.collective) for case in cases]),
        size=np.log2(size),
        block=np.log2(np.where(is_whole, size, np.maximum(size / ranks, 1))),
        ranks=np.log2(ranks),
        ranks_per_host=np.log2(np.array(ranks_per_host, dtype=np.float64)),
    )


def _covariance(a: _Coordinates, b: _Coordinates, first: int, second: int) -> Floats:
    """Between the first cases of each."""

    def same(name: str) -> Floats:
        return np.asarray(getattr(a, name)[:first, None] == getattr(b, name)[None, :second], dtype=np.float64)

    def near(name: str, length: float) -> Floats:
        apart = getattr(a, name)[:first, None] - getattr(b, name)[None, :second]
        return np.asarray(np.exp(-0.5 * (apart / length) ** 2))

    sizes = ALL_SIZES + (1 - ALL_SIZES) * 0.5 * (near("size", SIZES) + near("block", SIZES))
    ranks = (ALL_RANKS + (1 - ALL_RANKS) * near("ranks", RANKS)) * near("ranks_per_host", RANKS)
    form, system = same("form"), same("system")
    alike = form * (SAME_FORM**2 + SAME_FORM_AND_SYSTEM**2 * system) + SAME_NAME_AND_SYSTEM**2 * system * same("name")
    return np.asarray(alike * sizes * ranks + SAME_TEST**2 * same("test") * near("size", SIZES_OF_TEST))
