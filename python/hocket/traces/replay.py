# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A recorded program as a Program, with the collectives of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hocket._core import NativeModel

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket._core import Replayed, SimulatedTrace
    from hocket.plan import Plan
    from hocket.traces.trace import Trace, TraceFiles

__all__ = ["NativeModel", "replay", "replay_at", "simulate_trace"]

# How long Linux lets a thread run before others on its core have a turn, at least: base_slice_ns of its scheduler
# (kernel/sched/fair.c), on one core.
TIME_SLICE_S = 0.7e-3
MOST_SLICES = 4_000_000  # of all ranks together: of a long program they are longer


def replay(
    trace: Trace,
    plan: Plan | None = None,
    cpu_time: bool = False,
    eager_bytes: int = 65536,
    native: Sequence[NativeModel] = (),
    *,
    time_slice_s: float = 0.0,
    call_ops: bool = False,
) -> Replayed:
    """The recorded program.

    Collectives that the plan does not serve run by the first of `native` that is for them, or by the algorithm that
    MPIs usually choose.

    Between MPI calls the ranks compute for the recorded wall time, or CPU time with `cpu_time`. A blocking send of
    fewer than `eager_bytes` returns before it is received. Computations longer than `time_slice_s`, unless that is 0,
    are divided: between the parts other ranks have their turns on the core. `call_ops` keeps which operations belong to
    which call, as `hocket.traces.analysis` needs it. The result has `.program`, `.recorded_span_s` (from
    MPI_Init to MPI_Finalize) and `.left_out`, the calls that the program lacks.
    """
    from hocket import _core

    return _core.replay(trace.core, plan, native, cpu_time, eager_bytes, time_slice_s, call_ops)


def simulate_trace(
    files: TraceFiles, network: Network, costs: CostModel, plan: Plan | None, what_if: Any, **options: Any
) -> SimulatedTrace:
    """The time of a recorded program on a network: what `simulate` finds for `replay_at`, changed by `what_if`.

    Its memory does not grow with the number of calls, and the result has no times of operations. The ranks must not
    share cores: how they take turns there needs the whole trace. `what_if`: as `WhatIf.core` of
    `hocket.simulation.what_if`. `options`: `reference` and `on_progress` of `simulate`.
    """
    return files.core.simulate(network, costs, plan, [], False, costs.rendezvous_limit_bytes, what_if, **options)


def replay_at(
    costs: CostModel,
    trace: Trace,
    plan: Plan | None = None,
    native: Sequence[NativeModel] = (),
    *,
    call_ops: bool = False,
) -> Replayed:
    """The recorded program for a simulation with these costs.

    Where ranks share cores the simulation finds how long they wait for one: what they compute is CPU time, and they
    take turns as the system's scheduler has them.
    """
    shares_cores = costs.cores > 0
    slice_s = _time_slice_s(trace) if shares_cores else 0.0
    return replay(
        trace, plan, shares_cores, costs.rendezvous_limit_bytes, native, time_slice_s=slice_s, call_ops=call_ops
    )


def _time_slice_s(trace: Trace) -> float:
    elapsed_s = max((trace.summary(rank).elapsed_s for rank in range(trace.ranks)), default=0.0)
    return max(TIME_SLICE_S, elapsed_s * trace.ranks / MOST_SLICES)
