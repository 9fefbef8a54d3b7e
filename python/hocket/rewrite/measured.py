# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""How long the windows of a rewritten program took, by a trace of it."""

from __future__ import annotations

from dataclasses import replace

from hocket.rewrite.analysis import Analysis
from hocket.rewrite.call_times import measured_spans
from hocket.rewrite.outcomes import Outcome, Rewritten
from hocket.rewrite.program import build_program
from hocket.traces.trace import Trace


def measure(result: Rewritten, trace: Trace) -> None:
    """Adds to each call that has one start and one wait now what `trace`, of the rewritten program, has of it."""
    analysis = Analysis(build_program(result.sources))
    lines: dict[tuple[str, int], dict[str, list[int]]] = {}
    for procedure in analysis.program.procedures:
        path = procedure.source.path
        for bound in analysis.facts(procedure).calls:
            line = int(bound.node.start_point[0])
            key = str(path), result.origins[path][line] + 1
            lines.setdefault(key, {}).setdefault(bound.procedure.role, []).append(line + 1)
    windows = {}
    for outcome in result.outcomes:
        roles = lines.get((str(outcome.path), outcome.line), {})
        starts, waits = roles.get("start", []), roles.get("wait", [])
        if outcome.is_rewritten and len(starts) == len(waits) == 1:
            windows[id(outcome)] = (outcome.path, starts[0]), (outcome.path, waits[0])
    spans = measured_spans(trace, analysis, windows.values())

    def measured(outcome: Outcome) -> Outcome:
        window = windows.get(id(outcome))
        return outcome if window is None else replace(outcome, measured_s=spans.get(window[0]))

    result.outcomes = [measured(one) for one in result.outcomes]
