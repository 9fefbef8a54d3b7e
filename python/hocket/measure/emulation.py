# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a simulation must know of a testbed that a real cluster does not have."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hocket.testbed.shaping import FRAME_BYTES, MIN_BURST_BYTES, NO_LATENCY_NOTE, PAYLOAD_BYTES, TIMER_SLACK_S

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.testbed.testbed import Testbed


def emulated(network: Network, testbed: Testbed) -> Network:
    """The network as the testbed emulates it: without latencies where the kernel cannot delay packets."""
    from hocket import Blueprint, Network

    if NO_LATENCY_NOTE not in testbed.notes:
        return network
    blueprint = network.blueprint()
    cables = [
        Blueprint.Cable(
            cable.first,
            cable.second,
            cable.bandwidth_bytes_per_s,
            cable.bandwidth_back_bytes_per_s,
            half_duplex=cable.half_duplex,
        )
        for cable in blueprint.cables
    ]
    return Network.build(blueprint.replace(cables=cables))


def emulated_costs(costs: CostModel) -> CostModel:
    """All ranks share this machine's cores, and the shapers of the links let a burst pass after a pause.

    A burst that is known already, as `hocket calibrate` finds it, stays.
    """
    costs = costs.replace(cores=len(os.sched_getaffinity(0)))
    if costs.burst_bytes > 0:
        return costs
    return costs.replace(burst_bytes=MIN_BURST_BYTES * PAYLOAD_BYTES / FRAME_BYTES, burst_s=TIMER_SLACK_S)
