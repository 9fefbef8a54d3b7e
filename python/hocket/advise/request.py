# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket advise` asks for: a plan for a recorded program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket.advise.advise import Advice, advise
from hocket.advise.calls import check_starts_by_init, group_calls, unserved_calls
from hocket.advise.cover import Verdict, cover
from hocket.advise.summary import reasons, to_dict
from hocket.cost.source import OF_NETWORK, CostSource
from hocket.networks.source import NetworkSource
from hocket.plan import Plan
from hocket.reporter import SILENT, Reporter
from hocket.traces.trace import Trace


@dataclass(frozen=True)
class AdviseRequest:
    trace: Path
    network: NetworkSource
    costs: CostSource = OF_NETWORK


@dataclass(frozen=True)
class Advised:
    advice: Advice
    plan: Plan  #: with entries for other sizes and roots than the recorded ones
    ranks: int
    shortfalls: tuple[str, ...]  #: why the trace is a part of the program's run
    sentences: tuple[str, ...]  #: why calls stay native

    @property
    def values(self) -> dict[str, Any]:
        return to_dict(self.advice)


def run(request: AdviseRequest, reporter: Reporter = SILENT) -> Advised:
    network = request.network.load()
    costs = request.costs.model(network)
    trace = Trace.open(request.trace)
    check_starts_by_init(trace)
    with reporter.steps("simulating", None) as advance:
        groups = group_calls(trace, network=network)
        advice = advise(groups, network, trace.ranks, costs, progress=lambda *_: advance(""))
        verdicts = [Verdict(choice, None if choice.reason else choice.entry()) for choice in advice.choices]
        entries = cover(verdicts, network, costs)
    plan = advice.plan.replace(entries=entries, hosts=trace.hosts)
    sentences = (*reasons(advice), *unserved_calls(trace))
    return Advised(advice, plan, trace.ranks, tuple(trace.shortfalls()), sentences)
