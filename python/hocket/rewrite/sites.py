# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Blocking calls as candidates: each becomes a `Change` of the text, or is refused with the reasons."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from hocket.rewrite.analysis import Analysis
from hocket.rewrite.blocks import Block, Item, blocks_of
from hocket.rewrite.buffers import (
    Obligation,
    Refusal,
    check_buffers,
    check_error_code,
    check_reduction,
    check_status,
    kept_names,
)
from hocket.rewrite.collector import is_directive
from hocket.rewrite.costs import Prediction
from hocket.rewrite.halves import Halves
from hocket.rewrite.implicit_types import check_types
from hocket.rewrite.interfaces import merged
from hocket.rewrite.mpi_arguments import BoundArguments, bind, is_collective
from hocket.rewrite.mpi_procedures import is_name_of_mpi, mpi_procedures
from hocket.rewrite.pipelines import Pipeline
from hocket.rewrite.strips import Strip
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node, Source, children, line_of, source_of, text_of, walk
from hocket.rewrite.windows import Window

_OF_ONE_LOOP = re.compile(r"!\$omp(end)?(paralleldo|simd)|!(dir|dec|gcc)\$")


@dataclass(frozen=True)
class Options:
    """What the user allows."""

    allows_rounding: bool = False  # another order of reductions of real numbers
    ignores_clocks: bool = False  # statements may cross a measurement of time
    makes_parts: bool = True  # collectives may be sent in parts
    makes_stages: bool = True  # loops may run in two stages
    #: Bytes that take as long on the network as one call more: latency times bandwidth (Hockney's n_1/2). The default
    #: is that of 10 us and 50 Gbit/s.
    part_bytes: int = 62_500
    trusts_compiler: bool = False  # it does not move accesses of buffers that cannot be asynchronous over a wait


@dataclass
class Lift:
    """The wait for a call in a branch goes down behind the branch, which is a statement of an outer list."""

    branch: Item
    window: Window


@dataclass
class Site:
    """A blocking call that has a non-blocking form."""

    procedure: Procedure
    block: Block
    items: list[Item]
    index: int
    changed: set[str]
    bound: BoundArguments
    refusals: list[Refusal] = field(default_factory=list)
    obligations: list[Obligation] = field(default_factory=list)
    window: Window | None = None
    lift: Lift | None = None
    strip: Strip | None = None
    pipeline: Pipeline | None = None
    prediction: Prediction | None = None  # of the way that was found, where costs are known
    plain: tuple[str, ...] = ()  # variables that cannot be made asynchronous
    halves: Halves | None = None  # the call is one of a procedure that communicates
    actuals: dict[str, Node] = field(default_factory=dict)  # of `halves`: what is passed for the buffers
    part_bytes: int = 0  # of `strip`: see Options

    @property
    def item(self) -> Item:
        return self.items[self.index]

    @property
    def name(self) -> str:
        inside = f" (in {self.halves.procedure.name})" if self.halves is not None else ""
        return self.bound.procedure.name + inside

    def ends_at(self, lines: Collection[int]) -> bool:
        """Whether the window ends at a call in one of the lines."""
        windows = [one for one in (self.window, self.lift.window if self.lift is not None else None) if one is not None]
        return any(line in window.below.lines for window in windows for line in lines)

    @property
    def buffer_names(self) -> list[str]:
        """Of the variables that are passed for the buffers of `halves`."""
        bases = (next(text_of(one) for one in walk(node) if one.type == "identifier") for node in self.actuals.values())
        return list(dict.fromkeys(bases))


def sites_of(procedure: Procedure, analysis: Analysis) -> list[Site]:
    """The last one first: when a call has become non-blocking, the wait of an earlier one can go past it."""
    found: list[Site] = []
    table = mpi_procedures()
    facts = analysis.facts(procedure)
    wanted = {one.node.id for one in facts.calls if one.procedure.role == "blocking" and one.procedure.starts}
    if not wanted:
        return []
    for block in blocks_of(procedure):
        if not any(node.id in wanted for node in block.nodes):
            continue
        items, changed = analysis.items(block)
        for index, item in enumerate(items):
            if item.node.id in wanted:
                bound = bind(table[text_of(children(item.node)[1])], item.node)
                if bound is not None:
                    found.append(Site(procedure, block, items, index, changed, bound))
    return sorted(found, key=lambda site: -site.item.line)


@dataclass(frozen=True)
class Habits:
    """What the files do somewhere, and what forbids rewrites everywhere."""

    handles_errors: bool
    one_sided: str  # a procedure of one-sided communication that is called; empty: none
    has_final: bool  # a type has a procedure that is called when a variable goes away
    redefined: str  # a name of MPI that the preprocessor replaces; empty: none


def blocking_calls(node: Node) -> Iterator[tuple[Node, str]]:
    """The calls in a tree that have a non-blocking form, and the names of their procedures."""
    for one in walk(node):
        known = mpi_procedures().get(text_of(children(one)[1])) if one.type == "subroutine_call" else None
        if known is not None and known.role == "blocking" and known.starts:
            yield one, known.name


