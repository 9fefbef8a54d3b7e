# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Closed forms on a circuit-switched network, as figures 6 to 9 of [Takizawa] show them: time against size."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hocket.circuits.network import LESS_THAN_POSSIBLE, CircuitNetwork
from hocket.errors import InvalidInput
from hocket.reporter import SILENT, Reporter

POINTS_PER_DECADE = 4
LESS_NOTE = (
    "by equation 5 of [Takizawa], which counts the volume of an allgather; an alltoall along a hypercube moves more: "
    "hypercube"
)
IDEAL = "no set-up"
NAIVE = "a circuit a message"


@dataclass(frozen=True)
class CircuitCostRequest:
    """Times of every algorithm of `collectives` that has a closed form."""

    collectives: tuple[str, ...]
    ranks: int  #: one on each node
    ports: tuple[int, ...]  #: of a node; a curve for each
    bytes: int  #: of the largest message; of an allgather the block of a rank, unless `whole`
    setup_s: float
    teardown_s: float
    latency_s: float  #: of a message on a circuit
    bandwidth_bytes_per_s: float
    accounting: str = "equations"
    whole: bool = False  #: `bytes` counts what all ranks have together, as the paper does for an allgather

    def __post_init__(self) -> None:
        for ports in self.ports:
            self.network(ports)

    def network(self, ports: int) -> CircuitNetwork:
        """Raises InvalidInput for a number of ranks or ports out of range."""
        return CircuitNetwork(
            self.ranks, ports, self.setup_s, self.teardown_s, self.latency_s, self.bandwidth_bytes_per_s,
            self.accounting,
        )  # fmt: skip

    def algorithms(self) -> dict[str, tuple[str, ...]]:
        """Of each collective those with a closed form. Raises InvalidInput if one has none, or nothing is asked for."""
        from hocket import circuit_algorithms

        if self.bytes < 0:
            raise InvalidInput(f"bytes is {self.bytes}: expected at least 0")
        if not self.ports:
            raise InvalidInput("no number of ports is given", 'for instance: --ports "2,3,4"')
        found = {collective: tuple(circuit_algorithms(collective)) for collective in self.collectives}
        for collective, algorithms in found.items():
            if not algorithms:
                raise InvalidInput(f"no closed form on circuits for {collective}")
        return found

    def share(self, collective: str) -> int:
        """How many blocks `bytes` is; rooted collectives and allreduce have one message."""
        return self.ranks if self.whole and collective not in ("bcast", "reduce", "allreduce") else 1


@dataclass(frozen=True)
class Curve:
    name: str
    ports: int | None  #: None: a circuit for each message, or without set-up
    batches: int
    time_s: tuple[float, ...]  #: at each size of the figure


@dataclass(frozen=True)
class CircuitFigure:
    collective: str
    algorithm: str
    bytes: tuple[float, ...]  #: what the horizontal axis shows
    curves: tuple[Curve, ...]

    @property
    def is_less_than_possible(self) -> bool:
        return (self.collective, self.algorithm) == LESS_THAN_POSSIBLE


@dataclass(frozen=True)
class CircuitCosts:
    request: CircuitCostRequest
    figures: tuple[CircuitFigure, ...]

    @property
    def values(self) -> dict[str, Any]:
        return asdict(self.request) | {
            "figures": [
                asdict(figure) | {"less_than_possible": figure.is_less_than_possible} for figure in self.figures
            ]
        }

    def title(self) -> str:
        from hocket import print_bandwidth, print_bytes, print_duration

        one = self.request
        return (
            f"{print_bytes(one.bytes)} on {one.ranks} nodes, {print_duration(one.latency_s)} + n / "
            f"({print_bandwidth(one.bandwidth_bytes_per_s)}), circuits {print_duration(one.setup_s)} + "
            f"{print_duration(one.teardown_s)}, accounting: {one.accounting}"
        )

    def notes(self) -> list[str]:
        """What marks (*) in the rows mean."""
        marked = any(figure.is_less_than_possible for figure in self.figures)
        return [f"* {LESS_NOTE}"] if marked else []

    def rows(self) -> list[tuple[str, ...]]:
        """The time of the largest size, with the batches of circuits."""
        return [
            (
                f"{figure.collective} {figure.algorithm}{' *' if figure.is_less_than_possible else ''}",
                *(
                    f"{curve.time_s[-1] * 1e3:.3f} ms" + (f" ({curve.batches})" if curve.batches else "")
                    for curve in figure.curves
                ),
            )
            for figure in self.figures
        ]


def run(request: CircuitCostRequest, reporter: Reporter = SILENT) -> CircuitCosts:
    """Raises InvalidInput for a collective without a closed form, or a value out of range."""
    return CircuitCosts(
        request,
        tuple(
            _figure(request, collective, algorithm)
            for collective, algorithms in request.algorithms().items()
            for algorithm in algorithms
        ),
    )


def _figure(request: CircuitCostRequest, collective: str, algorithm: str) -> CircuitFigure:
    sizes = sizes_up_to(request.bytes)
    share = request.share(collective)
    network = request.network(max(request.ports))

    def costs(ports: int | None) -> list[dict[str, Any]]:
        return [network.cost(collective, algorithm, size / share, ports) for size in sizes]

    curves = [_curve(NAIVE, None, costs(None))]
    curves += [_curve(f"{k} port{'s' * (k > 1)}", k, costs(k)) for k in request.ports]
    ideal = costs(max(2, *request.ports))
    curves.append(Curve(IDEAL, None, 0, tuple(cost["messages_s"] for cost in ideal)))
    return CircuitFigure(collective, algorithm, sizes, tuple(curves))


def _curve(name: str, ports: int | None, costs: list[dict[str, Any]]) -> Curve:
    return Curve(name, ports, costs[-1]["batches"], tuple(cost["total_s"] for cost in costs))


def sizes_up_to(largest: int) -> tuple[float, ...]:
    """From 1 byte, evenly on a logarithmic axis; the last is `largest`."""
    sizes = []
    number = 0
    while (size := round(10 ** (number / POINTS_PER_DECADE))) < largest:
        sizes.append(float(size))
        number += 1
    return (*dict.fromkeys(sizes), float(largest))
