# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Measures the entries of a plan one by one with the program hocket-compare: native and new in turns, data compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.errors import Error
from hocket.mpi.command_line import with_program

if TYPE_CHECKING:
    from hocket.measure.runner import Runner
    from hocket.mpi.build import MpiParts

SECONDS_PER_ENTRY = 15.0


@dataclass(frozen=True)
class Launch:
    """Times of single calls in one launch of hocket-compare, each until the last rank was done; i-th beside i-th."""

    native_s: tuple[float, ...]
    tuned_s: tuple[float, ...]


@dataclass(frozen=True)
class SharedCores:
    """Of the machine with the most ranks for each core, as hocket-compare found it in one launch."""

    host: str
    ranks: int
    cores: int
    turn_s: float  # CPU time for which a rank that waits in the MPI keeps its core


# An entry's times in one launch, and whether both kinds of call left the same data.
Measured = tuple[Launch, bool]


def measure_once(
    command: Sequence[str],
    plan_path: Path,
    num_entries: int,
    repetitions: int,
    runner: Runner,
    parts: MpiParts,
    timeout_s: float | None,
    seconds_per_entry: float = SECONDS_PER_ENTRY,
    only_schedules: bool = False,
) -> list[Measured]:
    """One launch of hocket-compare in the place of the program that `command` starts: times, and if data agree.

    `only_schedules`: not the MPI's own collectives; `native_s` is empty, and no data are compared.
    """
    options = ["--repetitions", str(repetitions), "--seconds", str(seconds_per_entry)]
    measured = _launch(command, plan_path, options, num_entries, runner, parts, timeout_s, only_schedules).entries
    found = [one for one in measured if one is not None]
    if len(found) != len(measured):
        raise Error("hocket-compare left out measurements")
    return found


@dataclass(frozen=True)
class Comparison:
    """What one launch of hocket-compare found, and how long it took."""

    entries: list[Measured | None]  # None: its turn did not come in time
    start_s: float  # of `wall_s` before the first entry and after the last
    wall_s: float
    shared_cores: SharedCores | None  # None: each rank has a core


def measure_within(
    command: Sequence[str],
    plan_path: Path,
    num_entries: int,
    repetitions: int,
    runner: Runner,
    parts: MpiParts,
    timeout_s: float | None,
    within_s: float,
    seconds_per_entry: float = SECONDS_PER_ENTRY,
    least: int = 1,
    only_schedules: bool = False,
) -> Comparison:
    """As `measure_once`, where all entries together may take `within_s`, each its share of what is left of it.

    `least`: measurements of an entry, however long they take. So the last entry that begins in time may end late.
    """
    options = ["--repetitions", str(repetitions), "--seconds", str(seconds_per_entry)]
    options += ["--within", str(within_s), "--least", str(least)]
    return _launch(command, plan_path, options, num_entries, runner, parts, timeout_s, only_schedules)


def _launch(
    command: Sequence[str],
    plan_path: Path,
    options: Sequence[str],
    num_entries: int,
    runner: Runner,
    parts: MpiParts,
    timeout_s: float | None,
    only_schedules: bool = False,
) -> Comparison:
    only = ["--only", "schedules"] if only_schedules else []
    changed = with_program(command, [str(parts.compare), "--plan", str(plan_path), *options, *only])
    run = runner.run(changed, timeout_s=timeout_s, what="the comparison of the collectives")
    measured: list[Measured | None] = []
    try:
        document = json.loads(run.stdout)
        for entry in document["entries"]:
            launch = Launch(tuple(map(float, entry["native_s"])), tuple(map(float, entry["tuned_s"])))
            if len(launch.native_s) != (0 if only_schedules else len(launch.tuned_s)):
                raise Error(f"hocket-compare left out measurements: {run.stdout[:200]!r}")
            measured.append((launch, entry["equal"] is True or only_schedules) if launch.tuned_s else None)
        start_s = max(0.0, run.wall_s - float(document["seconds"]))
        shared = document["shared_cores"]
        shared_cores = None if shared is None else SharedCores(**shared)
    except (ValueError, KeyError, TypeError) as error:
        raise Error(f"hocket-compare gave no result that can be read: {run.stdout[:200]!r}") from error
    if len(measured) != num_entries:
        raise Error(f"hocket-compare measured {len(measured)} entries of {num_entries}")
    return Comparison(measured, start_s, run.wall_s, shared_cores)
