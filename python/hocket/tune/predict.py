# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Predicts the wall time of a program with a plan from one recorded run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hocket.advise import MessageCosts
from hocket.plan import Plan

if TYPE_CHECKING:
    from hocket import Network
    from hocket.trace import Trace


def predict_program(trace: Trace, recorded_wall_s: float, plan: Plan, network: Network, costs: MessageCosts) -> float:
    """The replayed time from MPI_Init to MPI_Finalize, and what the recorded run spent outside them."""
    from hocket.replay import replay

    replayed = replay(trace, plan)
    outside_s = max(0.0, recorded_wall_s - replayed.recorded_span_s)
    return outside_s + costs.simulate(replayed.program, network).makespan_s
