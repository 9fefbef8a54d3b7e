# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What launches of hocket-compare say of an entry of a plan: kept, or why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean, median

from hocket.advise import Choice, Verdict
from hocket.measure.compare import Launch
from hocket.plan import Evidence, PlanEntry
from hocket.report.text import significant
from hocket.tune.evidence import Ratio, ratio_of, slower_on_average

# The interval of a single launch says nothing about the next one.
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
    by_runs: bool = False  # kept because whole runs of the program are faster with it

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
        elif (mean := slower_on_average(launches)) is not None:
            reason = f"slower on average: {mean:.2f} times; its median is {ratio}, but single calls take much longer"
        return cls(tuple(launches), equal, ratio, reason)

    def worth(self, calls: int, program_s: float) -> Measurement:
        """The same, or dropped if so many calls save next to nothing of the program's time."""
        if self.reason:
            return self
        # The program takes the sum of its calls; neither a few long native ones nor the median alone prove a gain.
        saved_s = calls * min(middle(self.native_s) - middle(self.tuned_s) for middle in (median, fmean))
        if saved_s >= LEAST_SHARE * program_s:
            return self
        saved = f"{significant(saved_s * 1e3, 2)} ms of {program_s:.1f} s" if saved_s > 0 else "nothing"
        return replace(self, reason=f"too little to gain: its {calls} calls would save {saved}")

    @cached_property  # for it draws resamples
    def is_faster(self) -> bool:
        """Shown so, whatever it is worth."""
        return (
            self.equal is True
            and self.ratio is not None
            and self.ratio.is_faster
            and slower_on_average(self.launches) is None
        )

    def beside_others(self) -> Measurement:
        """The same, kept where it saves little but the plan is used for other calls: it serves sizes near it too."""
        return replace(self, reason="") if self.is_faster and len(self.launches) >= LEAST_LAUNCHES else self

    def verdict(self, choice: Choice, mpi: str) -> Verdict:
        """What it says about the calls that were measured, and for the sizes near them."""
        if not self.native_s or not self.tuned_s:
            return Verdict(choice, None, is_open=self.equal is not False)
        times = median(self.native_s), median(self.tuned_s)
        entry = None if self.reason else choice.entry() if self.by_runs else self.prove(choice.entry(), mpi)
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
        native_s, tuned_s = median(self.native_s), median(self.tuned_s)
        return entry.replace(native_s=native_s, tuned_s=tuned_s, evidence=evidence)
