# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket simulate` asks for, and what it gets."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.cost.source import OF_NETWORK, CostSource
from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource
from hocket.plan import Plan
from hocket.reporter import SILENT, Reporter
from hocket.simulation.circuits import circuit_use
from hocket.simulation.parallel import available_cores
from hocket.simulation.patterns import PARAMETERS, Pattern, pattern_kind
from hocket.simulation.programs import (
    ProgramOptions,
    Recorded,
    Refused,
    Request,
    Simulated,
    kind_of,
    simulate_what,
)
from hocket.simulation.what_if import AS_RECORDED, WhatIf

if TYPE_CHECKING:
    from hocket.report.recorded_simulation import RecordedSimulation

_OF_PATTERNS = frozenset({"ranks", "in_flight", "threads", "links"})
#: What is simulated -> the values of a request that mean something for it; the others of _CONDITIONAL do not.
APPLICABLE: dict[str, frozenset[str]] = {
    "collective": frozenset({"bytes", "root", "segments", "order", "threads", "costs", "circuit_policy", "pin"}),
    "schedule": frozenset({"bytes", "costs", "circuit_policy", "pin"}),
    "program": frozenset({"costs", "circuit_policy", "pin", "what_if"}),
    "trace": frozenset({"plan", "costs", "circuit_policy", "pin", "what_if"}),
    **{name: parameters | _OF_PATTERNS for name, parameters in PARAMETERS.items()},
}
APPLICABLE["matrix"] -= {"ranks"}
_CONDITIONAL = frozenset[str]().union(*APPLICABLE.values()) - {"costs"}


@dataclass(frozen=True)
class SimulateRequest:
    """None = as suits what is simulated: see `hocket simulate --help`."""

    what: str  #: a pattern, a collective, COLLECTIVE:ALGORITHM, or the file of a schedule, a program or a trace
    network: NetworkSource
    costs: CostSource = OF_NETWORK  #: of a pattern `sharing` alone
    bytes: int | None = None
    root: int = 0
    segments: int = 1
    order: str = "rank"  #: or "depth-first"
    plan: Path | None = None  #: of the collectives of a trace
    ranks: int | None = None  #: of a pattern, as the following
    messages: int | None = None
    spread: float | None = None
    seed: int | None = None
    distance: int | None = None
    target: int | None = None
    grid: tuple[int, ...] | None = None
    periodic: bool = False
    in_flight: int | None = None
    links: bool = False  #: count their bytes
    threads: int | None = None
    circuit_policy: str | None = None  #: "naive", "batch", "lazy" or "pinned"; None = lazy, if the network has circuits
    pin: str | None = None  #: circuits of the policy "pinned": "ring", "hypercube", or pairs of ranks: "0-1,1-2"
    what_if: WhatIf = AS_RECORDED  #: changes of what ranks compute
    reference: bool = False
    record: bool = False  #: links and messages over time, for files and pages

    @property
    def kind(self) -> str:
        """The name of the pattern, or "collective", "schedule", "program" or "trace"."""
        return pattern_kind(self.what) or kind_of(self.what)


@dataclass(frozen=True)
class Simulation:
    make_values: Callable[[], dict[str, Any]]
    completed: bool
    simulated_s: float  #: until its end, or until it was stopped
    record: Callable[[], RecordedSimulation]  #: of a request with `record`
    notes: tuple[str, ...] = ()  #: why it is not the whole
    recorded: Recorded | None = None  #: what is known of a trace
    found: tuple[Simulated, ...] = ()  #: of programs, in the order of their ends
    refused: tuple[Refused, ...] = ()

    @cached_property
    def values(self) -> dict[str, Any]:
        """What JSON has; documented in docs/reference/commands.md. With every link that carried bytes."""
        return self.make_values()


def run(request: SimulateRequest, reporter: Reporter = SILENT) -> Simulation:
    """@raises InvalidInput if a value of the request does not fit what is simulated, or is out of range."""
    kind = request.kind
    for name, default in _without_meaning(kind):
        if getattr(request, name) != default:
            raise InvalidInput(f"{name} does not apply to {kind}", "leave it out")
    if kind not in PARAMETERS:
        return _of_program(request, reporter)
    if request.costs != CostSource(sharing=request.costs.sharing):
        raise InvalidInput(f"costs beside sharing do not apply to {kind}", "leave them out")
    return _of_pattern(request, reporter)


@cache
def _without_meaning(kind: str) -> list[tuple[str, Any]]:
    """Values that mean nothing for what is simulated, and their defaults."""
    defaults = {field.name: field.default for field in fields(SimulateRequest)}
    return [(name, defaults[name]) for name in sorted(_CONDITIONAL - APPLICABLE[kind])]


