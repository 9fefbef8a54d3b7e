# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket trace analyse` asks for, and what it gets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket.cost.source import OF_NETWORK, CostSource
from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource
from hocket.plan import Plan
from hocket.reporter import SILENT, Reporter
from hocket.traces.analysis import Drift, ProgramRun, RecordedRun, drift, recorded_run, simulated_run
from hocket.traces.replay import replay, replay_at
from hocket.traces.trace import Trace

FORMAT = "hocket.trace-analysis/1"


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
        found: dict[str, Any] = {"format": FORMAT, "title": self.title, "recorded": self.recorded.to_dict()}
        if self.simulated is not None and self.drift is not None:
            found |= {"simulated": self.simulated.to_dict(), "drift": vars(self.drift)}
        return found | {"notes": list(self.notes)}


def run(request: AnalysisRequest, reporter: Reporter = SILENT) -> Analysis:
    """Raises InvalidInput for a trace, network or plan that cannot be used."""
    if request.network is None and (request.plan is not None or request.costs != OF_NETWORK):
        raise InvalidInput("a plan and costs are of a simulation, which needs a network", "name it with --network")
    trace = Trace.open(request.trace)
    notes = trace.shortfalls()
    with reporter.steps("analysing", None) as advance:
        if request.network is None:
            advance("the recorded run")
            replayed = replay(trace, call_ops=True)
            recorded, simulated = recorded_run(trace, replayed), None
        else:
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
            advance("simulating")
            replayed = replay_at(costs, trace, plan, call_ops=True)
            simulated = simulated_run(trace, replayed, network, costs)
            advance("wait states and critical paths")
            recorded = recorded_run(trace, replayed)
    from hocket.simulation.programs import described

    notes += [f"not simulated: {described(one)}" for one in replayed.left_out if simulated is not None]
    title = " ".join(map(str, trace.meta.get("program") or [request.trace.name]))
    return Analysis(title, recorded, simulated, None if simulated is None else drift(recorded, simulated), tuple(notes))
