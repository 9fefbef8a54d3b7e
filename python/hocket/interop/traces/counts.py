# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a trace or a program holds, counted: calls and bytes by function, communicators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hocket import Program, Trace


@dataclass(frozen=True)
class Count:
    name: str  # MPI function, or kind of operation of a Program
    calls: int
    bytes: int  # as the calls give them: of a collective its message or the block of one rank, of each rank


@dataclass(frozen=True)
class CommunicatorCount:
    id: int
    members: tuple[int, ...]
    made_by: str
    calls: int  # on it, of all ranks


def count_calls(trace: Trace) -> list[Count]:
    """Sorted by name."""
    calls = np.zeros(len(trace.functions), np.int64)
    sizes = np.zeros(len(trace.functions), np.int64)
    for rank in range(trace.ranks):
        rows = trace.calls(rank)
        np.add.at(calls, rows["function"], rows["calls"])
        np.add.at(sizes, rows["function"], np.maximum(rows["bytes"], 0))
    return sorted(
        (Count(name, int(calls[i]), int(sizes[i])) for i, name in enumerate(trace.functions) if calls[i]),
        key=lambda one: one.name,
    )


def count_communicators(trace: Trace) -> list[CommunicatorCount]:
    """Those that some call acts on or makes, and MPI_COMM_WORLD."""
    calls = np.zeros(len(trace.communicators), np.int64)
    made = np.zeros(len(trace.communicators), bool)
    for rank in range(trace.ranks):
        rows = trace.calls(rank)
        on = rows["communicator"] >= 0
        np.add.at(calls, rows["communicator"][on], rows["calls"][on])
        made[rows["new_communicator"][rows["new_communicator"] >= 0]] = True
    return [
        CommunicatorCount(one.id, one.members, one.made_by, int(calls[one.id]))
        for one in trace.communicators
        if one.id == 0 or calls[one.id] or made[one.id]
    ]


def count_ops(program: Program) -> list[Count]:
    """Sorted by name; a computation has no bytes."""
    return sorted(
        (Count(kind, calls, size) for kind, calls, size in program.count_ops() if calls), key=lambda one: one.name
    )
