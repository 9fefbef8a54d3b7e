# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Rewrites C and C++: blocking collectives become non-blocking, with the statements around them between start and wait.

The planner of the windows is that of Fortran. Only statements of the call's own block move, loops stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hocket.rewrite.blocks import Item
from hocket.rewrite.buffers import Obligation, Refusal
from hocket.rewrite.c_calls import CCall, blocking_calls_in, calls_of, check
from hocket.rewrite.c_effects import CCollector, CProgram
from hocket.rewrite.c_judge import CJudge
from hocket.rewrite.c_order import c_call_order
from hocket.rewrite.c_source import CSource, read_c_source
from hocket.rewrite.c_uniform import Uniform
from hocket.rewrite.call_times import trace_times
from hocket.rewrite.change import Edit, Piece, with_edits
from hocket.rewrite.costs import Costs, cost_refusal
from hocket.rewrite.effects import Effects, shows_order
from hocket.rewrite.nesting import deep_nesting
from hocket.rewrite.outcomes import Outcome, Rewritten
from hocket.rewrite.sites import Options
from hocket.rewrite.syntax import own_names
from hocket.rewrite.text import names_not_in
from hocket.rewrite.windows import find_window, item_of
from hocket.traces.trace import Trace


@dataclass(frozen=True)
class _NoSplitter:
    """Loops stay whole."""

    sees_order: bool
    analysis = block = None
    private: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()

    def split(self, item: Item, waited: Effects, is_above: bool = False) -> None:
        return None


def rewrite_c(
    sources: Sequence[CSource],
    options: Options,
    compiler_options: Sequence[str] = (),
    report: Callable[[str], None] = lambda _: None,
    trace: Trace | None = None,
) -> Rewritten:
    """One call of each function after the other, the last first, until nothing is left to rewrite.

    With a `trace` of the program only what is predicted to gain, that which saves most of a function first.

    Raises InvalidInput for a program that is nested too deeply.
    """
    with deep_nesting(report) as report_next:
        return _rewrite(sources, options, compiler_options, report_next, trace)


def _rewrite(
    sources: Sequence[CSource],
    options: Options,
    compiler_options: Sequence[str],
    report: Callable[[str], None],
    trace: Trace | None,
) -> Rewritten:
    result = Rewritten({one.path: one.text for one in sources}, {})
    current = {one.path: one for one in sources}
    origins = {one.path: list(range(len(one.lines))) for one in sources}
    costs = _costs_of(trace, CProgram(sources), origins, result) if trace is not None else None
    refused: dict[tuple[str, int], Outcome] = {}
    _refuse_others(CProgram(sources), refused)
    while True:
        edits: dict[Path, list[Edit]] = {}
        for outcome, edit in _next_changes(list(current.values()), origins, options, refused, report, costs):
            refused.pop((str(outcome.path), outcome.line), None)
            result.outcomes.append(outcome)
            edits.setdefault(outcome.path, []).append(edit)
        if not edits:
            break
        for path, some in edits.items():
            text, lines = with_edits(current[path].lines, some)
            origins[path] = [origins[path][line] if line >= 0 else -1 for line in lines]
            current[path] = read_c_source(path, text, compiler_options)
    result.new = {path: one.text for path, one in current.items()}
    result.c_sources, result.origins = list(current.values()), origins
    result.outcomes += refused.values()
    result.outcomes.sort(key=lambda one: (str(one.path), one.line))
    return result


def _costs_of(trace: Trace, program: CProgram, origins: dict[Path, list[int]], result: Rewritten) -> Costs:
    result.times = trace_times(trace, c_call_order(program, trace.functions))
    judge = CJudge(Costs(result.times), program, origins)
    for function in program.all:
        for call in calls_of(function, program):
            judge.remember(function, call.item.cursor)
    return judge.costs


