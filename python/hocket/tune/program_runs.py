# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The runs of the program that is tuned: recorded, native, and with the plan."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.advise.calls import check_starts_by_init
from hocket.errors import Error
from hocket.mpi.build import MpiParts
from hocket.reporter import Reporter
from hocket.traces.recording import nothing_recorded, trace_environment

if TYPE_CHECKING:
    from hocket.measure.runner import Run, Runner
    from hocket.traces.trace import Trace
    from hocket.tune.budget import TimeLimit


@dataclass(frozen=True)
class ProgramRuns:
    command: list[str]
    plan: Path
    scratch: Path  # what the runs print is in files there: "native-0", "tuned-0", ...
    standard_input: Path | None
    timeout_s: float | None
    progress: str  # in the background, in runs with the plan
    runner: Runner
    parts: MpiParts
    reporter: Reporter

    def record(self, folder: Path) -> tuple[Trace, Run]:
        """A native run, whose trace `folder` becomes."""
        from hocket.traces.trace import Trace

        self.reporter.message("recording the program; more runs of it follow, all of them in this folder")
        folder.mkdir()
        run = self._run("recorded", "the program", [self.parts.record], trace_environment(folder))
        self.reporter.message(f"  {run.wall_s:.2f} s")
        if not (folder / "meta.json").is_file():
            raise nothing_recorded(self.command, self.runner.mpi, folder)
        trace = Trace.open(folder)
        check_starts_by_init(trace)
        return trace, run

    def record_with_plan(self) -> tuple[Trace | None, str]:
        """The calls of a run with the plan, as the program makes them, or why there is no such trace."""
        from hocket.traces.trace import Trace

        if self.progress != "off":
            return None, ""  # calls of the thread in the background would be among them
        self.reporter.message("recording the program with the plan")
        folder = self.scratch / "trace-with-plan"
        folder.mkdir()
        libraries, environment = self._with_plan
        libraries, environment = [self.parts.record, *libraries], {**environment, **trace_environment(folder)}
        try:
            self._run("recorded-with-plan", "the program with the plan", libraries, environment)
            return Trace.open(folder), ""
        except Error as error:
            return None, f"the run with the plan could not be recorded: {str(error).splitlines()[0]}"

    def native(self, i: int = 0) -> Run:
        return self._run(f"native-{i}", "the program")

    def both(self, repetitions: int, limit: TimeLimit) -> tuple[list[Run], list[Run]]:
        """Native and tuned runs in turns, so that a change of the machine's load meets both.

        So many of each, or fewer, at least LEAST_RUNS, where the limit leaves no time for them and for a recorded run.
        """
        native: list[Run] = []
        tuned: list[Run] = []
        runs = repetitions
        while (i := len(tuned)) < runs:
            native.append(self.native(i))
            tuned.append(self._run(f"tuned-{i}", "the program with the plan", *self._with_plan))
            times = f"native {native[-1].wall_s:.2f} s, tuned {tuned[-1].wall_s:.2f} s"
            tuned_s = statistics.fmean(run.wall_s for run in tuned)
            pair_s = statistics.fmean(run.wall_s for run in native) + tuned_s
            runs = limit.runs(repetitions, i + 1, pair_s, tuned_s)
            left_s = (runs - i - 1) * pair_s
            left = f"; about {left_s:.0f} s more" if left_s > 0 else ""
            self.reporter.message(f"run {i + 1} of {runs}: {times}{left}")
        return native, tuned

    def outputs(self, count: int) -> tuple[list[Path], list[Path]]:
        """What native and tuned runs have printed."""
        native, tuned = ([self.scratch / f"{kind}-{i}" for i in range(count)] for kind in ("native", "tuned"))
        return native, tuned

    @property
    def _with_plan(self) -> tuple[list[Path], dict[str, str]]:
        """Libraries and environment."""
        progress = {} if self.progress == "off" else {"HOCKET_PROGRESS": self.progress}
        return [self.parts.interpose], {"HOCKET_PLAN": str(self.plan), **progress}

    def _run(
        self, name: str, what: str, libraries: Sequence[Path] = (), environment: Mapping[str, str] | None = None
    ) -> Run:
        """What it prints is then in the file of that name."""
        return self.runner.run(
            self.command,
            libraries,
            environment,
            self.timeout_s,
            what,
            standard_input=self.standard_input,
            output=self.scratch / name,
        )
