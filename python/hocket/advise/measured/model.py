# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Learns from measured collectives what those of other jobs will take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hocket.advise.measured.corrections import Corrections
from hocket.advise.measured.costs import Costs, fit
from hocket.advise.measured.forms import FORMS, parts_of, runs_as
from hocket.advise.measured.placement import Placement
from hocket.advise.measured.profile import Profile, profile
from hocket.advise.measured.tables import Case, Measurement
from hocket.advise.measured.terms import TERMS, USUAL, amounts
from hocket.errors import InvalidInput

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Advance = Callable[[str], None]


class Amounts:
    """The amounts of cases. A profile serves every size, and is made once."""

    def __init__(self, placements: Mapping[str, Placement], advance: Advance) -> None:
        self._placements, self._advance = placements, advance
        self._profiles: dict[tuple[str, str, str], Profile] = {}

    def ranks_per_host(self, case: Case) -> int:
        return self._placement(case).ranks_per_host

    def of(self, case: Case) -> Floats | None:
        """None for an algorithm whose rounds are not known."""
        name = runs_as(case.collective, case.algorithm, case.ranks, case.count)
        parts = parts_of(case.collective, name)
        if not parts or case.ranks < 2:
            return None
        total = np.zeros(len(TERMS))
        for forms in parts:
            rows = [amounts(self._profile(case, form), case.bytes) for form in forms]
            total += min(rows, key=lambda row: float(row @ USUAL))
        return total

    def _profile(self, case: Case, form: tuple[str, str]) -> Profile:
        key = (case.test, *form)
        if key not in self._profiles:
            self._advance("")
            at = self._placement(case)
            self._profiles[key] = profile(FORMS[form](at.ranks), at)
        return self._profiles[key]

    def _placement(self, case: Case) -> Placement:
        at = self._placements.get(case.test)
        if at is None:
            raise InvalidInput(f"no allocation of the test {case.test}", "every test needs a row in the allocations")
        if at.ranks != case.ranks:
            raise InvalidInput(f"the test {case.test} has {case.ranks} ranks, its allocation {at.ranks}")
        return at


@dataclass(frozen=True)
class Model:
    costs: Costs
    corrections: Corrections
    learnt: int  #: measurements that it was learnt from
    unknown: tuple[str, ...]  #: algorithms among them whose rounds are not known

    def predict(self, cases: Sequence[Case], amounts: Amounts) -> list[float | None]:
        """Seconds; None where the rounds of the algorithm are not known."""
        rows = [amounts.of(case) for case in cases]
        known = [k for k, row in enumerate(rows) if row is not None]
        times: list[float | None] = [None] * len(cases)
        if not known:
            return times
        corrections = self.corrections.of([cases[k] for k in known], [amounts.ranks_per_host(cases[k]) for k in known])
        for k, correction in zip(known, corrections, strict=True):
            row = rows[k]
            assert row is not None
            times[k] = float(row @ self.costs.of(cases[k].system) * np.exp(correction))
        return times


def learn(measurements: Iterable[Measurement], amounts: Amounts) -> Model:
    """Raises InvalidInput if the rounds of none of the algorithms are known."""
    known: list[tuple[Measurement, Floats]] = []
    unknown: dict[str, None] = {}
    for measurement in measurements:
        row = amounts.of(measurement.case)
        if row is None:
            unknown[f"{measurement.case.collective} {measurement.case.algorithm}"] = None
        else:
            known.append((measurement, row))
    if not known:
        raise InvalidInput(f"none of the measured algorithms is known here: {', '.join(unknown)}")
    cases = [measurement.case for measurement, _ in known]
    table = np.array([row for _, row in known])
    seconds = np.array([measurement.seconds for measurement, _ in known])
    costs = fit(table, seconds, [case.system for case in cases], [measurement.job for measurement, _ in known])
    predicted = np.array([row @ costs.of(case.system) for row, case in zip(table, cases, strict=True)])
    ranks_per_host = [amounts.ranks_per_host(case) for case in cases]
    corrections = Corrections(cases, ranks_per_host, np.log(seconds / predicted))
    return Model(costs, corrections, len(known), tuple(unknown))