def habits_of(sources: Sequence[Source]) -> Habits:
    """Of the whole text, also of what is in no procedure."""
    handles_errors, one_sided = False, ""
    pattern = re.compile(rb"(?i)errhandler|mpi_win_")
    for source in sources:
        for node in walk(source.root) if pattern.search(source.text) else ():
            if node.type == "subroutine_call":
                name = text_of(children(node)[1])
                handles_errors = handles_errors or (name.startswith("mpi_") and "errhandler" in name)
                one_sided = name if name.startswith("mpi_win_") and not one_sided else one_sided
    final = re.compile(rb"(?im)^\s*final\s*(::)?\s*\w")
    has_final = any(final.search(one.text) for one in sources)
    anew = re.compile(rb"(?im)^\s*#\s*(?:define|undef)\s+(p?mpi_\w+)")
    macros = (found[1].decode() for one in sources for found in anew.finditer(one.text))
    redefined = next((one for one in macros if is_name_of_mpi(one)), "")
    return Habits(handles_errors, one_sided, has_final, redefined)


def check_call(site: Site, analysis: Analysis, options: Options, habits: Habits) -> None:
    """Fills in why the call cannot be non-blocking, whatever stands around it, or what that relies on."""
    procedure, facts = site.procedure, analysis.facts(site.procedure)
    if problem := analysis.problem(procedure):
        site.refusals.append(Refusal("syntax", problem, "only what is understood as a whole is rewritten"))
        return
    if site.item.annotation("keep"):
        site.refusals.append(Refusal("keep", "!$hocket keep stands before it"))
        return
    check_surroundings(site)
    refusals, site.obligations = check_buffers(site.bound, procedure)
    site.refusals += refusals
    plain = analysis.interfaces.refusals(kept_names(site.bound, procedure), procedure)
    site.plain = tuple(plain)
    site.refusals += [] if options.trusts_compiler else merged(plain)
    if habits.has_final:
        site.refusals.append(Refusal("unknown-call", "a type has a final procedure, which may be called anywhere"))
    if habits.redefined:
        site.refusals.append(Refusal("preprocessor", f"{habits.redefined} is defined anew"))
    if habits.one_sided:
        reason = f"{habits.one_sided} is called: other ranks may access memory, and a blocking call may order that"
        site.refusals.append(Refusal("one-sided", reason))
    if is_collective(site.bound) and (reason := analysis.divergence.reason(site.bound.node, procedure)):
        hint = "name the files that call it too, or state that all ranks run it with !$hocket uniform before each call"
        if line := site.item.annotation("uniform"):
            site.obligations.append(Obligation("all ranks run this call", f"stated by line {line}"))
        else:
            site.refusals.append(Refusal("divergence", reason, hint))
    if len(site.bound.procedure.starts) > 1 and analysis.calls_a_function(site.bound.node, procedure):
        reason = "an argument is the call of a function, which would be called twice"
        site.refusals.append(Refusal("unknown-call", reason, "keep its result in a variable before"))
    error = check_error_code(site.bound, facts, habits.handles_errors)
    rounding, order = check_reduction(site.bound, site.item, procedure, options.allows_rounding)
    status, types = check_status(site.bound, procedure, facts), check_types(site.bound, procedure, analysis)
    site.refusals += [one for one in (error, rounding, status, types) if one is not None]
    site.refusals += [Refusal(one.code, one.reason, one.hint) for one in site.item.effects.barriers]
    if any(mark in source_of(site.item.node) for mark in "!'\""):
        site.refusals.append(Refusal("layout", "a comment or a text stands inside the call", "take it out"))
    if order is not None:
        site.obligations.append(order)


def check_surroundings(site: Site) -> None:
    scope = site.procedure.scope.mpi()
    if scope is None:
        reason = "the procedure has neither `use mpi`, `use mpi_f08` nor `include 'mpif.h'`"
        site.refusals.append(Refusal("no-mpi-module", reason, "add one of them"))
    elif scope.binding_only is not None and scope.binding_file != site.procedure.source.path:
        reason = f"the names of MPI come through `only` in {scope.binding_file}"
        site.refusals.append(Refusal("no-mpi-module", reason, "add `use mpi` to the procedure"))
    elif scope.binding == "mpif.h" and any(one.wants_external for one in site.procedure.scope.chain()):
        reason = "mpif.h declares no procedures, which `implicit none (external)` wants"
        site.refusals.append(Refusal("no-mpi-module", reason, "use `use mpi`"))
    if "pure" in site.procedure.qualifiers or "elemental" in site.procedure.qualifiers:
        site.refusals.append(Refusal("impure", "the procedure is pure"))
    line = _directive_around(site)
    if line:
        reason = f"the directive in line {line} may make several threads run the call"
        site.refusals.append(Refusal("directive", reason, "move the call out of the parallel region"))


def _directive_around(site: Site) -> int:
    """The line of a directive before the call that may open a region, or of a loop around the call; 0: none."""
    for node in walk(site.procedure.node):
        if node.start_byte > site.item.node.start_byte:
            break
        if node.type == "comment" and is_directive(node) and not _OF_ONE_LOOP.match(_squeezed(node)):
            return line_of(node)
    at: Node | None = site.item.node.parent
    while at is not None and at.id != site.procedure.node.id:
        before = at.prev_sibling
        while before is not None and before.type == "comment":
            if is_directive(before):
                return line_of(before)
            before = before.prev_sibling
        at = at.parent
    return 0


def _squeezed(node: Node) -> str:
    return text_of(node).lower().replace(" ", "")
