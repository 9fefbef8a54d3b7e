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

from hocket.errors import Error
from hocket.mpi.command_line import with_program
from hocket.tune.machine import Machine

if TYPE_CHECKING:
    from hocket.mpi.build import MpiParts

_SECONDS_PER_ENTRY = 30.0


# An entry must save this share of the program's time: what it saves in isolation is no promise for a busy network.
LEAST_SHARE = 0.005


@dataclass(frozen=True)
class Measurement:
    """One entry of the plan. Times of single calls, each the maximum over the ranks; both lists alternate."""

    native_s: list[float]
    tuned_s: list[float]
    equal: bool | None  # both left the same data; None = not compared
    reason: str = ""  # why the entry is dropped; empty = it is faster and right

    def worth(self, calls: int, program_s: float) -> Measurement:
        """The same, or dropped if so many calls save next to nothing of the program's time."""
        if self.reason:
            return self
        saved_s = calls * (statistics.median(self.native_s) - statistics.median(self.tuned_s))
        if saved_s >= LEAST_SHARE * program_s:
            return self
        return replace(
            self, reason=f"dropped: its {calls} calls would save {saved_s * 1e3:.0f} ms of {program_s:.1f} s"
        )


def measure_entries(
    command: Sequence[str],
    plan_path: Path,
    num_entries: int,
    repetitions: int,
    machine: Machine,
    parts: MpiParts,
    timeout_s: float | None,
) -> list[Measurement]:
    """Starts hocket-compare in the place of the program that `command` starts."""
    options = ["--plan", str(plan_path), "--repetitions", str(repetitions), "--seconds", str(_SECONDS_PER_ENTRY)]
    changed = with_program(command, [str(parts.compare), *options])
    run = machine.run(changed, timeout_s=timeout_s, what="the comparison of the collectives")
    try:
        entries = json.loads(run.stdout)["entries"]
        measured = [_measurement(entry["native_s"], entry["tuned_s"], entry["equal"]) for entry in entries]
    except (ValueError, KeyError, TypeError, statistics.StatisticsError) as error:
        raise Error(f"hocket-compare gave no result that can be read: {run.stdout[:200]!r}") from error
    if len(measured) != num_entries:
        raise Error(f"hocket-compare measured {len(measured)} entries of {num_entries}")
    return measured


def _measurement(native_s: list[float], tuned_s: list[float], equal: bool) -> Measurement:
    reason = ""
    native, tuned = statistics.median(native_s), statistics.median(tuned_s)
    if not equal:
        reason = "dropped: its data differ from the MPI's own"
    elif tuned >= native:
        reason = f"dropped: measured {tuned * 1e3:.1f} ms, native {native * 1e3:.1f} ms"
    return Measurement(native_s, tuned_s, equal, reason)
