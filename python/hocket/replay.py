# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A recorded program as a Program, with the collectives of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hocket import Schedule

if TYPE_CHECKING:
    from hocket import CostModel
    from hocket._core import Replayed
    from hocket.plan import Plan, PlanEntry
    from hocket.trace import Trace


@dataclass(frozen=True)
class NativeModel:
    """An algorithm that stands for the MPI's own for some calls, with their bytes times `scale`."""

    entry: PlanEntry
    scale: float


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
    MPI_Init to MPI_Finalize) and `.notes` on what the program leaves out.
    """
    from hocket import _core

    # The first rule that serves a call is used: an entry that names the root goes before one for any root.
    entries = [(entry, 1.0) for entry in sorted(plan.entries if plan else (), key=lambda entry: entry.root is None)]
    rules = [
        _core.ReplayRule(
            collective=entry.collective,
            members=list(members),
            bytes_min=entry.bytes_min,
            bytes_max=entry.bytes_max,
            root=entry.root,
            algorithm=entry.algorithm,
            pieces=entry.pieces,
            segment_bytes=entry.segment_bytes or 0,
            order=None if entry.order is None else list(entry.order),
            custom=None if entry.custom is None else Schedule.from_json(entry.custom),
            scale=scale,
        )
        for entry, scale in [*entries, *((model.entry, model.scale) for model in native)]
        for members in (entry.members, *entry.other_members)
    ]
    return _core.replay(trace.core, rules, cpu_time, eager_bytes)


def replay_at(costs: CostModel, trace: Trace, plan: Plan | None = None, native: Sequence[NativeModel] = ()) -> Replayed:
    """The recorded program for a simulation with these costs.

    Where ranks share cores the simulation finds how long they wait for one: what they compute is CPU time.
    """
    return replay(trace, plan, costs.cores > 0, costs.rendezvous_limit_bytes, native)
