# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket trace analyse` asks for, and what it gets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.cost.source import OF_NETWORK, CostSource
from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource
from hocket.plan import Plan
from hocket.reporter import SILENT, Reporter
from hocket.traces.analysed import Drift, ProgramAnalysis
from hocket.traces.analysis import ProgramRun, RecordedRun, drift, recorded_run, simulated_run
from hocket.traces.replay import replay, replay_at
from hocket.traces.timeline_levels import MOST_CELLS, timeline_levels
from hocket.traces.trace import Trace

if TYPE_CHECKING:
    from hocket import CostModel, Network


@dataclass(frozen=True)
class AnalysisRequest:
    trace: Path
    network: NetworkSource | None = None  #: None = the recorded run alone
    costs: CostSource = OF_NETWORK
    plan: Path | None = None  #: of the simulated run's collectives


@dataclass(frozen=True)
class Analysis:
    title: str
    recorded: RecordedRun
    simulated: ProgramRun | None
    drift: Drift | None  #: of the simulated run
    notes: tuple[str, ...]

    @property
    def values(self) -> dict[str, Any]:
        return self.found().values

    def found(self, most_cells: int = 0) -> ProgramAnalysis:
        """With timelines of that many cells each at most, unless it is 0."""
        runs = [self.recorded] if self.simulated is None else [self.recorded, self.simulated]
        span_s = max(run.span_s for run in runs)
        timed = most_cells > 0 and span_s > 0
        found = [run.found(timeline_levels(run, span_s, most_cells) if timed else None) for run in runs]
        return ProgramAnalysis(self.title, found[0], found[1] if len(found) > 1 else None, self.drift, list(self.notes))

    def drawn(self) -> ProgramAnalysis:
        """For a page."""
        return self.found(MOST_CELLS)


def run(request: AnalysisRequest, reporter: Reporter = SILENT) -> Analysis:
    """Raises InvalidInput for a trace, network or plan that cannot be used."""
    if request.network is None and (request.plan is not None or request.costs != OF_NETWORK):
        raise InvalidInput("a plan and costs are of a simulation, which needs a network", "name it with --network")
    trace = Trace.open(request.trace)
    notes = tuple(trace.shortfalls())
    with reporter.steps("analysing", None) as advance:
        if request.network is None:
            advance("the recorded run")
            return Analysis(_title(trace), recorded_run(trace, replay(trace, call_ops=True)), None, None, notes)
        network = request.network.load()
        if network.has_circuits:
            raise InvalidInput(
                f"{network.name} has circuits, whose waiting is not analysed", "hocket simulate shows their ports"
            )
        if trace.ranks > network.num_ranks:
            raise InvalidInput(
                f"{request.trace}: {trace.ranks} ranks; {network.name} has {network.num_ranks}",
                "name a larger network",
            )
        costs = request.costs.model(network)
        plan = None if request.plan is None else Plan.from_file(request.plan)
        if plan is not None:
            plan.check_ranks(trace.ranks)
        advance("simulating, wait states and critical paths")
        return analyse(trace, network, costs, plan, notes=notes)


def analyse(
    trace: Trace,
    network: Network,
    costs: CostModel,
    plan: Plan | None = None,
    measured: Trace | None = None,
    notes: tuple[str, ...] = (),
) -> Analysis:
    """The recorded run, and the simulated one with the plan beside it.

    `measured`: another recording of the same program, which stands for the recorded run: with the plan, say, where
    `trace`, from which the run is predicted, is native.
    """
    from hocket.simulation.programs import described

    replayed = replay_at(costs, trace, plan, call_ops=True)
    simulated = simulated_run(trace, replayed, network, costs)
    recorded = recorded_run(trace, replayed) if measured is None else _recorded(measured)
    left_out = tuple(f"not simulated: {described(one)}" for one in replayed.left_out)
    return Analysis(_title(trace), recorded, simulated, drift(recorded, simulated), (*notes, *left_out))


def _recorded(trace: Trace) -> RecordedRun:
    return recorded_run(trace, replay(trace, call_ops=True))


def _title(trace: Trace) -> str:
    return " ".join(map(str, trace.meta.get("program") or [Path(trace.folder).name]))
