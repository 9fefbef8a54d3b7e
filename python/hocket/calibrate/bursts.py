# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What links let pass at once after a pause: shapers, of emulated and of cloud networks, are token buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hocket.calibrate.errors import Predict, logarithms_alone
from hocket.calibrate.messages import Messages
from hocket.calibrate.tree import program_of
from hocket.measure.transfers import Transfer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hocket import CostModel, Network
    from hocket.calibrate.hosts import Hosts

# Where the search starts: a bucket of some frames, and what a timer that is late by as much lets through.
START_BYTES, START_S = 8000.0, 250e-6
EVALUATIONS = 120
# Buckets must take away this share of the error of the messages whose times they change by CHANGE, or there are none.
LEAST_GAIN = 0.3
CHANGE = 0.05
LEAST_CHANGED = 3  # messages


def predictor(network: Network, hosts: Hosts, costs: CostModel) -> Predict:
    from hocket import simulate

    def predict(source: int, target: int, size: int) -> float:
        transfer = Transfer(hosts.ranks[source][0], hosts.ranks[target][0], size)
        return simulate(program_of((transfer,), network.num_ranks), network, costs).makespan_s

    return predict


def fit_bursts(network: Network, hosts: Hosts, messages: Messages, costs: CostModel) -> CostModel:
    """The costs with the buckets that explain single messages best, if any do: |log(predicted / measured)| on the mean.

    Looks at the sizes that are not held out. The search is that of [Nelder65], over the logarithms.
    """
    from scipy.optimize import minimize

    def with_buckets(x: NDArray[np.float64]) -> CostModel:
        burst_bytes, burst_s = np.exp(np.clip(x, -30, 30)).tolist()
        return costs.replace(burst_bytes=burst_bytes, burst_s=burst_s)

    def logarithms(some: CostModel) -> NDArray[np.float64]:
        return logarithms_alone(messages, predictor(network, hosts, some), held_out=False)

    def badness_at(x: NDArray[np.float64]) -> float:
        return float(np.abs(logarithms(with_buckets(x))).mean())

    start = np.log(np.array([START_BYTES, START_S]))
    simplex = start + np.log(4.0) * np.array([[0, 0], [1, 0], [0, -1]])
    options: Any = {"maxfev": EVALUATIONS, "initial_simplex": simplex}
    best = with_buckets(minimize(badness_at, start, method="Nelder-Mead", options=options).x)
    after, before = logarithms(best), logarithms(costs)
    changed = np.abs(after - before) > CHANGE
    gains = np.abs(after[changed]).sum() < (1 - LEAST_GAIN) * np.abs(before[changed]).sum()
    return best if changed.sum() >= LEAST_CHANGED and gains else costs
