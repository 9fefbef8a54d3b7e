# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The plan: which schedule serves which collective call of one application on one network.

The types, their rules and their text are the core's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from hocket._core import (
    MOST_UNEVEN,
    Evidence,
    Plan,
    PlanEntry,
    candidates_to_json,
    collective_names,
    is_rooted,
    progress_modes,
)
from hocket.errors import InvalidInput
from hocket.io.files import write_whole

__all__ = [
    "COLLECTIVES",
    "MOST_UNEVEN",
    "PROGRESS",
    "ROOTED",
    "UNEVEN",
    "Evidence",
    "Plan",
    "PlanEntry",
    "write_candidates",
    "write_plan",
]

COLLECTIVES = collective_names()
ROOTED = tuple(name for name in COLLECTIVES if is_rooted(name))
# Collectives of blocks that differ, and whose entries serve them by the mean block; none where a block is larger than
# MOST_UNEVEN times that. As mpi/interpose has them.
UNEVEN = {"allgatherv": "allgather", "reduce_scatter": "reduce_scatter_block"}
PROGRESS = progress_modes()


def write_plan(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Complete or not at all."""
    _write(plan.to_json(), path)


def write_candidates(path: str | os.PathLike[str], ranks: int, network: str, entries: Iterable[PlanEntry]) -> None:
    """Entries for hocket-compare, which measures each alone: unlike those of a plan they may serve the same calls."""
    _write(candidates_to_json(ranks, network, entries), path)


def _write(text: str, path: str | os.PathLike[str]) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise InvalidInput(f"{path}: cannot write the plan: {error.strerror}") from None
