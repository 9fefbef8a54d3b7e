# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket tune` asks for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket import CostModel
from hocket.cost.source import OF_NETWORK, CostSource
from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource
from hocket.report.result import RESULT_FILE, Result
from hocket.reporter import SILENT, Reporter
from hocket.tune.summary import summary
from hocket.tune.tune import TuneOptions, tune

if TYPE_CHECKING:
    from hocket import Network


@dataclass(frozen=True)
class TuneRequest:
    command: tuple[str, ...]  #: that starts the MPI program
    network: NetworkSource
    output: Path = Path("hocket-result")  #: the folder for the result
    costs: CostSource = OF_NETWORK
    fit: bool = True  #: measure what messages cost, unless `costs` say it
    testbed: bool = False  #: emulate the network on this machine
    repetitions: int | None = None  #: runs of the program with the plan, and without; None = as there is time for
    launches: int = 3  #: of the program that measures the collectives, at most
    measure_s: float | None = None  #: for that; None = as there is time for
    timeout_s: float | None = None  #: of a run
    progress: str = "off"  #: in the background: one of hocket.plan.PROGRESS
    force: bool = False  #: replace an earlier result
    standard_input: bool = False  #: each run of the program gets what the standard input of this process holds


@dataclass(frozen=True)
class Tuned:
    result: Result
    folder: Path

    @property
    def values(self) -> dict[str, Any]:
        return summary(self.result, self.folder)


def run(request: TuneRequest, reporter: Reporter = SILENT) -> Tuned:
    network = request.network.load()
    costs, source, fit = known_costs(network, request.costs, request.fit)
    options = TuneOptions(
        repetitions=request.repetitions,
        launches=request.launches,
        measure_s=request.measure_s,
        testbed=request.testbed,
        timeout_s=request.timeout_s,
        progress=request.progress,
        costs=costs,
        costs_source=source,
        fit=fit,
        standard_input=0 if request.standard_input else None,
    )
    if not request.force and (request.output / RESULT_FILE).exists():
        raise InvalidInput(
            f"{request.output}: holds an earlier result", hint="--force replaces it; -o names another folder"
        )
    return Tuned(tune(request.command, network, request.output, options, reporter), request.output)


def known_costs(network: Network, given: CostSource, fit: bool) -> tuple[CostModel, str, bool]:
    """What is known before anything is measured, where it comes from, and whether the rest is to be measured."""
    costs = given.model(network)
    if given.rendezvous_bytes is None and given.folder is None and given.base is None:
        # It is measured with this MPI: the network may be calibrated with another.
        costs = costs.replace(rendezvous_bytes=None)
    source = _source(network, given)
    return costs, source, fit and source != "given"


def _source(network: Network, given: CostSource) -> str:
    if (given.base, given.folder, given.send_overhead_s, given.receive_overhead_s) != (None, None, None, None):
        return "given"
    if CostModel.of(network).replace(rendezvous_bytes=None) != CostModel.usual():
        return "calibrated"
    return "usual"
