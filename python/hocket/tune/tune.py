# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The main job: record a program, choose schedules, measure them, and run the program with and without the plan."""

from __future__ import annotations

import dataclasses
import datetime
import os
import platform
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hocket import CostModel, __version__
from hocket.advise import Advice, Choice, advise, check_ranks, cover, group_calls, unserved_calls
from hocket.errors import Error, InvalidInput
from hocket.measure.open_runner import open_runner
from hocket.measure.runner import Run, Runner
from hocket.mpi.build import MpiParts, build_mpi_parts
from hocket.mpi.coarrays import coarray_libraries
from hocket.mpi.command_line import num_ranks, require_one_program
from hocket.mpi.of_command import mpi_of_command
from hocket.plan import Plan, write_plan
from hocket.report.result import NO_TIME, LinkBytes, ProgramResult, Result, TimelineFiles, write_result
from hocket.reporter import SILENT, Reporter
from hocket.traces.small_sends import costs_in_program
from hocket.tune.budget import MOST_RUNS, Budget, TimeLimit, unlimited, usual_s
from hocket.tune.collective_results import collective_results
from hocket.tune.costs import UsedCosts
from hocket.tune.evidence import LEAST_RUNS
from hocket.tune.find_costs import find_costs
from hocket.tune.folder import Unfinished, result_folder
from hocket.tune.launcher import Launcher
from hocket.tune.measured_advice import in_plan, measure_advice, verdicts
from hocket.tune.measurement import Measurement
from hocket.tune.notes import STARTED_CALLS, beaten_limits, nothing_changed, recording_warnings, share_of_progress
from hocket.tune.output import compare_output
from hocket.tune.predict import predict_program, starts_calls
from hocket.tune.program_analysis import WholeProgram, analyse_program
from hocket.tune.program_input import keep_input
from hocket.tune.program_runs import ProgramRuns
from hocket.tune.shared_cores import note_on_shared_cores
from hocket.tune.time_split import served_by, time_split
from hocket.tune.timelines import write_timelines
from hocket.tune.whole_runs import no_verdict, refused, verdict, with_undecided
from hocket.tune.withdraw import is_slower, withdraw

if TYPE_CHECKING:
    from hocket import Network
    from hocket.traces.trace import Trace


PLAN_FILE = "plan.json"
NETWORK_FILE = "network.toml"
TRACE_FOLDER = "trace"


@dataclass(frozen=True)
class TuneOptions:
    repetitions: int | None = None  # runs of the program with the plan, and without; None = as of TimeLimit
    launches: int = 3  # of the program that measures the collectives, at most
    measure_s: float | None = None  # for the measuring of collectives; None = as of TimeLimit, or usual_s
    compare_repetitions: int = 5  # of each collective, with and without, in each launch
    testbed: bool = False  # emulate the network on this machine
    timeout_s: float | None = None  # of one run
    costs: CostModel = field(default_factory=CostModel.usual)
    costs_source: str = "usual"  # of COSTS_SOURCES: where `costs` come from
    fit: bool = True  # of `costs` only rendezvous, bursts and cores are used: the rest is measured here, with this MPI
    keep_trace: bool = True
    progress: str = "off"  # in the background, in runs with the plan: one of plan.PROGRESS
    notes: tuple[str, ...] = ()  # for the reader of the result
    shown_command: tuple[str, ...] = ()  # how to do this again, where the command itself cannot be repeated
    standard_input: int | None = None  # file descriptor; each run of the program gets what it holds. None: nothing


def tune(
    command: Sequence[str],
    network: Network,
    target: Path,
    options: TuneOptions,
    reporter: Reporter = SILENT,
) -> Result:
    """Tunes the MPI program that `command` starts; writes the folder `target`."""
    mpi = mpi_of_command(command)
    require_one_program(command)
    ranks = num_ranks(command)
    if ranks is not None:
        check_ranks(network, ranks)
    with ExitStack() as stack:
        folder = stack.enter_context(result_folder(target))
        # In the result's folder, since there is room for large files, and nothing is left behind there.
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="runs-", dir=folder)))
        program_input = None
        if options.standard_input is not None:
            program_input = keep_input(options.standard_input, scratch / "input", reporter.message)
        parts = build_mpi_parts(mpi, report=reporter.message)
        mended = tuple(coarray_libraries(command, parts))
        emulated = network if options.testbed else None
        runner = stack.enter_context(open_runner(mpi, (*mended, *parts.workarounds), emulated, reporter))
        options = dataclasses.replace(
            options, costs=runner.costs_here(options.costs), notes=(*options.notes, *runner.notes)
        )
        network = runner.network_here(network)
        result = _Job(list(command), network, folder, scratch, program_input, options, reporter, runner, parts).run()
    return result


