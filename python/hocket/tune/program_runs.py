# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The runs of the program that is tuned: recorded, native, and with the plan."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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


# What a run is called in messages, and the run of that number.
Way = tuple[str, Callable[[int], "Run"]]


@dataclass(frozen=True)
class ProgramRuns:
    command: list[str]
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

    def record_with_plan(self, plan: Path) -> tuple[Trace | None, str]:
        """The calls of a run with the plan, as the program makes them, or why there is no such trace."""
        from hocket.traces.trace import Trace

        if self.progress != "off":
            return None, ""  # calls of the thread in the background would be among them
        self.reporter.message("recording the program with the plan")
        folder = self.scratch / "trace-with-plan"
        folder.mkdir()
        libraries, environment = self._with(plan)
        libraries, environment = [self.parts.record, *libraries], {**environment, **trace_environment(folder)}
        try:
            self._run("recorded-with-plan", "the program with the plan", libraries, environment)
            return Trace.open(folder), ""
        except Error as error:
            return None, f"the run with the plan could not be recorded: {str(error).splitlines()[0]}"

    def native(self, i: int = 0) -> Run:
        return self._run(f"native-{i}", "the program")

    def both(self, plan: Path, repetitions: int, limit: TimeLimit) -> tuple[list[Run], list[Run]]:
        """Native and tuned runs in turns.

        So many of each, or fewer, at least LEAST_RUNS, where the limit leaves no time for them and for a recorded run.
        """

        def tuned(i: int) -> Run:
            return self._run(f"tuned-{i}", "the program with the plan", *self._with(plan))

        return self._in_turns(("native", self.native), ("tuned", tuned), repetitions, limit, beside_s=None)

    def with_each(self, plans: Mapping[str, Path], repetitions: int, limit: TimeLimit) -> tuple[list[Run], list[Run]]:
        """Runs with either of two plans in turns; the keys say what they are.

        So many of each, or fewer, at least LEAST_RUNS, where the limit leaves no time for them and the least of `both`.
        """

        def run(name: str, plan: Path, i: int) -> Run:
            return self._run(f"{name.replace(' ', '-')}-{i}", f"the program in a run {name}", *self._with(plan))

        one, other = ((name, partial(run, name, plan)) for name, plan in plans.items())
        return self._in_turns(one, other, repetitions, limit, beside_s=limit.least_runs_s)

    def _in_turns(
        self, one: Way, other: Way, repetitions: int, limit: TimeLimit, beside_s: float | None
    ) -> tuple[list[Run], list[Run]]:
        """So that a change of the machine's load meets both. `beside_s`: kept for something else; None: another run."""
        ways = one, other
        made: tuple[list[Run], list[Run]] = ([], [])
        runs = repetitions
        while (i := len(made[1])) < runs:
            for (_, run), those in zip(ways, made, strict=True):
                those.append(run(i))
            times = ", ".join(f"{name} {those[-1].wall_s:.2f} s" for (name, _), those in zip(ways, made, strict=True))
            one_s, other_s = (statistics.fmean(run.wall_s for run in those) for those in made)
            runs = limit.runs(repetitions, i + 1, one_s + other_s, other_s if beside_s is None else beside_s)
            left_s = (runs - i - 1) * (one_s + other_s)
            left = f"; about {left_s:.0f} s more" if left_s > 0 else ""
            self.reporter.message(f"run {i + 1} of {runs}: {times}{left}")
        return made

    def outputs(self, count: int) -> tuple[list[Path], list[Path]]:
        """What native and tuned runs have printed."""
        native, tuned = ([self.scratch / f"{kind}-{i}" for i in range(count)] for kind in ("native", "tuned"))
        return native, tuned

    def _with(self, plan: Path) -> tuple[list[Path], dict[str, str]]:
        """Libraries and environment."""
        progress = {} if self.progress == "off" else {"HOCKET_PROGRESS": self.progress}
        return [self.parts.interpose], {"HOCKET_PLAN": str(plan), **progress}

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
