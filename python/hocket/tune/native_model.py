# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What stands for the MPI's own collectives where a plan's saving is predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hocket.plan import Plan, PlanEntry
from hocket.search.predict import simulate_call
from hocket.traces.replay import NativeModel

if TYPE_CHECKING:
    from hocket import CostModel, Network

# The textbook algorithm stands for the MPI's own, which may be another or send its messages otherwise. Its bytes are
# scaled until it is predicted to take what native calls took, to this share.
CLOSE = 0.01
MOST_STEPS = 8  # bytes and time are nearly proportional, so that few are needed


def native_models(plan: Plan, network: Network, costs: CostModel) -> list[NativeModel]:
    """For each entry whose native calls were measured alone; others stay with the textbook algorithm."""
    found = []
    for entry in plan.entries:
        textbook = textbook_entry(entry)
        scale = _scale(textbook, entry.native_s, network, costs) if entry.native_s else None
        if scale is not None:
            found.append(NativeModel(textbook, scale))
    return found


def textbook_entry(entry: PlanEntry) -> PlanEntry:
    """The same calls by the algorithm that MPIs are assumed to use."""
    from hocket._core import textbook_algorithm

    name = textbook_algorithm(entry.collective, len(entry.members), entry.bytes_max)
    return entry.replace(algorithm=name, segments=1, segment_bytes=None, order=None, custom=None, starts=())


def _scale(textbook: PlanEntry, native_s: float, network: Network, costs: CostModel) -> float | None:
    schedule = textbook.schedule(textbook.root or 0)

    def predicted_s(scale: float) -> float:
        size_bytes = max(1, round(scale * textbook.bytes_max))
        return simulate_call(schedule, textbook.members, size_bytes, network, costs)

    empty_s, time_s, scale = predicted_s(0), predicted_s(1), 1.0
    for _ in range(MOST_STEPS):
        if abs(time_s / native_s - 1) < CLOSE:
            return scale
        if min(time_s, native_s) <= empty_s:
            return None  # not the bytes decide
        scale *= (native_s - empty_s) / (time_s - empty_s)
        time_s = predicted_s(scale)
    return scale
