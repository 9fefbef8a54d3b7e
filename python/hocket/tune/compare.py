# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Measures the entries of a plan one by one with the program hocket-compare: native and new in turns, data compared."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.advise import Choice, Verdict
from hocket.errors import Error
from hocket.mpi.command_line import with_program
from hocket.plan import Evidence, PlanEntry
from hocket.report.text import significant
from hocket.tune.evidence import Launch, Ratio, ratio_of
from hocket.tune.machine import Machine
from hocket.tune.shared_cores import SharedCores

if TYPE_CHECKING:
    from hocket.mpi.build import MpiParts

SECONDS_PER_ENTRY = 15.0
# The interval of a single launch tells nothing of the next one.
LEAST_LAUNCHES = 2
# An entry must save this share of the program's time: what it saves in isolation is no promise for a busy network.
LEAST_SHARE = 0.005


@dataclass(frozen=True)
class Measurement:
    """One entry of the plan, in several launches."""

    launches: tuple[Launch, ...] = ()
    equal: bool | None = None  # both left the same data in every launch; None = not compared
    ratio: Ratio | None = None
    reason: str = ""  # why the entry is dropped; empty = it is faster and right

    @property
    def native_s(self) -> list[float]:
        return [time for launch in self.launches for time in launch.native_s]

    @property
    def tuned_s(self) -> list[float]:
        return [time for launch in self.launches for time in launch.tuned_s]

    @classmethod
    def judged(cls, launches: Sequence[Launch], equal: bool) -> Measurement:
        """Kept only if its data are right and it is shown to be faster."""
        ratio = ratio_of(launches)
        reason = ""
        if not equal:
            reason = "dropped: its data differ from the MPI's own"
        elif not ratio.is_faster:
            reason = f"not shown to be faster: {ratio}"
        return cls(tuple(launches), equal, ratio, reason)

    def worth(self, calls: int, program_s: float) -> Measurement:
        """The same, or dropped if so many calls save next to nothing of the program's time."""
        if self.reason:
            return self
        saved_s = calls * (statistics.median(self.native_s) - statistics.median(self.tuned_s))
        if saved_s >= LEAST_SHARE * program_s:
            return self
        saved = f"{significant(saved_s * 1e3, 2)} ms of {program_s:.1f} s"
        return replace(self, reason=f"too little to gain: its {calls} calls would save {saved}")

    @property
    def is_faster(self) -> bool:
        """Shown so, whatever it is worth."""
        return self.equal is True and self.ratio is not None and self.ratio.is_faster

    def beside_others(self) -> Measurement:
        """The same, kept where it saves little but the plan is used for other calls: it serves sizes near it too."""
        return replace(self, reason="") if self.is_faster and len(self.launches) >= LEAST_LAUNCHES else self

    def verdict(self, choice: Choice, mpi: str) -> Verdict:
        """What it says about the calls that were measured, and for the sizes near them."""
        if not self.native_s or not self.tuned_s:
            return Verdict(choice, None, is_open=self.equal is not False)
        times = statistics.median(self.native_s), statistics.median(self.tuned_s)
        entry = None if self.reason else self.prove(choice.entry(), mpi)
        return Verdict(choice, entry, *times, is_open=self.is_faster and entry is None)

    def prove(self, entry: PlanEntry, mpi: str) -> PlanEntry:
        """The entry with what was measured."""
        assert self.ratio is not None
        evidence = Evidence(
            mpi=mpi,
            launches=len(self.launches),
            repetitions=min(len(launch.native_s) for launch in self.launches),
            ratio=self.ratio.value,
            ratio_interval=(self.ratio.low, self.ratio.high),
        )
        native_s, tuned_s = statistics.median(self.native_s), statistics.median(self.tuned_s)
        return entry.replace(native_s=native_s, tuned_s=tuned_s, evidence=evidence)


# An entry's times in one launch, and whether both kinds of call left the same data.
Measured = tuple[Launch, bool]


def measure_once(
    command: Sequence[str],
    plan_path: Path,
    num_entries: int,
    repetitions: int,
    machine: Machine,
    parts: MpiParts,
    timeout_s: float | None,
    seconds_per_entry: float = SECONDS_PER_ENTRY,
    only_schedules: bool = False,
) -> list[Measured]:
    """One launch of hocket-compare in the place of the program that `command` starts: times, and if data agree.

    `only_schedules`: not the MPI's own collectives; `native_s` is empty, and no data are compared.
    """
    options = ["--repetitions", str(repetitions), "--seconds", str(seconds_per_entry)]
    measured = _launch(command, plan_path, options, num_entries, machine, parts, timeout_s, only_schedules).entries
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
    machine: Machine,
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
    return _launch(command, plan_path, options, num_entries, machine, parts, timeout_s, only_schedules)


def _launch(
    command: Sequence[str],
    plan_path: Path,
    options: Sequence[str],
    num_entries: int,
    machine: Machine,
    parts: MpiParts,
    timeout_s: float | None,
    only_schedules: bool = False,
) -> Comparison:
    only = ["--only", "schedules"] if only_schedules else []
    changed = with_program(command, [str(parts.compare), "--plan", str(plan_path), *options, *only])
    run = machine.run(changed, timeout_s=timeout_s, what="the comparison of the collectives")
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
