# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Calls of procedures that communicate, as candidates: their communication may run beside what stands around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hocket.rewrite.analysis import Analysis
from hocket.rewrite.blocks import Item, blocks_of
from hocket.rewrite.buffers import Obligation
from hocket.rewrite.costs import cost_refusal
from hocket.rewrite.half_text import is_free
from hocket.rewrite.halves import Halves, actuals_of, calls_of_halves, find_halves, may_stay_in_use
from hocket.rewrite.judge import Judge
from hocket.rewrite.mpi_arguments import BoundArguments, is_collective
from hocket.rewrite.sites import Habits, Options, Site, check_call, check_surroundings
from hocket.rewrite.splitting import Splitter
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import Node
from hocket.rewrite.ways import window_obligations
from hocket.rewrite.windows import find_window


@dataclass
class HalfSites:
    """Of all procedures of an analysis. Answers are kept."""

    analysis: Analysis
    options: Options
    habits: Habits
    judge: Judge | None = None
    _halves: dict[int, Halves | None] = field(default_factory=dict)
    _obligations: dict[int, list[Obligation]] = field(default_factory=dict)

    def of(self, procedure: Procedure) -> Iterator[Site]:
        """Those with a window."""
        found = {node.id: (node, halves) for node, halves in calls_of_halves(procedure, self.analysis, self._halves_of)}
        if not found or self.analysis.problem(procedure):
            return
        for block in blocks_of(procedure):
            if not any(node.id in found for node in block.nodes):
                continue
            items, changed = self.analysis.items(block)
            for index, item in enumerate(items):
                if item.node.id not in found:
                    continue
                node, halves = found[item.node.id]
                site = Site(procedure, block, items, index, changed, halves.calls[0][1], halves=halves)
                if self._has_window(site, node, halves):
                    yield site

    def _halves_of(self, procedure: Procedure) -> Halves | None:
        key = id(procedure)
        if key not in self._halves:
            self._halves[key] = find_halves(procedure, self.analysis, self._check)
        return self._halves[key]

    def _check(self, procedure: Procedure, items: Sequence[Item], index: int, bound: BoundArguments) -> bool:
        block = next(blocks_of(procedure))
        site = Site(procedure, block, list(items), index, set(), bound)
        check_call(site, self.analysis, self.options, self.habits)
        self._obligations.setdefault(id(procedure), []).extend(site.obligations)
        return not site.refusals

    def _has_window(self, site: Site, node: Node, halves: Halves) -> bool:
        procedure, item, analysis = site.procedure, site.item, self.analysis
        check_surroundings(site)
        actuals = actuals_of(node, halves)
        if site.refusals or item.effects.barriers or item.annotation("keep") or actuals is None or not is_free(halves):
            return False
        here, there = procedure.scope.mpi(), halves.procedure.scope.mpi()
        if here is None or there is None or here.binding != there.binding:
            return False
        if any(is_collective(bound) for _, bound in halves.calls) and analysis.divergence.reason(node, procedure):
            return False
        if not may_stay_in_use(actuals, procedure) or analysis.calls_a_function(node, procedure):
            return False
        site.actuals = actuals
        site.plain = tuple(analysis.interfaces.refusals(site.buffer_names, procedure))
        if site.plain and not self.options.trusts_compiler:
            return False
        private = analysis.private(site.block)
        splitter = Splitter(analysis, site.block, private, site.changed)
        window = find_window(site.items, site.index, item.effects, item.effects, private, splitter)
        if not window.has_work:
            return False
        site.window = window
        if self.judge is not None:
            site.prediction = self.judge.of_window(site)
            if cost_refusal(site.prediction) is not None:
                return False
        claims = [Obligation(*one) for one in halves.claims()]
        site.obligations = [*claims, *self._obligations[id(halves.procedure)], *window_obligations(site)]
        return True
