# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The whole program, predicted beside measured, native and with the plan, for the report."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.report.result import AnalysisFiles, ProgramResult, write_json
from hocket.traces.analysis_request import analyse

if TYPE_CHECKING:
    from hocket import CostModel, Network
    from hocket.plan import Plan
    from hocket.traces.analysis_request import Analysis
    from hocket.traces.trace import Trace

MOST_CALLS = 2_000_000  # of all ranks: a trace of more is analysed by `hocket trace analyse` alone
MOST_CELLS = 500_000  # of the finest level of a timeline in the report


@dataclass(frozen=True)
class WholeProgram:
    files: AnalysisFiles = field(default_factory=AnalysisFiles)
    native_span_s: float | None = None  #: simulated, from MPI_Init to MPI_Finalize
    tuned_span_s: float | None = None
    recorded_span_s: float | None = None
    notes: tuple[str, ...] = ()

    def with_walls(self, program: ProgramResult, trace: Trace, recorded_wall_s: float) -> ProgramResult:
        """To what is simulated comes what the recorded run took before and after it.

        Nothing is known from a trace that has a part of the run alone.
        """
        if self.recorded_span_s is None or trace.limited_to_s is not None:
            return program
        outside_s = max(0.0, recorded_wall_s - self.recorded_span_s)
        native_s, tuned_s = (
            None if span_s is None else outside_s + span_s for span_s in (self.native_span_s, self.tuned_span_s)
        )
        return dataclasses.replace(program, replayed_native_s=native_s, replayed_tuned_s=tuned_s)


def analyse_program(
    trace: Trace, tuned: Trace | None, plan: Plan, network: Network, costs: CostModel, folder: Path
) -> WholeProgram:
    """Writes what a page draws into `folder`. Both predictions are replays of the native run `trace`.

    `tuned`: a recorded run with the plan; None: there is none, and so no analysis of it.
    """
    if network.has_circuits:
        return WholeProgram()
    calls = trace.num_calls()
    if calls > MOST_CALLS:
        note = f"the {calls:,} calls of the program are more than the report analyses: see hocket trace analyse"
        return WholeProgram(notes=(note,))
    native = analyse(trace, network, costs)
    native_s, native_file = _written(native, folder / "analysis-native.json")
    span_s = native.recorded.span_s
    if tuned is None:
        return WholeProgram(AnalysisFiles(native_file), native_s, recorded_span_s=span_s)
    tuned_s, tuned_file = _written(analyse(trace, network, costs, plan, tuned), folder / "analysis-tuned.json")
    return WholeProgram(AnalysisFiles(native_file, tuned_file), native_s, tuned_s, span_s)


def _written(analysis: Analysis, path: Path) -> tuple[float | None, str]:
    """The simulated time, and the file's name."""
    write_json(path, analysis.found(MOST_CELLS).values)
    return None if analysis.simulated is None else analysis.simulated.span_s, path.name
