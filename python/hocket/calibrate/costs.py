# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What messages cost, from measured collectives: the costs with which the simulator comes nearest to their times."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.optimize import OptimizeResult

    from hocket import CostModel, Network, Program

# Errors, as logarithms, count by their square up to about USUAL_ERROR, beyond that by their size [Huber64], here by the
# smooth form of it; more than WORST_ERROR counts no more. One bad measurement must not decide.
USUAL_ERROR, WORST_ERROR = 0.1, 0.5
# What acknowledgements and late timers leave. Less would be a network whose bandwidths are wrong, or a machine that has
# too few cores for the cluster it emulates: chains of messages are slow then, and others at once are not.
LEAST_EFFICIENCY = 0.93
# Nanoseconds a byte, which current cores stay below. What long messages take beyond that is waiting for cores and
# links, and messages of a few KiB do not do that: a fit that may call it copying predicts those a third too slow.
MOST_COPY, MOST_REDUCE = 0.33, 0.5
EVALUATIONS = 500  # of each start of the search
# Where searches start: overhead, waking up in microseconds; copying, reducing in ns a byte; efficiency of links. All
# but the last are searched for by their logarithms, with a factor of two as the first step.
STARTS = (
    (10.0, 10.0, 0.1, 0.2, 0.96),
    (5.0, 45.0, 0.1, 0.2, 0.96),
    (20.0, 5.0, 0.1, 0.2, 0.96),
    (5.0, 200.0, 0.1, 0.2, 0.96),
)
HOST_OVERHEAD, MOST_OVERHEAD = 4.0, 1e6  # microseconds
FIRST_FACTOR, FIRST_STEP = 2.0, -0.06


@dataclass(frozen=True)
class Sample:
    """A program and the time that it took."""

    name: str
    program: Program
    measured_s: float


@dataclass(frozen=True)
class Fit:
    costs: CostModel
    samples: Sequence[Sample]
    errors: NDArray[np.float64]  # predicted / measured - 1 of each sample


def fit_costs(samples: Sequence[Sample], network: Network, known: CostModel) -> Fit:
    """Overheads, copying, reducing and efficiency, from the times of collectives of several kinds and sizes.

    From `known` come the other values: the rendezvous size, the cores that ranks share, the bursts of links. The search
    is that of [Nelder65] from several starts; its measure are the logarithms of predicted / measured.
    """
    import numpy as np
    from scipy.optimize import minimize

    from hocket import simulate

    most = np.log([MOST_OVERHEAD, MOST_OVERHEAD, MOST_COPY, MOST_REDUCE, MOST_OVERHEAD])
    shares_hosts = any(node.kind == "process" for node in network.nodes)

    def costs_of(x: NDArray[np.float64]) -> CostModel:
        overhead, wake, copy, reduce, *host = np.exp(np.delete(x, 4)).tolist()
        return known.replace(
            send_overhead_s=overhead * 1e-6,
            receive_overhead_s=overhead * 1e-6,
            wake_s=wake * 1e-6,
            copy_bytes_per_s=1e9 / copy,
            reduce_bytes_per_s=1e9 / reduce,
            link_efficiency=float(x[4]),
            host_overhead_s=host[0] * 1e-6 if host else None,
        )

    def logarithms(x: NDArray[np.float64]) -> NDArray[np.float64]:
        costs = costs_of(x)
        return np.array([np.log(simulate(s.program, network, costs).makespan_s / s.measured_s) for s in samples])

    def badness(x: NDArray[np.float64]) -> float:
        if not LEAST_EFFICIENCY <= x[4] <= 1 or np.any(np.delete(x, 4) > most[: len(x) - 1]):
            return 2 * WORST_ERROR / USUAL_ERROR
        errors = np.minimum(np.abs(logarithms(x)), WORST_ERROR) / USUAL_ERROR
        return float(np.hypot(1, errors).mean() - 1)

    def search(start: Sequence[float]) -> OptimizeResult:
        first = np.array([*start, *([HOST_OVERHEAD] if shares_hosts else [])])
        first[np.arange(len(first)) != 4] = np.log(np.delete(first, 4))
        steps = np.full(len(first), np.log(FIRST_FACTOR))
        steps[4] = FIRST_STEP
        simplex = np.vstack([first, first + np.diag(steps)])
        options: Any = {
            "maxfev": EVALUATIONS,
            "xatol": 1e-3,
            "fatol": 1e-5,
            "initial_simplex": simplex,
            "adaptive": True,
        }
        return minimize(badness, first, method="Nelder-Mead", options=options)

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # simulations hold no lock of Python's
        found = list(pool.map(search, STARTS))
    best = min(found, key=lambda result: float(result.fun)).x
    return Fit(costs_of(best), samples, np.exp(logarithms(best)) - 1)