def _next_changes(
    sources: Sequence[CSource],
    origins: dict[Path, list[int]],
    options: Options,
    refused: dict[tuple[str, int], Outcome],
    report: Callable[[str], None],
    costs: Costs | None,
) -> list[tuple[Outcome, Edit]]:
    """At most one in each function: what its calls do to others does not change by it."""
    program = CProgram(sources)
    uniform = Uniform(program)
    changes: list[tuple[Outcome, Edit]] = []
    problem = _problem_of(program)
    judge = CJudge(costs, program, origins) if costs is not None else None
    for function in program.all:
        report(function.name)
        found: list[tuple[Outcome, CCall]] = []
        for call in reversed(list(calls_of(function, program))):
            if not call.refusals:
                check(call, program, uniform, options, problem)
            if not call.refusals:
                _find_window(call)
            if not call.refusals and judge is not None:
                _predict(call, judge)
            outcome = _outcome(call, origins[function.source.path])
            if call.refusals:
                refused[str(function.source.path), outcome.line] = outcome
                continue
            found.append((outcome, call))
            if judge is None:
                break
        if found:
            best, call = max(found, key=lambda one: one[1].prediction.saved_s if one[1].prediction is not None else 0.0)
            changes.append((best, _edit(call)))
    return changes


def _refuse_others(program: CProgram, refused: dict[tuple[str, int], Outcome]) -> None:
    """Calls that are no statements of a function's block."""
    reason = "its value is used, or it stands in a branch without braces, a macro, a template or a class"
    refusal = Refusal("layout", reason, "write it as a statement of its own, between { and }")
    known = {call.item.cursor for one in program.all for call in calls_of(one, program)}
    for source, cursor in ((file, one) for file in program.sources for one in blocking_calls_in(file)):
        if cursor not in known:
            line = int(cursor.extent.start.line)
            outcome = Outcome(source.path, line, "", str(cursor.spelling), False, (), (refusal,))
            refused.setdefault((str(source.path), line), outcome)


def _predict(call: CCall, judge: CJudge) -> None:
    assert call.window is not None
    if not judge.knows(call.function, call.item.cursor):
        call.refusals.append(Refusal("cost", "the trace has no call of it", "record a run that comes here"))
        return
    call.prediction = judge.of_window(call.function, call.item.cursor, call.window)
    if (refusal := cost_refusal(call.prediction)) is not None:
        call.refusals.append(refusal)


def _outcome(call: CCall, origins: list[int]) -> Outcome:
    line, lines = origins[call.item.line - 1] + 1, _old_lines(origins)
    return Outcome(
        call.function.source.path,
        line,
        call.function.name,
        call.procedure.name,
        not call.refusals,
        () if call.refusals else tuple(Obligation(lines(one.claim), lines(one.proof)) for one in call.obligations),
        tuple(replace(one, reason=lines(one.reason)) for one in dict.fromkeys(call.refusals)),
        call.prediction,
    )


def _old_lines(origins: list[int]) -> Callable[[str], str]:
    def old(found: re.Match[str]) -> str:
        line = int(found[1])
        return f"line {origins[line - 1] + 1}" if 0 < line <= len(origins) else found[0]

    return lambda text: re.sub(r"\bline (\d+)", old, text)


def _problem_of(program: CProgram) -> Refusal | None:
    """What forbids rewrites everywhere."""
    if own := next((one.name for one in program.all if one.name.startswith("MPI_")), None):
        return Refusal("unknown-call", f"the files define {own}: calls may do more than MPI's")
    for source in program.sources:
        if found := re.search(
            rb"\bMPI_(Comm|Win|File|Session)?_?\w*[eE]rrhandler\w*|\bMPI_ERRORS_RETURN\b", source.text
        ):
            return Refusal("error-handling", f"{source.path} has {found[0].decode()}: a failure may be handled")
        if found := re.search(rb"\b(MPI_Win_\w+|mmap|shmat|shm_open)\b", source.text):
            return Refusal("one-sided", f"{source.path} has {found[0].decode()}: other ranks may access memory")
        for text in source.own_texts:
            if found := re.search(rb"(?m)^\s*#\s*(?:define|undef)\s+(MPI_\w+)", text):
                return Refusal("preprocessor", f"{source.path}: {found[1].decode()} is defined anew")
        if macro := source.compiler_macro:
            hint = "take the condition out, or define it with --compile as your compiler does"
            return Refusal(
                "preprocessor", f"{source.path}: libclang may define {macro} differently than a compiler", hint
            )
        if found := re.search(rb"\b_*(sig)?(set|long)jmp\b", source.text):
            return Refusal("early-exit", f"{source.path} has {found[0].decode()}: it may leave any function")
    return None


