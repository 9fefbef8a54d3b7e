# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What one simulation was, as its page, its trace and its arrays show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hocket.networks.link_groups import Capacities
    from hocket.report.circuits_over_time import CircuitsOverTime
    from hocket.report.timeline import TimelineData


@dataclass(frozen=True)
class LinkTime:
    """Bytes that passed links over time, in equal bins. A row is a capacity, that is a link or both directions of a
    half-duplex cable, or several capacities of a group."""

    bin_s: float
    bytes: NDArray[np.float64]  #: [row, bin]
    row_of_capacity: NDArray[np.int32]
    capacities_in_row: NDArray[np.int64]
    group_of_row: NDArray[np.int8]
    group_names: list[str]
    bandwidth_of_row: NDArray[np.float64]  #: of its capacities together

    @property
    def one_a_row(self) -> bool:
        return len(self.capacities_in_row) == len(self.row_of_capacity)


@dataclass(frozen=True)
class RecordedSimulation:
    title: str  #: "random-ring on fat-tree:8x8x16"
    values: dict[str, Any]  #: what `--json` prints
    completed: bool
    makespan_s: float  #: the time reached, if it was stopped
    finish_s: NDArray[np.float64]  #: of the ranks that take part; NaN = not finished
    link_bytes: NDArray[np.float64]
    capacities: Capacities
    capacity_name: Callable[[int], str]
    link_time: LinkTime
    timeline: TimelineData  #: the operations of some ranks
    num_left_out: int  #: operations of these ranks that have no bar
    circuits: CircuitsOverTime | None = None  #: None = the network has none

    @property
    def carried_bytes(self) -> NDArray[np.float64]:
        """Of each capacity."""
        return self.capacities.sum_of(self.link_bytes)