@dataclass
class _Job:
    command: list[str]
    network: Network  # as the runner has it
    folder: Path
    scratch: Path  # for what the runs print
    program_input: Path | None
    options: TuneOptions
    reporter: Reporter
    runner: Runner
    parts: MpiParts

    def __post_init__(self) -> None:
        self.used = UsedCosts(self.options.costs, self.options.costs_source)
        self.notes = list(self.options.notes)
        self.progress_measured = False  # what the program takes with it alone
        self.runs = ProgramRuns(
            self.command, self.scratch, self.program_input, self.options.timeout_s, self.options.progress, self.runner,
            self.parts, self.reporter,
        )  # fmt: skip

    @property
    def _in_background(self) -> bool:
        return self.options.progress != "off"

    @property
    def costs(self) -> CostModel:
        return self.used.costs

    def run(self) -> Result:
        started = datetime.datetime.now(datetime.UTC)
        trace, recorded = self.runs.record(self.folder / TRACE_FOLDER)
        self.notes += trace.shortfalls()
        self._set_limits(recorded.wall_s)
        groups = group_calls(trace, self._in_background, self.network)
        self.used = find_costs(
            self.launcher, self.network, trace.ranks, self.used, self.options.fit and bool(groups), self.notes,
            self.reporter,
        )  # fmt: skip
        self.reporter.message("choosing schedules by simulation")
        advice = advise(groups, self.network, trace.ranks, self.costs, recorded_here=True)
        # The calls are those of the recorded part alone.
        calls_s = recorded.wall_s if trace.limited_to_s is None else trace.limited_to_s
        budget = self.launcher.budget
        budget.limit_s = min(budget.limit_s, budget.spent_s + self.limit.for_measuring_s)
        advice, measured = measure_advice(
            advice, self.network, self.launcher, self.options.launches, calls_s, self.reporter
        )
        measured = [
            measurement.worth(choice.group.calls_in_turn, calls_s)
            for choice, measurement in zip(in_plan(advice), measured, strict=True)
        ]
        advice = dataclasses.replace(
            advice, plan=advice.plan.replace(progress=self.options.progress, hosts=trace.hosts)
        )
        try:
            plan, measured = self._plan_of(advice, measured)
            write_plan(plan, self.folder / PLAN_FILE)  # what is left where a run fails
            plan, measured = self._decided_by_runs(advice, plan, measured)
            write_plan(plan, self.folder / PLAN_FILE)
            native, tuned, with_plan = self._run_both(bool(plan.entries))
        except InvalidInput:
            raise
        except Error as error:
            raise Unfinished(
                error.message, "the recorded run passed: does the program find what an earlier run of it has written?"
            ) from error
        self.reporter.message("setting the predicted program beside the measured one")
        costs = self._costs_in(trace)
        whole = analyse_program(trace, with_plan, plan, self.network, costs, self.folder)
        program = self._program_result(trace, recorded, plan, native, tuned, whole, costs)
        if is_slower(program):
            plan, measured, note = withdraw(plan, measured, self.folder)
            write_plan(plan, self.folder / PLAN_FILE)
            self.notes.append(note)
        result = self._result(started, trace, recorded, advice, measured, plan, program, native, tuned)
        result = dataclasses.replace(result, analyses=whole.files)
        self.reporter.message("writing the report")
        self._write(result)
        return result

    def _set_limits(self, program_s: float) -> None:
        """Of the whole job, unless more is asked for, and of the measuring."""
        options = self.options
        if options.repetitions is None and options.measure_s is None:
            self.limit = TimeLimit.usual(program_s)
            budget = Budget(self.limit.for_measuring_s)
        else:
            self.limit = unlimited(program_s)
            budget = Budget(options.measure_s or usual_s(program_s))
        self.launcher = Launcher(
            self.command, self.folder / PLAN_FILE, self.runner, self.parts, options.compare_repetitions,
            options.timeout_s, budget,
        )  # fmt: skip

    def _plan_of(self, advice: Advice, measured: Sequence[Measurement]) -> tuple[Plan, list[Measurement]]:
        """What is kept of the advice, and the measurements, where those that save little are kept beside others."""
        if all(measurement.reason for measurement in measured):
            return advice.plan.replace(entries=()), list(measured)
        self.reporter.message("deriving schedules for other sizes and roots")
        kept = [measurement.beside_others() for measurement in measured]
        entries = cover(verdicts(advice, kept, self.runner.mpi.library_name), self.network, self.costs)
        return advice.plan.replace(entries=entries), kept

    def _decided_by_runs(
        self, advice: Advice, plan: Plan, measured: list[Measurement]
    ) -> tuple[Plan, list[Measurement]]:
        """The same, or with schedules of non-blocking calls with which whole runs of the program are faster."""
        tried = with_undecided(in_plan(advice), measured)
        undecided = sum(measurement.by_runs for measurement in tried)
        if not undecided or not self._in_background:
            return plan, measured
        repetitions = self.options.repetitions or MOST_RUNS
        self.reporter.message(f"whole runs decide on {undecided} schedule(s) of non-blocking calls")
        with_them, tried = self._plan_of(advice, tried)
        plans = {"without them": plan, "with them": with_them}
        files = {name: self.scratch / f"plan {name}.json" for name in plans}
        for name, file in files.items():
            write_plan(plans[name], file)
        self.limit = self.limit.with_pairs(LEAST_RUNS)
        try:
            kept, note = verdict(*self.runs.with_each(files, repetitions, self.limit), undecided)
        except InvalidInput:
            raise
        except Error as error:
            self.notes.append(no_verdict(undecided, error))
            return plan, measured
        self.notes.append(note)
        self.progress_measured = not plan.entries
        return (with_them, tried) if kept else (plan, refused(measured, tried))

    def _run_both(self, planned: bool) -> tuple[list[Run], list[Run], Trace | None]:
        """Native and tuned runs, and the calls of another tuned one. Native ones alone where nothing would differ."""
        if not (planned or self._in_background):
            return [self.runs.native()], [], None
        repetitions = self.options.repetitions or MOST_RUNS
        native, tuned = self.runs.both(self.folder / PLAN_FILE, repetitions, self.limit)
        if self._in_background or self.limit.has_time_for(statistics.median(run.wall_s for run in tuned)):
            with_plan, why_not = self.runs.record_with_plan(self.folder / PLAN_FILE)
        else:
            with_plan, why_not = None, f"the run with the plan was not recorded: {self.limit.over}"
        self.notes += [why_not] if why_not else []
        return native, tuned, with_plan

    def _costs_in(self, trace: Trace) -> CostModel:
        """Costs that are given are used as they are."""
        return costs_in_program(self.costs, trace) if self.used.source == "fitted" else self.costs

    def _program_result(
        self,
        trace: Trace,
        recorded: Run,
        plan: Plan,
        native: Sequence[Run],
        tuned: Sequence[Run],
        whole: WholeProgram,
        costs: CostModel,
    ) -> ProgramResult:
        native_s, tuned_s = [run.wall_s for run in native], [run.wall_s for run in tuned]
        self.notes += whole.notes
        self.notes += recording_warnings(recorded.wall_s, statistics.median(native_s))
        if not tuned:
            return whole.with_walls(ProgramResult.from_runs(native_s, []), trace, recorded.wall_s)
        same, note = compare_output(*self.runs.outputs(len(tuned)))
        self.notes += [note] if note else []
        if self._in_background and not (plan.entries and self.progress_measured):
            self.notes.append(share_of_progress(bool(plan.entries)))
        if self._in_background and starts_calls(trace):
            self.notes.append(STARTED_CALLS)
        predicted_s = None
        if trace.limited_to_s is None:
            predicted_s = predict_program(trace, recorded.wall_s, plan, self.network, costs)
        program = ProgramResult.from_runs(native_s, tuned_s, predicted_s, same)
        return whole.with_walls(program, trace, recorded.wall_s)

    def _result(
        self,
        started: datetime.datetime,
        trace: Trace,
        recorded: Run,
        advice: Advice,
        measured: Sequence[Measurement],
        plan: Plan,
        program: ProgramResult,
        native: Sequence[Run],
        tuned: Sequence[Run],
    ) -> Result:
        network = self.network
        nodes, rank_nodes = network.nodes, network.rank_nodes
        notes, calls = self.notes, trace.collectives()
        if not tuned:
            without_time = sum(one.reason.startswith(NO_TIME) for one in measured)
            notes.append(nothing_changed(len(advice.choices), without_time))
        notes += note_on_shared_cores(self.launcher.shared_cores, self.runner.mpi.name, self.runner.is_emulated)
        notes += unserved_calls(trace, self._in_background)
        notes += beaten_limits(advice.choices, measured)
        return Result(
            hocket=__version__,
            date_utc=started.strftime("%Y-%m-%dT%H:%M:%SZ"),
            command=list(self.options.shown_command) or self.command,
            mpi=self.runner.mpi.name,
            ranks=trace.ranks,
            hosts=[nodes[rank_nodes[rank]].name for rank in range(trace.ranks)],
            machine=f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} cores",
            network=network.name,
            testbed=self.runner.is_emulated,
            program=program,
            collectives=collective_results(advice.choices, measured, plan, self._draw),
            link_bytes=self._link_bytes(native[-1], tuned[-1]) if tuned else [],
            notes=notes,
            costs=self.used.to_result(),
            time=time_split(trace, calls, recorded.wall_s, advice.choices) if trace.limited_to_s is None else None,
            served=served_by(plan, calls, trace.ranks, self._in_background),
        )

    def _draw(self, choice: Choice, name: str) -> TimelineFiles:
        return write_timelines(choice, name, self.network, self.costs, self.folder)

    def _link_bytes(self, native: Run, tuned: Run) -> list[LinkBytes]:
        if native.link_bytes is None or tuned.link_bytes is None:
            return []
        nodes = self.network.nodes
        return [
            LinkBytes(nodes[link.source].name, nodes[link.target].name, before, after)
            for link, before, after in zip(self.network.links, native.link_bytes, tuned.link_bytes, strict=True)
        ]

    def _write(self, result: Result) -> None:
        from hocket.report import write_report

        (self.folder / NETWORK_FILE).write_text(self.network.to_toml(), encoding="utf-8")
        write_result(result, self.folder)
        write_report(self.folder)
        if not self.options.keep_trace:
            shutil.rmtree(self.folder / TRACE_FOLDER)
