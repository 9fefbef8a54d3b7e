# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Messages between ranks of one host."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hocket.calibrate.hosts import Hosts
from hocket.measure.transfers import Experiment, Measure, Transfer

PROBE_BYTES = 4 << 20  # above every cache limit of an MPI, and short


@dataclass(frozen=True)
class Memory:
    """Of a host: what one rank sends to another, in bytes/s, and the time of an empty message one way, in seconds."""

    bytes_per_s: float
    latency_s: float


def measure_memory(hosts: Hosts, measure: Measure) -> list[Memory | None]:
    """By host; None where one rank runs."""
    shared = [(i, ranks) for i, ranks in enumerate(hosts.ranks) if len(ranks) > 1]
    found: list[Memory | None] = [None] * len(hosts.ranks)
    if not shared:
        return found
    experiments: list[Experiment] = [
        (Transfer(ranks[0], ranks[1], size),) for _, ranks in shared for size in (0, PROBE_BYTES)
    ]
    rounds = np.array([[seconds[0] for seconds in of_round] for of_round in measure(experiments)])
    taken = np.median(rounds, axis=0).reshape(len(shared), 2)
    for (i, _), (empty_s, some_s) in zip(shared, taken, strict=True):
        found[i] = Memory(PROBE_BYTES / max(some_s - empty_s, some_s / 10), float(empty_s) / 2)
    return found
