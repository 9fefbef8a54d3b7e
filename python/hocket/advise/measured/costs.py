# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Fits what the terms cost on each system.

log(cost) = log(usual) + common + own, with `common` of all systems and `own` of each, both drawn towards 0. So a system
with few measurements takes from the others what it does not show itself, and one without any has the common costs. A
job may be slower or faster than another one on the same system, in its waits and in its bytes: that is fitted too, and
left out of what is learnt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hocket.advise.measured.rounds import Floats
from hocket.advise.measured.terms import TERMS, USUAL

# Standard deviations of logarithms. docs/notebook/supercomputers.md has others that were tried.
COMMON = 1.5
OWN = 0.7
JOB_WAITS = 0.3
JOB_BYTES = 0.15
ERROR = 0.25  # beyond it an error counts as its absolute value: a measurement far off is no proof of the cost

MOST_ITERATIONS = 1000


@dataclass(frozen=True)
class Costs:
    """Seconds for a unit of each of TERMS."""

    common: Floats
    of_system: dict[str, Floats]

    def of(self, system: str) -> Floats:
        return self.of_system.get(system, self.common)


def fit(amounts: Floats, seconds: Floats, systems: Sequence[str], jobs: Sequence[str]) -> Costs:
    """`amounts` has a row for each measurement."""
    from scipy.optimize import minimize

    waits = np.array([term.waits for term in TERMS])
    names, system = np.unique(np.array(systems), return_inverse=True)
    job_names, job = np.unique(np.array(jobs), return_inverse=True)
    shape = (len(names), len(TERMS))
    usual_times = amounts * USUAL
    target = np.log(seconds)
    spread = np.array([JOB_WAITS, JOB_BYTES])

    def objective(x: Floats) -> tuple[float, Floats]:
        common, rest = x[: shape[1]], x[shape[1] :]
        own, of_job = rest[: shape[0] * shape[1]].reshape(shape), rest[shape[0] * shape[1] :].reshape(-1, 2)
        slower = np.where(waits, of_job[job, :1], of_job[job, 1:])
        times = usual_times * np.exp((common + own)[system] + slower)
        total = times.sum(axis=1)
        error = (np.log(total) - target) / ERROR
        root = np.sqrt(1 + error**2)
        value = 2 * (root - 1).sum() + (common**2).sum() / COMMON**2 + (own**2).sum() / OWN**2
        value += ((of_job / spread) ** 2).sum()
        slope = (2 / ERROR * error / root / total)[:, None] * times
        own_slope = np.zeros(shape)
        np.add.at(own_slope, system, slope)
        job_slope = np.zeros((len(job_names), 2))
        np.add.at(job_slope[:, 0], job, slope[:, waits].sum(axis=1))
        np.add.at(job_slope[:, 1], job, slope[:, ~waits].sum(axis=1))
        gradient = (
            slope.sum(axis=0) + 2 * common / COMMON**2,
            (own_slope + 2 * own / OWN**2).ravel(),
            (job_slope + 2 * of_job / spread**2).ravel(),
        )
        return float(value), np.concatenate(gradient)

    start = np.zeros((1 + shape[0]) * shape[1] + 2 * len(job_names))
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_ITERATIONS}).x
    common, own = found[: shape[1]], found[shape[1] :][: shape[0] * shape[1]].reshape(shape)
    of_system = {str(name): USUAL * np.exp(common + own[k]) for k, name in enumerate(names)}
    return Costs(USUAL * np.exp(common), of_system)
