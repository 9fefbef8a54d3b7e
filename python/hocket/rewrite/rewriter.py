# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Rewrites files until nothing more can be rewritten: so the result, rewritten again, stays as it is."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hocket.rewrite.analysis import Analysis
from hocket.rewrite.blocks import blocks_of
from hocket.rewrite.buffers import Obligation, Refusal
from hocket.rewrite.call_times import trace_times
from hocket.rewrite.change import Change, change_of, with_changes
from hocket.rewrite.costs import Costs
from hocket.rewrite.fixed_form import to_fixed
from hocket.rewrite.fortran_order import call_order
from hocket.rewrite.half_sites import HalfSites
from hocket.rewrite.judge import Judge
from hocket.rewrite.nesting import deep_nesting
from hocket.rewrite.outcomes import Outcome, Rewritten
from hocket.rewrite.program import build_program
from hocket.rewrite.sites import Options, Site, blocking_calls, habits_of, sites_of
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, Source, line_of
from hocket.rewrite.text import MAX_COLUMNS
from hocket.rewrite.ways import examine
from hocket.traces.trace import Trace

NO_OPTIONS = Options()


def rewrite(
    sources: Sequence[Source],
    options: Options = NO_OPTIONS,
    report: Callable[[str], None] = lambda _: None,
    trace: Trace | None = None,
) -> Rewritten:
    """Rewrites what is proved to be right. `report` is called with the name of each procedure that is looked at.

    With a `trace` of the program, only what is predicted to gain.

    Raises InvalidInput for a program that is nested too deeply.
    """
    with deep_nesting(report) as report_next:
        return _rewrite(sources, options, report_next, trace)


def _rewrite(
    sources: Sequence[Source], options: Options, report: Callable[[str], None], trace: Trace | None
) -> Rewritten:
    result = Rewritten({one.path: one.original or one.text for one in sources}, {})
    costs: Costs | None = None
    if trace is not None:
        result.times = trace_times(trace, call_order(Analysis(build_program(sources)), trace.functions))
        costs = Costs(result.times)
    for source in sources:
        _report_what_is_in_no_procedure(source, result)
    current = {one.path: one for one in sources}
    origins = {one.path: list(range(len(one.lines))) for one in sources}
    done: set[str] = set()
    refused: dict[tuple[Path, int], Outcome] = {}
    while True:
        changes, outcomes = _next_changes(list(current.values()), origins, options, done, refused, report, costs)
        result.outcomes += outcomes
        if not any(changes.values()):
            break
        for path, some in changes.items():
            text, lines = with_changes(current[path], some)
            origins[path] = [origins[path][line] if line >= 0 else -1 for line in lines]
            current[path] = replace(current[path], text=text, declared=b"")
    result.new = {path: _in_its_form(one, origins[path]) for path, one in current.items()}
    result.sources, result.origins = list(current.values()), origins
    result.outcomes += refused.values()
    result.outcomes.sort(key=lambda one: (str(one.path), one.line))
    return result


def _in_its_form(source: Source, origins: list[int]) -> bytes:
    return source.text if source.original is None else to_fixed(source.text, origins, source.original)


