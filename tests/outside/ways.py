# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The ways to run a test: by the MPI alone, recorded, with all collectives by schedules, and in the background."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpi_parts import entry, write_plan

from hocket import algorithms
from hocket.mpi.build import MpiParts
from hocket.mpi.discover import Mpi

NATIVE = "native"
RECORDED, REROUTED, BACKGROUND = "recorded", "rerouted", "background"
STATISTICS = "statistics.json"
WAYS = (RECORDED, REROUTED, BACKGROUND)


def members_served(ranks: int) -> list[tuple[int, ...]]:
    """The world and what tests make of it: reversed, halves, every second, merged halves, all but one, each alone."""
    world = tuple(range(ranks))
    half = ranks // 2
    lower, upper = world[:half], world[half:]
    groups = [world, lower, upper, world[::2], world[1::2], upper + lower, world[1:], world[:-1]]
    groups += [group[::-1] for group in groups] + [(rank,) for rank in world]
    return list(dict.fromkeys(group for group in groups if group))


def plan_entries(ranks: int) -> list[dict[str, Any]]:
    """For each of those and each collective an algorithm, another one each time; any size and root."""
    names: dict[str, list[str]] = {}
    for algorithm in algorithms():
        names.setdefault(algorithm.collective, []).append(algorithm.name)
    return [
        entry(collective, list(members), of[(ranks + i) % len(of)], segments=1 + (ranks + i) % 5)
        for collective, of in names.items()
        for i, members in enumerate(members_served(ranks))
    ]


@dataclass
class Ways:
    """With one MPI. Plans are written into `folder`."""

    mpi: Mpi
    parts: MpiParts
    folder: Path

    def settings(self, way: str, ranks: int, run_folder: Path) -> tuple[list[Path], Mapping[str, str]]:
        """What is preloaded, and the environment. What the run is to leave comes into `run_folder`."""
        if way == NATIVE:
            return [], {}
        if way == RECORDED:
            return [self.parts.record], {"HOCKET_TRACE": str(run_folder)}
        plan = self.folder / f"plan-{ranks}.json"
        if not plan.exists():
            write_plan(self.folder, ranks, plan_entries(ranks))
        variables = {"HOCKET_PLAN": str(plan), "HOCKET_STATISTICS": str(run_folder / STATISTICS)}
        if way == REROUTED:
            # Not even those stay native that turn out to be slower.
            return [self.parts.interpose], {**variables, "HOCKET_SELF_CHECK": "off"}
        # Here schedules and native calls take turns, as users have it.
        return [self.parts.interpose], {**variables, "HOCKET_PROGRESS": "on"}
