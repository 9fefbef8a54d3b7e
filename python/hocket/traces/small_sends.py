# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a small message costs the ranks of a recorded program, as its own calls of MPI_Send show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hocket import CostModel
    from hocket.traces.trace import Trace

SMALL_BYTES = 1024  # copying them takes a fraction of a microsecond
LEAST_SENDS = 100  # the median of fewer says little


def small_send_s(trace: Trace) -> float | None:
    """The median time of MPI_Send of at most SMALL_BYTES to other hosts; None: there are fewer than LEAST_SENDS.

    Such a call hands the message to the system and returns, so that it takes a core no longer than this.
    """
    if "MPI_Send" not in trace.functions:
        return None
    hosts, send = np.array(trace.hosts), trace.functions.index("MPI_Send")
    times_ns = []
    for rank in range(trace.ranks):
        calls = trace.calls(rank)
        is_small = (calls["bytes"] >= 0) & (calls["bytes"] <= SMALL_BYTES)
        calls = calls[(calls["function"] == send) & is_small & (calls["peer"] >= 0) & (calls["error"] == 0)]
        for communicator in np.unique(calls["communicator"][calls["communicator"] >= 0]):
            known = trace.communicators[communicator]
            members = np.array(known.remote if known.inter else known.members)
            of_it = calls[(calls["communicator"] == communicator) & (calls["peer"] < len(members))]
            peers = members[of_it["peer"]]
            elsewhere = of_it[(peers >= 0) & (hosts[peers] != hosts[rank])]
            times_ns.append(elsewhere["exit_ns"] - elsewhere["enter_ns"])
    times = np.concatenate(times_ns) if times_ns else np.empty(0)
    return float(np.median(times)) * 1e-9 if len(times) >= LEAST_SENDS else None


def costs_in_program(costs: CostModel, trace: Trace) -> CostModel:
    """For replays on the system that the program was recorded on: no message costs more than the recorded MPI_Send.

    Collectives that are measured one by one, to which costs are fitted, have waiting in them that a program's steady
    stream of messages has not. Both ends cost the same there, and so here.
    """
    most_s = small_send_s(trace)
    if most_s is None:
        return costs
    return costs.replace(
        send_overhead_s=min(costs.send_overhead_s, most_s), receive_overhead_s=min(costs.receive_overhead_s, most_s)
    )
