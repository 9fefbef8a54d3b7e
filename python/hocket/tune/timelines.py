# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Simulated timelines of the old and the new schedule, for the report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hocket.advise import Choice
from hocket.report.convert import timeline_of
from hocket.report.result import TimelineFiles
from hocket.report.timeline import write_timeline
from hocket.search import Candidate

if TYPE_CHECKING:
    from hocket import CostModel, Network

FOLDER = "timelines"


def write_timelines(choice: Choice, name: str, network: Network, costs: CostModel, folder: Path) -> TimelineFiles:
    """Simulates one call by the assumed native and the chosen algorithm; paths are relative to `folder`."""
    paths = []
    for role, candidate in (("native", choice.native_model), ("tuned", choice.best)):
        path = f"{FOLDER}/{name}-{role}.json"
        _write(choice, candidate, network, costs, folder / path)
        paths.append(path)
    return TimelineFiles(native_model=paths[0], tuned=paths[1])


def _write(choice: Choice, candidate: Candidate, network: Network, costs: CostModel, path: Path) -> None:
    from hocket import lower, simulate
    from hocket._core import place

    group = choice.group
    schedule = candidate.schedule(group.roots[0])
    program = place(lower(schedule, group.bytes_max), list(group.members), network.num_ranks)
    timeline = simulate(program, network, costs, record_links=True)
    write_timeline(timeline_of(program, timeline, network, candidate.label), path)
