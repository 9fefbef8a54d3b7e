# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which way to rewrite a call gains most, if any does, by the costs of a recorded trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hocket.rewrite.analysis import Analysis
from hocket.rewrite.blocks import Block, Item, blocks_of
from hocket.rewrite.call_order import Site as CallSite
from hocket.rewrite.costs import MOST_LEVELS, Costs, Prediction, in_parts, side_by_side, up_to_communication
from hocket.rewrite.pipelines import Pipeline
from hocket.rewrite.sites import Site
from hocket.rewrite.strips import Strip
from hocket.rewrite.symbols import Procedure
from hocket.rewrite.syntax import children, line_of, text_of
from hocket.rewrite.weights import Weights
from hocket.rewrite.windows import Parts, Window


@dataclass
class Judge:
    """`origins`: of each line of the present text (from 0) that of the original one."""

    costs: Costs
    analysis: Analysis
    origins: Mapping[Path, list[int]]
    weights: Weights = field(init=False)
    _callers: dict[int, list[tuple[Block, int]]] | None = None

    def __post_init__(self) -> None:
        self.weights = Weights(self.analysis)

    def knows(self, site: Site) -> bool:
        return all(one in self.costs.times.times for one in self._calls(site))

    def _calls(self, site: Site) -> list[CallSite]:
        if site.halves is None:
            return [self._original(site.procedure, site.item.line)]
        procedure = site.halves.procedure
        return [self._original(procedure, line_of(bound.node)) for _, bound in site.halves.calls]

    def _original(self, procedure: Procedure, line: int) -> CallSite:
        path = procedure.source.path
        return path, self.origins[path][line - 1] + 1

    def remember(self, site: Site) -> None:
        """Takes the computation around a call as it stands now for that which was recorded, if it is new."""
        if self.knows(site):
            self._rates(site)

    def of_window(self, site: Site) -> Prediction | None:
        """Side by side with the statements in the window; None if the costs are not known."""
        if not self.knows(site) or site.window is None:
            return None
        windows = [site.window, *([site.lift.window] if site.lift is not None else [])]
        computation_s = sum(self.window_s(site, one) for one in windows)
        return side_by_side([self.costs.times.times[one] for one in self._calls(site)], computation_s)

    def window_s(self, site: Site, window: Window) -> float:
        above, below = self._rates(site)
        sides = ((above, window.inside_above), (below, window.inside_below))
        return sum(rate * self._weight(parts, site.procedure) for rate, parts in sides)

    def of_strip(self, site: Site, strip: Strip, part_bytes: int) -> Prediction | None:
        if not self.knows(site):
            return None
        above, below = self._rates(site)
        loops = ((above, strip.above), (below, strip.below))
        seconds = [rate * self.weights.of(one.item, site.procedure) if one is not None else 0.0 for rate, one in loops]
        times = self.costs.times.times[self._calls(site)[0]]
        return in_parts(times, seconds[0], seconds[1], part_bytes, strip.above is not None)

    def of_pipeline(self, site: Site, pipeline: Pipeline) -> Prediction | None:
        """An iteration: its message is on its way beside the other stage of another iteration."""
        if not self.knows(site):
            return None
        above, below = self._rates(site)
        stages = ((above, pipeline.first), (below, pipeline.second))
        computation_s = sum(rate * self._weight(parts, site.procedure) for rate, parts in stages)
        return side_by_side([self.costs.times.times[one] for one in self._calls(site)], computation_s)

    def communication_s(self, site: Site) -> float:
        return sum(self.costs.times.times[one].communication_s for one in self._calls(site))

    def seconds(self, site: Site, item: Item, is_above: bool) -> float:
        """Of a statement beside a call."""
        return self._rates(site)[not is_above] * self.weights.of(item, site.procedure)

    def _rates(self, site: Site) -> tuple[float, float]:
        calls = self._calls(site)
        first, second = self._beside(site.block, site.index, True), self._beside(site.block, site.index, False)
        if site.halves is not None:  # what the procedure computes itself around its communication
            first += self._weight(site.halves.before, site.halves.procedure)
            second += self._weight(site.halves.after, site.halves.procedure)
        above, _ = self.costs.rates(calls[0], (first, second))
        _, below = self.costs.rates(calls[-1], (first, second))
        return above, below

    def _weight(self, parts: Iterable[Item | Parts], procedure: Procedure) -> float:
        return sum(self.weights.of(one, procedure) for one in parts)

    def _beside(self, block: Block, index: int, is_above: bool, level: int = 0) -> float:
        """Of all statements up to the neighbouring call of MPI, through loops, branches and callers."""
        items = self.analysis.items(block)[0]
        some = items[:index][::-1] if is_above else items[index + 1 :]
        found = up_to_communication(some)
        weight = self._weight(found, block.procedure)
        if len(found) < len(some):
            return weight
        if block.owner is not None and block.owner.type == "do_loop":
            others = items[index:][::-1] if is_above else items[: index + 1]
            return weight + self._weight(up_to_communication(others), block.procedure)
        if block.parent is not None and block.owner is not None:
            owner = block.owner.id
            outer = self.analysis.items(block.parent)[0]
            at = next(i for i, one in enumerate(outer) if one.node.id == owner)
            return weight + self._beside(block.parent, at, is_above, level)
        if level == MOST_LEVELS:
            return weight
        callers = [self._beside(*one, is_above, level + 1) for one in self._calls_of(block.procedure)]
        return weight + max(callers, default=0.0)

    def _calls_of(self, procedure: Procedure) -> list[tuple[Block, int]]:
        if self._callers is None:
            self._callers = {}
            for caller in self.analysis.program.procedures:
                for block in blocks_of(caller) if not self.analysis.problem(caller) else ():
                    for index, item in enumerate(self.analysis.items(block)[0]):
                        if item.node.type != "subroutine_call" or not item.effects.mpi:
                            continue
                        name = children(item.node)[1]
                        known = self.analysis.procedure(text_of(name), caller) if name.type == "identifier" else None
                        if known is not None:
                            self._callers.setdefault(id(known), []).append((block, index))
        return self._callers.get(id(procedure), [])
