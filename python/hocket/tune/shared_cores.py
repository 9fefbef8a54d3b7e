# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Ranks that share cores: whether one that waits gives its core away, and what the reader of a result should know."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hocket.measure.compare import SharedCores

if TYPE_CHECKING:
    from hocket import CostModel

# A rank that yields keeps its core for 1 to 70 us of waiting (measured with four MPIs, on a busy machine too); one that
# spins until the system takes its core away for a time slice, which Linux makes 0.7 ms and more.
LONG_TURN_S = 200e-6
# TCP takes 5 to 20 us of a core at either end of a small message. Ten times as much is no message: a rank has waited
# until others had had their turns.
HIGH_OVERHEAD_S = 100e-6


def note_on_shared_cores(found: Sequence[SharedCores], mpi: str, testbed: bool) -> list[str]:
    """`found`: one of each launch, empty where no ranks share cores."""
    if not found:
        return []
    first, turn_s = found[0], statistics.median(launch.turn_s for launch in found)
    where = "this machine's" if testbed else f"{first.host}'s"
    share = f"{first.ranks} ranks share {where} {first.cores} core{'s' if first.cores > 1 else ''}"
    if turn_s < LONG_TURN_S:
        return [f"{share}; those that wait give their cores to others, in native runs too"]
    advice = (
        "Set OMPI_MCA_mpi_yield_when_idle=1, or start no more ranks than cores"
        if mpi.startswith("Open MPI")
        else "It has no setting for that: start no more ranks than cores"
    )
    return [
        f"{share}, and a rank that waits in {mpi} keeps its core for {turn_s * 1e3:.1f} ms, until the system takes it "
        "away. Native calls are slow for that; hocket's schedules give cores away, which is part of the gain here. "
        f"{advice}"
    ]


def overhead_warnings(costs: CostModel) -> list[str]:
    most_s = max(costs.send_overhead_s, costs.receive_overhead_s)
    if most_s <= HIGH_OVERHEAD_S:
        return []
    return [
        f"messages were found to cost {most_s * 1e6:.0f} us of a core, where TCP takes 5 to 20: ranks wait for cores. "
        "Measure with no more ranks than cores, or when the machine is quiet"
    ]
