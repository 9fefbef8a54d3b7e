# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a simulation must know of a testbed that a real cluster does not have."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from hocket.testbed.shaping import FRAME_BYTES, MIN_BURST_BYTES, NO_LATENCY_NOTE, PAYLOAD_BYTES, TIMER_SLACK_S

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.testbed.testbed import Testbed


def emulated(network: Network, testbed: Testbed) -> Network:
    """The network as the testbed emulates it: without latencies where the kernel cannot delay packets."""
    from hocket import Network

    if NO_LATENCY_NOTE not in testbed.notes:
        return network
    return Network.from_text(re.sub(r"(?m)^latency(_back)? = .*\n", "", network.to_toml()), network.name)


def emulated_costs(costs: CostModel) -> CostModel:
    """All ranks share this machine's cores, and the shapers of the links let a burst pass after a pause.

    A burst that is known already, as `hocket calibrate` finds it, stays.
    """
    costs = costs.replace(cores=len(os.sched_getaffinity(0)))
    if costs.burst_bytes > 0:
        return costs
    return costs.replace(burst_bytes=MIN_BURST_BYTES * PAYLOAD_BYTES / FRAME_BYTES, burst_s=TIMER_SLACK_S)
