# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The way to rewrite a call: with a window, in parts or in stages. Where costs are known, that which gains most."""

from __future__ import annotations

from hocket.rewrite.analysis import Analysis
from hocket.rewrite.blocks import Item
from hocket.rewrite.buffers import Obligation, Refusal
from hocket.rewrite.collector import Collector
from hocket.rewrite.costs import cost_refusal
from hocket.rewrite.effects import Effects
from hocket.rewrite.judge import Judge
from hocket.rewrite.mpi_arguments import is_collective
from hocket.rewrite.pipeline_text import PipelineText
from hocket.rewrite.pipelines import Pipeline, find_pipeline
from hocket.rewrite.sites import Habits, Lift, Options, Site, check_call
from hocket.rewrite.splitting import Splitter
from hocket.rewrite.strips import Strip, find_strip
from hocket.rewrite.syntax import source_of, text_of
from hocket.rewrite.windows import find_window, find_window_below, item_of


def examine(site: Site, analysis: Analysis, options: Options, habits: Habits, judge: Judge | None = None) -> None:
    """Fills in the refusals, or the way, its obligations and, with a judge, what it gains."""
    check_call(site, analysis, options, habits)
    if judge is not None:
        judge.remember(site)
    if not site.refusals:
        _find_way(site, analysis, options, habits, judge)


def _find_way(site: Site, analysis: Analysis, options: Options, habits: Habits, judge: Judge | None) -> None:
    private = analysis.private(site.block)
    waited = _waited(site, analysis, site.changed)
    splitter = Splitter(analysis, site.block, private, site.changed)
    site.window = find_window(site.items, site.index, site.item.effects, waited, private, splitter)
    if judge is not None and (first := _balanced(site, analysis, options, habits, judge)):
        site.window = find_window(site.items, site.index, site.item.effects, waited, private, splitter, first)
    if not site.window.has_work:
        site.lift = _lift_of(site, analysis)
    has_window = site.window.has_work or site.lift is not None
    knows = judge is not None and judge.knows(site)
    if judge is not None and has_window:
        site.prediction = judge.of_window(site)
    if (site.window.depth < 2 or knows) and site.lift is None and options.makes_parts:
        site.part_bytes = options.part_bytes
        _take_strip(site, _strip_of(site, analysis, waited, splitter), judge if knows else None)
    if not has_window and site.strip is None and options.makes_stages:
        site.pipeline = _pipeline_of(site, analysis)
        if site.pipeline is not None and judge is not None:
            site.prediction = judge.of_pipeline(site, site.pipeline)
    if not has_window and site.strip is None and site.pipeline is None:
        above, below = site.window.above, site.window.below
        for side, stop in (("before", above), ("after", below)):
            site.refusals.append(Refusal(stop.code, f"no independent work {side} the call: {stop.reason}", stop.hint))
        return
    if judge is not None and not knows:
        site.refusals.append(Refusal("cost", "the trace has no call of it", "record a run that comes here"))
        return
    if (refusal := cost_refusal(site.prediction)) is not None:
        site.refusals.append(refusal)
        return
    if site.strip is None and site.pipeline is None:
        site.obligations += window_obligations(site)
        return
    claims = site.strip.claims() if site.strip is not None else site.pipeline.claims() if site.pipeline else []
    site.obligations += [*(Obligation(*one) for one in claims), *_call_obligations(site)]


def _balanced(site: Site, analysis: Analysis, options: Options, habits: Habits, judge: Judge) -> int:
    """The first statement that the start may go up to, so that the call before it can use those before that. 0: any.

    If a statement between them needs the earlier message, only one of the two can be beside each other statement
    between. The statements are shared out so that both calls together save most.
    """
    window, items = site.window, site.items
    earlier = next((i for i in range(site.index - 1, -1, -1) if items[i].effects.mpi), None)
    blocking = {one.node.id: one for one in analysis.facts(site.procedure).calls if one.procedure.role == "blocking"}
    if window is None or earlier is None or not window.inside_above or items[earlier].node.id not in blocking:
        return 0
    other = Site(site.procedure, site.block, items, earlier, site.changed, blocking[items[earlier].node.id])
    check_call(other, analysis, options, habits)
    if other.refusals or not judge.knows(other) or not judge.knows(site):
        return 0
    private = analysis.private(site.block)
    splitter = Splitter(analysis, site.block, private, site.changed)
    waited = _waited(other, analysis, site.changed)
    other.window = find_window(items, earlier, items[earlier].effects, waited, private, splitter)
    if other.window.below.code != "dependence":
        return 0
    shared = [one for one in window.inside_above if isinstance(one, Item) and one in other.window.inside_below]
    seconds = [judge.seconds(site, one, True) for one in shared]
    own = [judge.window_s(one, part) - sum(seconds) for one, part in ((other, other.window), (site, window))]
    calls = [judge.communication_s(one) for one in (other, site)]
    saved = [
        min(calls[0], own[0] + sum(seconds[:cut])) + min(calls[1], own[1] + sum(seconds[cut:]))
        for cut in range(len(shared) + 1)
    ]
    cut = max(range(len(saved)), key=lambda one: (saved[one], -one))
    return items.index(shared[cut - 1]) + 1 if cut else 0


