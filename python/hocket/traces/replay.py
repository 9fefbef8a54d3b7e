# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A recorded program as a Program, with the collectives of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hocket._core import NativeModel

if TYPE_CHECKING:
    from hocket import CostModel
    from hocket._core import Replayed
    from hocket.plan import Plan
    from hocket.traces.trace import Trace

__all__ = ["NativeModel", "replay", "replay_at"]


def replay(
    trace: Trace,
    plan: Plan | None = None,
    cpu_time: bool = False,
    eager_bytes: int = 65536,
    native: Sequence[NativeModel] = (),
) -> Replayed:
    """The recorded program.

    Collectives that the plan does not serve run by the first of `native` that is for them, or by the algorithm that
    MPIs usually choose.

    Between MPI calls the ranks compute for the recorded wall time, or CPU time with `cpu_time`. A blocking send of
    fewer than `eager_bytes` returns before it is received. The result has `.program`, `.recorded_span_s` (from
    MPI_Init to MPI_Finalize) and `.left_out`, the calls that the program lacks.
    """
    from hocket import _core

    return _core.replay(trace.core, plan, native, cpu_time, eager_bytes)


def replay_at(costs: CostModel, trace: Trace, plan: Plan | None = None, native: Sequence[NativeModel] = ()) -> Replayed:
    """The recorded program for a simulation with these costs.

    Where ranks share cores the simulation finds how long they wait for one: what they compute is CPU time.
    """
    return replay(trace, plan, costs.cores > 0, costs.rendezvous_limit_bytes, native)