def _next_changes(
    sources: Sequence[Source],
    origins: Mapping[Path, list[int]],
    options: Options,
    done: set[str],
    refused: dict[tuple[Path, int], Outcome],
    report: Callable[[str], None],
    costs: Costs | None,
) -> tuple[dict[Path, list[Change]], list[Outcome]]:
    """Rewrites that do not meet, of procedures that are not `done`. What is refused may be possible after them."""
    program = build_program(sources)
    habits, analysis = habits_of(sources), Analysis(program, options.ignores_clocks)
    judge = Judge(costs, analysis, origins) if costs is not None else None
    half_sites = HalfSites(analysis, options, habits, judge)
    changes: dict[Path, list[Change]] = {one.path: [] for one in sources}
    outcomes: list[Outcome] = []
    for procedure in program.procedures:
        name, path = procedure.scope.name, procedure.source.path
        if name in done:
            continue
        report(procedure.name)
        done.add(name)
        changed: set[int] = set()  # the lines of calls that have no blocking form after this round, or the next one
        procedure.source.declared = b""
        for line, call in _calls_elsewhere(procedure):
            at = origins[path][line - 1] + 1
            reason = "it stands behind an `if` in one line, or in a construct that is not analysed"
            refusal = Refusal("layout", reason, "write it as a statement of its own, between `if` and `end if`")
            refused[path, at] = Outcome(path, at, procedure.name, call, False, (), (refusal,))
        for site in itertools.chain(sites_of(procedure, analysis), half_sites.of(procedure)):
            if site.halves is None:
                examine(site, analysis, options, habits, judge)
            elif changed:
                break  # halves are for what is left
            change = change_of(site) if not site.refusals else None
            if change is not None and change.is_too_wide(procedure.source):
                reason = f"a new line would be longer than {MAX_COLUMNS} columns"
                site.refusals.append(Refusal("layout", reason, "use shorter names"))
            if change is not None and (intrinsic := change.hidden_intrinsic(procedure)):
                reason = (
                    f"the rewritten code would call the intrinsic function {intrinsic}, whose name may be another's"
                )
                site.refusals.append(Refusal("names", reason, f"rename what the program calls {intrinsic}"))
            outcome = _outcome(site, origins[path])
            if site.refusals or change is None:
                refused[path, outcome.line] = outcome
                continue
            done.discard(name)
            is_later = site.ends_at(changed) or any(change.overlaps(other) for other in changes[path])
            changed.add(site.item.line)
            if is_later:
                continue
            _remember(change, procedure)
            changes[path].append(change)
            refused.pop((path, outcome.line), None)
            more = _in_old_lines(change.obligations, origins[path])
            outcomes.append(replace(outcome, obligations=(*outcome.obligations, *more)))
    return changes, outcomes


def _calls_elsewhere(procedure: Procedure) -> Iterator[tuple[int, str]]:
    """Blocking calls that stand in no list of statements."""
    statements = {node.id for block in blocks_of(procedure) for node in block.nodes}
    for node, name in blocking_calls(procedure.node):
        if node.id not in statements and not any(_is_in(node, one) for one in procedure.inner.values()):
            yield line_of(node), name


def _is_in(node: Node, procedure: Procedure) -> bool:
    return bool(procedure.node.start_byte <= node.start_byte < procedure.node.end_byte)


def _remember(change: Change, procedure: Procedure) -> None:
    """What the next rewrites of the procedure in the same round have to know."""
    procedure.source.declared += b"".join(piece.text for piece in change.declarations.pieces)
    for name in change.asynchronous:
        procedure.scope.added.setdefault(name, set()).add("asynchronous")


def _report_what_is_in_no_procedure(source: Source, result: Rewritten) -> None:
    """Text outside of the procedures that the parser found: a construct without an end may hide all that is in it."""
    nodes = [one for one in source.root.children if one.type != "comment"]
    if not nodes:
        result.warnings.append(f"{source.path}: has no statement")
    wrong = next((one for one in nodes if one.type == "ERROR"), None)
    if wrong is None:
        return
    reason = f"line {line_of(wrong)}: the syntax is not understood"
    result.warnings.append(f"{source.path}: {reason}; what it belongs to stays as it is")
    refusal = Refusal("syntax", reason, "compile the file: it may lack the end of a construct")
    for one in nodes:
        for node, name in blocking_calls(one) if one.type == "ERROR" else ():
            result.outcomes.append(Outcome(source.path, line_of(node), "", name, False, (), (refusal,)))


def _outcome(site: Site, origins: list[int]) -> Outcome:
    line = origins[site.item.line - 1] + 1
    refusals = tuple(
        Refusal(one.code, _with_old_lines(one.reason, origins), one.hint) for one in dict.fromkeys(site.refusals)
    )
    obligations = _in_old_lines(site.obligations, origins)
    path = site.procedure.source.path
    return Outcome(
        path, line, site.procedure.name, site.name, not refusals, tuple(obligations), refusals, site.prediction
    )


def _in_old_lines(obligations: Sequence[Obligation], origins: list[int]) -> list[Obligation]:
    return [Obligation(*(_with_old_lines(text, origins) for text in (one.claim, one.proof))) for one in obligations]


def _with_old_lines(text: str, origins: list[int]) -> str:
    """Numbers of lines in a message are those of the text that was analysed."""

    def old(found: re.Match[str]) -> str:
        line = int(found[1])
        return f"line {origins[line - 1] + 1}" if 0 < line <= len(origins) else found[0]

    return re.sub(r"\bline (\d+)", old, text)
