# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Crossover maps on a circuit-switched network: the fastest closed form over set-up time and size.

`LESS_THAN_POSSIBLE` is none of them: a map shows what can be done.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from hocket.circuits.costs import CircuitCostRequest, sizes_up_to
from hocket.circuits.network import LESS_THAN_POSSIBLE
from hocket.errors import InvalidInput
from hocket.reporter import SILENT, Reporter

POINTS_PER_DECADE = 4  # of set-up times


@dataclass(frozen=True)
class CircuitMapRequest:
    """A map for each collective and number of ports of `costs`.

    Set-up and teardown keep their proportion; their sum goes from its value divided by `factor` to `factor` times it.
    """

    costs: CircuitCostRequest
    factor: float = 100.0


@dataclass(frozen=True)
class CircuitMap:
    collective: str
    ports: int
    connection_s: tuple[float, ...]  #: rows: set-up and teardown of a circuit together
    bytes: tuple[float, ...]  #: columns
    algorithms: tuple[str, ...]
    fastest: tuple[tuple[int, ...], ...]  #: a number in `algorithms`
    time_s: tuple[tuple[float, ...], ...]  #: of the fastest
    naive_s: tuple[tuple[float, ...], ...]  #: of the fastest with a circuit for each message


@dataclass(frozen=True)
class CircuitMaps:
    request: CircuitMapRequest
    maps: tuple[CircuitMap, ...]

    @property
    def values(self) -> dict[str, Any]:
        return asdict(self.request) | {"maps": [asdict(one) for one in self.maps]}


def run(request: CircuitMapRequest, reporter: Reporter = SILENT) -> CircuitMaps:
    """Raises InvalidInput for a collective without a closed form, or a value out of range."""
    costs = request.costs
    if costs.setup_s + costs.teardown_s <= 0:
        raise InvalidInput("set-up and teardown take no time: a map over them has no range", "give --setup 5ms")
    if not 1 < request.factor < 1e9:
        raise InvalidInput(f"factor is {request.factor:g}: expected more than 1 and less than 1e9")
    if costs.bytes < 1:
        raise InvalidInput("a map over sizes begins at 1 B", "give --bytes 1MB")
    algorithms = {
        collective: tuple(name for name in names if (collective, name) != LESS_THAN_POSSIBLE)
        for collective, names in costs.algorithms().items()
    }
    wanted = [(collective, ports) for collective in costs.collectives for ports in costs.ports]
    maps = []
    with reporter.steps("comparing algorithms", len(wanted)) as following:
        for collective, ports in wanted:
            maps.append(_map(request, collective, algorithms[collective], ports))
            following(f"{collective}, {ports} port{'s' * (ports > 1)}")
    return CircuitMaps(request, tuple(maps))


def _map(request: CircuitMapRequest, collective: str, algorithms: tuple[str, ...], ports: int) -> CircuitMap:
    costs = request.costs
    network = costs.network(ports)
    connections = _connections(costs.setup_s + costs.teardown_s, request.factor)
    sizes = sizes_up_to(costs.bytes)
    share = costs.share(collective)
    setup = costs.setup_s / (costs.setup_s + costs.teardown_s)

    fastest, time_s, naive_s = [], [], []
    for connection_s in connections:
        here = replace(network, setup_s=setup * connection_s, teardown_s=(1 - setup) * connection_s)
        row, naive = (
            [[here.cost(collective, one, size / share, k)["total_s"] for one in algorithms] for size in sizes]
            for k in (ports, None)
        )
        fastest.append(tuple(times.index(min(times)) for times in row))
        time_s.append(tuple(min(times) for times in row))
        naive_s.append(tuple(min(times) for times in naive))
    return CircuitMap(collective, ports, connections, sizes, algorithms, tuple(fastest), tuple(time_s), tuple(naive_s))


def _connections(middle_s: float, factor: float) -> tuple[float, ...]:
    """Evenly on a logarithmic axis; `middle_s` is among them."""
    steps = math.ceil(math.log10(factor) * POINTS_PER_DECADE)
    return tuple(middle_s * factor ** (step / steps) for step in range(-steps, steps + 1))
