# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket bench circuits` asks for, and its run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hocket.bench.circuits.measure import MessageCost, measure_messages, run_schedules
from hocket.bench.common import chosen_mpis
from hocket.circuits.batches import ALGORITHMS, schedule_of
from hocket.circuits.schedules import CircuitInstance, solve
from hocket.errors import Error, InvalidInput
from hocket.reporter import SILENT, Reporter

if TYPE_CHECKING:
    from hocket.mpi.discover import Mpi
    from hocket.testbed import Testbed

FORMAT = "hocket.circuits/1"
COLLECTIVES = ("bcast", "allgather")  # which have algorithms of [Takizawa]
_LIMIT_S = 1.0  # of a search


@dataclass(frozen=True)
class CircuitBenchRequest:
    mpis: tuple[str, ...] = ()  #: parts of their names; none = all
    ranks: int = 8  #: one on each host
    ports: tuple[int, ...] = (2, 3, 4)  #: of a host
    bytes: int = 131_072  #: the message of bcast, the block of a rank of allgather
    setup_s: float = 5e-3
    teardown_s: float = 5e-3
    accounting: str = "equations"
    controller: str = "parallel"  #: or "serial": one set-up or teardown at a time
    bandwidth: str = "100 Mbit/s"  #: of the link of a host
    collectives: tuple[str, ...] = COLLECTIVES
    rounds: int = 5
    timeout_s: float = 120.0  #: of a launch


@dataclass(frozen=True)
class CircuitBenchResult:
    values: dict[str, Any]  #: the document of format hocket.circuits/1; its rows may be none


@dataclass(frozen=True)
class _Case:
    collective: str
    algorithm: str
    found: bool  # by the search, not by equations
    ports: int | None  # None: a circuit for each message
    instance: CircuitInstance
    predicted_s: float
    schedule: dict[str, Any]


def run(request: CircuitBenchRequest, reporter: Reporter = SILENT) -> CircuitBenchResult:
    from hocket import Network, __version__
    from hocket.testbed import Testbed
    from hocket.testbed.layout import make_circuit_layout

    _check(request)
    mpis = chosen_mpis(request.mpis)
    network = Network.generate(f"star:{request.ranks}", bandwidth=request.bandwidth)
    rows: list[dict[str, Any]] = []
    costs: dict[str, dict[str, Any]] = {}
    failures: list[str] = []
    with (
        Testbed(make_circuit_layout(network)) as bed,
        reporter.steps("circuits", 2 * len(mpis)) as advance,
    ):
        for mpi in mpis:
            try:
                cost, of_mpi = _measure(request, mpi, bed, reporter, advance)
            except Error as error:
                failures.append(f"{mpi.name}: {error}")
                reporter.message(failures[-1])
                continue
            costs[mpi.name] = asdict(cost)
            rows += of_mpi
        notes = list(bed.notes)
    return CircuitBenchResult(
        {
            "format": FORMAT,
            "hocket": __version__,
            "request": asdict(request),
            "messages": costs,
            "rows": rows,
            "notes": notes,
            "failures": failures,
        }
    )


def _check(request: CircuitBenchRequest) -> None:
    for collective in request.collectives:
        if collective not in COLLECTIVES:
            raise InvalidInput(f"--collective: {collective} is none of {', '.join(COLLECTIVES)}")
    if not request.ports or min(request.ports) < 1:
        raise InvalidInput("--ports: expected whole numbers, at least 1", 'for instance: --ports "2,3,4"')
    if request.ranks < 2:
        raise InvalidInput(f"--ranks is {request.ranks}: expected at least 2")
    if request.bytes < 1:
        raise InvalidInput("--bytes: 0 bytes are nothing to send", "give 1 B or more")


def _measure(
    request: CircuitBenchRequest, mpi: Mpi, bed: Testbed, reporter: Reporter, advance: Any
) -> tuple[MessageCost, list[dict[str, Any]]]:
    from hocket.measure.testbed import TestbedRunner
    from hocket.mpi.build import build_mpi_parts, build_probe

    parts = build_mpi_parts(mpi, report=reporter.message)
    build_probe(mpi, "hocket-circuits", report=reporter.message)
    runner = TestbedRunner(mpi, bed, parts.workarounds)
    advance(f"{mpi.name}: messages")
    cost = measure_messages(request.bytes, runner, request.timeout_s)
    cases = [case for collective in request.collectives for case in _cases(request, collective, cost)]
    advance(f"{mpi.name}: {len(cases)} schedules")
    times = run_schedules(
        [(asdict(case.instance), case.schedule) for case in cases], request.rounds, runner, request.timeout_s
    )
    return cost, [
        _row(mpi.name, case, [one.time_s for one in rounds]) for case, rounds in zip(cases, times, strict=True)
    ]


def _cases(request: CircuitBenchRequest, collective: str, cost: MessageCost) -> list[_Case]:
    def instance(ports: int) -> CircuitInstance:
        return CircuitInstance(
            collective,
            request.ranks,
            ports,
            request.bytes,
            request.setup_s,
            request.teardown_s,
            cost.alpha_s,
            cost.beta_s_per_byte,
            accounting=request.accounting,
            controller=request.controller,
        )

    cases = []
    for of, algorithm in ALGORITHMS:
        if of != collective or (algorithm == "recursive_doubling" and request.ranks & (request.ranks - 1)):
            continue
        for ports in (None, *dict.fromkeys(request.ports)):
            one = instance(ports or 1)
            plan = schedule_of(one, algorithm, naive=ports is None)
            cases.append(_Case(collective, algorithm, False, ports, one, plan.makespan_s, plan.schedule))
    for ports in dict.fromkeys(request.ports):
        answer = solve(instance(ports), _LIMIT_S)
        cases.append(
            _Case(collective, answer.algorithm, True, ports, answer.instance, answer.makespan_s, answer.schedule)
        )
    return cases


def _row(mpi: str, case: _Case, times_s: Sequence[float]) -> dict[str, Any]:
    measured_s = statistics.median(times_s)
    return {
        "mpi": mpi,
        "collective": case.collective,
        "algorithm": case.algorithm,
        "found": case.found,
        "ports": case.ports,
        "configurations": len({circuit["configuration"] for circuit in case.schedule["circuits"]}),
        "predicted_s": case.predicted_s,
        "measured_s": measured_s,
        "error": measured_s / case.predicted_s - 1,
        "times_s": list(times_s),
    }