def _find_window(call: CCall) -> None:
    waited = CCollector(call.function, call.collector.program, call.collector.names)
    for argument in call.procedure.arguments:
        text, actual = call.texts[argument.name], call.actuals[argument.name]
        if (argument.is_buffer or argument.use == "kept") and text != "MPI_IN_PLACE":
            symbol = call.collector.names.pointee(actual)
            for is_write in (False, True):
                if not is_write or argument.use in ("out", "inout"):
                    waited.access(symbol, is_write, actual)
    splitter: Any = _NoSplitter(shows_order(source.text for source in call.collector.program.sources))
    call.window = find_window(list(call.items), call.index, call.item.effects, waited.effects, frozenset(), splitter)
    if not call.window.has_work:
        for side, stop in (("before", call.window.above), ("after", call.window.below)):
            reason = f"no independent work {side} the call: {stop.reason}"
            call.refusals.append(Refusal(stop.code, reason, stop.hint))
        return
    lines = ", ".join(f"line {item_of(one).line}" for one in call.window.inside)
    call.obligations += [
        Obligation(
            "between start and wait nothing writes what is sent or accesses what is received",
            f"statements in {lines}: they access other objects",
        ),
        Obligation("calls of MPI start in the same order on every rank", "no call of MPI was crossed"),
        Obligation(
            "the compiler does not move accesses over start or wait",
            "the buffer's address is passed to MPI, so any function may access it, as far as the compiler knows",
        ),
    ]
    if call.window.before or call.window.after:
        claim = "statements that change places do not depend on each other"
        call.obligations.append(Obligation(claim, "their accesses were compared"))


def _edit(call: CCall) -> Edit:
    """The statements from the first to the last that changes its place, in their new order."""
    window, source, item = call.window, call.function.source, call.item
    assert window is not None
    request = names_not_in(own_names(source.text), 1, "hocket_request")[0]
    line = source.lines[item.line - 1]
    indent = line[: len(line) - len(line.lstrip())]
    arguments = ", ".join(call.texts.values())
    comments = b"".join(source.lines[item.first_line : item.line - 1])
    start = f"MPI_Request {request};", f"{call.procedure.starts[0]}({arguments}, &{request});"
    end = item.cursor.extent.end
    comment = source.lines[end.line - 1][end.column - 1 :].partition(b";")[2].strip()
    wait = indent + f"MPI_Wait(&{request}, MPI_STATUS_IGNORE);\n".encode()
    own = tuple(range(item.first_line, item.last_line + 1))

    def kept(one: Any) -> Piece:
        place = item_of(one)
        text = b"".join(source.lines[place.first_line : place.last_line + 1])
        return Piece(text, tuple(range(place.first_line, place.last_line + 1)))

    at = item.line - 1
    pieces = [kept(one) for one in window.before]
    pieces.append(Piece(comments, own[: at - item.first_line]))
    text = b"".join(indent + one.encode() + b"\n" for one in start)
    pieces.append(Piece(text[:-1] + (b"  " + comment if comment else b"") + b"\n", (at, at)))
    pieces += [kept(one) for one in window.inside]
    pieces.append(Piece(wait, (at,)))
    pieces += [kept(one) for one in window.after]
    used = [item_of(one) for one in [*window.before, *window.inside, *window.after]] + [item]
    return Edit(min(one.first_line for one in used), max(one.last_line for one in used) + 1, tuple(pieces))
