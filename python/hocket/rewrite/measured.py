# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How long the windows of a rewritten program took, by a trace of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hocket.rewrite.analysis import Analysis
from hocket.rewrite.c_effects import CProgram
from hocket.rewrite.c_order import c_call_order
from hocket.rewrite.c_source import c_walk, kind
from hocket.rewrite.call_times import measured_spans
from hocket.rewrite.fortran_order import call_order
from hocket.rewrite.mpi_procedures import mpi_procedures
from hocket.rewrite.outcomes import Outcome, Rewritten
from hocket.rewrite.program import build_program
from hocket.traces.trace import Trace

_Call = tuple[Path, int, str]  # its file, its line in the new text, and its role of mpi_procedures.txt


def measure(result: Rewritten, trace: Trace) -> None:
    """Adds to each call that has one start and one wait now what `trace`, of the rewritten program, has of it."""
    if result.c_sources:
        program = CProgram(result.c_sources)
        calls, order = list(_calls_in_c(program)), c_call_order(program, trace.functions)
    else:
        analysis = Analysis(build_program(result.sources))
        calls, order = list(_calls(analysis)), call_order(analysis, trace.functions)
    lines: dict[tuple[str, int], dict[str, list[int]]] = {}
    for path, line, role in calls:
        key = str(path), result.origins[path][line - 1] + 1
        lines.setdefault(key, {}).setdefault(role, []).append(line)
    windows = {}
    for outcome in result.outcomes:
        roles = lines.get((str(outcome.path), outcome.line), {})
        starts, waits = roles.get("start", []), roles.get("wait", [])
        if outcome.is_rewritten and len(starts) == len(waits) == 1:
            windows[id(outcome)] = (outcome.path, starts[0]), (outcome.path, waits[0])
    spans = measured_spans(trace, order, windows.values())

    def measured(outcome: Outcome) -> Outcome:
        window = windows.get(id(outcome))
        return outcome if window is None else replace(outcome, measured_s=spans.get(window[0]))

    result.outcomes = [measured(one) for one in result.outcomes]


def _calls(analysis: Analysis) -> Iterator[_Call]:
    for procedure in analysis.program.procedures:
        for bound in analysis.facts(procedure).calls:
            yield procedure.source.path, int(bound.node.start_point[0]) + 1, bound.procedure.role


def _calls_in_c(program: CProgram) -> Iterator[_Call]:
    for function in program.all:
        for one in c_walk(function.body):
            known = mpi_procedures().get(str(one.spelling).lower()) if kind(one) == "CALL_EXPR" else None
            if known is not None:
                yield function.source.path, int(one.extent.start.line), known.role