def _take_strip(site: Site, strip: Strip | None, judge: Judge | None) -> None:
    """If it is better than the window."""
    assert site.window is not None
    if strip is None:
        return
    if judge is None:
        site.strip = strip if strip.depth > site.window.depth else None
        return
    prediction = judge.of_strip(site, strip, site.part_bytes)
    if site.prediction is None or (prediction is not None and prediction.saved_s > site.prediction.saved_s):
        site.strip, site.prediction = strip, prediction


def _pipeline_of(site: Site, analysis: Analysis) -> Pipeline | None:
    found = find_pipeline(site.bound, site.block, analysis)
    fits = found is not None and PipelineText.of(site.item, site.bound, found, site.procedure.source).fits
    return found if fits else None


def _strip_of(site: Site, analysis: Analysis, waited: Effects, splitter: Splitter) -> Strip | None:
    facts = analysis.facts(site.procedure)
    if facts.has_jumps or analysis.calls_a_function(site.item.node, site.procedure):
        return None
    place = Collector(site.procedure, analysis, facts, site.changed).place
    written = analysis.root_items(site.procedure)[1]
    found = find_strip(
        site.items, site.index, site.bound, site.item.effects, waited, place, splitter, written, site.part_bytes
    )
    return found if isinstance(found, Strip) else None


def _lift_of(site: Site, analysis: Analysis) -> Lift | None:
    """None if the call is in no branch, or nothing independent follows the branch."""
    block, window = site.block, site.window
    status = site.bound.actual("status")
    if block.parent is None or block.owner is None or block.owner.type != "if_statement" or window is None:
        return None
    if window.below.code != "end" or window.after:
        return None
    if status is not None and not site.procedure.scope.is_of_mpi(text_of(status)):
        return None  # a wait for no operation changes the status too
    outer = block.parent
    items, changed = analysis.items(outer)
    index = next(i for i, item in enumerate(items) if item.node.id == block.owner.id)
    if any(one.code == "layout" for one in items[index].effects.barriers) or items[index].has_directive:
        return None
    private = analysis.private(outer)
    waited = _waited(site, analysis, changed)
    behind = find_window_below(items[index + 1 :], waited, private, Splitter(analysis, outer, private, changed))
    return Lift(items[index], behind) if behind.has_work else None


def _waited(site: Site, analysis: Analysis, changed: set[str]) -> Effects:
    """Of the wait, where nothing but `changed` changes."""
    facts = analysis.facts(site.procedure)
    collector = Collector(site.procedure, analysis, facts, changed)
    collector.calls.buffers(site.bound, is_same=True)
    status, error = site.bound.actual("status"), site.bound.error
    if status is not None and not site.procedure.scope.is_of_mpi(text_of(status)):
        collector.write(status)
    if error is not None and not collector.is_ignored(error):
        collector.write(error)
    return collector.effects


def window_obligations(site: Site) -> list[Obligation]:
    windows = [one for one in (site.window, site.lift.window if site.lift is not None else None) if one is not None]
    parts = [one for window in windows for one in window.inside]
    lines = ", ".join(f"line {line}" for line in sorted({item_of(one).line for one in parts}))
    buffers = [argument.name for argument, _ in site.bound.pairs() if argument.is_buffer]
    proof = "they access other variables"
    disjoint = [pair for window in windows for pair in window.proofs.disjoint.items()]
    if disjoint:
        pairs = "; ".join(f"{one[0]} and {one[1]} (line {at[0]}, line {at[1]})" for one, at in disjoint[:4])
        proof = f"they access other variables, or other elements: {pairs}: no common element (isl)"
    found = [
        Obligation(
            f"between start and wait nothing writes what is sent or accesses what is received ({', '.join(buffers)})",
            f"statements in {lines}: {proof}",
        ),
        *_call_obligations(site),
    ]
    if site.lift is not None:
        line = site.lift.branch.line
        found.append(
            Obligation(
                f"where the branch in line {line} is not taken, the wait behind it waits for nothing",
                "the request is MPI_REQUEST_NULL then (MPI 4.1, 3.7.3)",
            )
        )
    for one in parts:
        item = item_of(one)
        for word in ("independent", "pure"):
            if line := item.annotation(word):
                found.append(Obligation(f"the statement in line {item.line} is {word}", f"stated by line {line}"))
        if not isinstance(one, Item):
            found.append(Obligation(one.claim, one.proof))
    if any(window.after or window.before for window in windows):
        found.append(
            Obligation("statements that change places do not depend on each other", "their accesses were compared")
        )
    return found


def _call_obligations(site: Site) -> list[Obligation]:
    """Whatever becomes of the call."""
    found = [
        Obligation(
            "calls of MPI start in the same order on every rank",
            "no call of MPI that starts or waits for communication was crossed by the start",
        )
    ]
    if is_collective(site.bound) and not site.item.annotation("uniform"):
        proof = "no branch around it, or around calls of its procedure, depends on what may differ between ranks"
        found.append(Obligation("all ranks run the same call", proof))
    error = site.bound.error
    if error is not None:
        found.append(Obligation("nobody looks at the error code", f"{source_of(error)} is not read in the procedure"))
    return found