def _of_pattern(request: SimulateRequest, reporter: Reporter) -> Simulation:
    from hocket.simulation.traffic import RunOptions, simulate_pattern

    done = simulate_pattern(
        _pattern(request),
        request.network.load_fabric,
        RunOptions(
            sharing=request.costs.sharing or "maxmin",
            in_flight=request.in_flight,
            threads=request.threads or (1 if request.reference else available_cores()),
            reference=request.reference,
            count_links=request.links,
            record=request.record,
        ),
        reporter.progress,
    )
    values = done.to_dict() | {"routing": _routing(request.network)}

    def record() -> RecordedSimulation:
        from hocket.simulation.record import recorded_traffic

        return recorded_traffic(done, values)

    return Simulation(lambda: values, done.result.completed, done.result.simulated_s, record)


def _pattern(request: SimulateRequest) -> Pattern:
    name, _, file = request.what.partition(":")
    if name == "matrix" and not file:
        raise InvalidInput("matrix: the file is missing", "write matrix:FILE")
    if request.ranks is not None and request.grid is not None:
        raise InvalidInput("--ranks does not go with --grid", "the grid gives the number of ranks")
    names = ("bytes", "spread", "messages", "ranks", "seed", "distance", "target", "grid", "periodic")
    given = {name: getattr(request, name) for name in names} | {"matrix_file": Path(file) if file else None}
    return Pattern(name, **{name: value for name, value in given.items() if value is not None})


def _routing(network: NetworkSource) -> str | None:
    """The rule that routes follow; None = that of the network file."""
    own = {"fat-tree": "d-mod-k", "dragonfly": "minimal", "torus": "dimension-order", "mesh": "dimension-order",
           "hypercube": "dimension-order", "star": "the only path", "tree": "the only path",
           "two-clusters": "the only path"}  # fmt: skip
    kind, colon, _ = network.name.partition(":")
    return network.routing or (own.get(kind) if colon else None)


def _of_program(request: SimulateRequest, reporter: Reporter) -> Simulation:
    from hocket.simulation.statistics import peak_rss_bytes
    from hocket.traces.rank_summary import shortfalls

    begin_s = time.perf_counter()
    plan = None if request.plan is None else Plan.from_file(request.plan)
    network = request.network.load()
    if network.has_circuits:
        _refuse_without_effect(request, network.name)
    costs = request.costs.model(network)
    setup_s = time.perf_counter() - begin_s
    found, refused = simulate_what(
        request.what,
        network,
        Request(request.bytes, request.root, request.segments, request.order == "depth-first"),
        costs,
        plan,
        ProgramOptions(
            request.reference,
            request.record,
            request.threads or available_cores(),
            reporter.progress,
            circuit_use(network, request.circuit_policy, request.pin),
            request.what_if,
        ),
    )
    stopped = [one.timeline for one in found if not one.timeline.completed]
    solve_s = time.perf_counter() - begin_s - setup_s

    def values() -> dict[str, Any]:
        made: dict[str, Any] = {
            "network": network.name,
            "sharing": "none" if network.has_circuits else costs.sharing,
            "reference": request.reference,
            "completed": not stopped,
            "setup_s": setup_s,
            "solve_s": solve_s,
            "peak_rss_bytes": peak_rss_bytes(),
            "results": [one.to_dict(network) for one in found],
        }
        if request.what_if != AS_RECORDED:
            made["what_if"] = request.what_if.to_dict()
        if refused:
            made["refused"] = [{"name": one.name, "reason": one.reason} for one in refused]
        return made

    def record() -> RecordedSimulation:
        from hocket.simulation.record import recorded_program

        return recorded_program(found[0], network, values())

    recorded, reached_s = found[0].recorded, (stopped or [found[0].timeline])[0].makespan_s
    notes = (*recorded.filters, *shortfalls(recorded.incomplete)) if recorded else found[0].notes
    return Simulation(values, not stopped, reached_s, record, notes, recorded, tuple(found), tuple(refused))


def _refuse_without_effect(request: SimulateRequest, network: str) -> None:
    """On circuits."""
    for given, option, why in (
        (request.costs.sharing is not None, "--sharing", "a circuit shares no bandwidth"),
        (
            request.costs.rendezvous_bytes is not None,
            "--rendezvous",
            "a message waits for a circuit, not for a receiver",
        ),
        (request.reference, "--reference", "a circuit shares no bandwidth, and there are no rates to compute anew"),
    ):
        if given:
            raise InvalidInput(f"{option} does not apply to {network}, which has circuits: {why}", "leave it out")
