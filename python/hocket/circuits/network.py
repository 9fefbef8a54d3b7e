# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A circuit-switched network as the closed forms of [Takizawa] have it: equal nodes, and what circuits cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput
from hocket.networks.routes import slowest_route

if TYPE_CHECKING:
    from hocket import Network

#: The alltoall of [Takizawa], equation 5, has the volume of an allgather, which no alltoall can do with.
LESS_THAN_POSSIBLE = ("alltoall", "recursive_doubling")

#: What the closed forms suppose, as a table [circuits] has it.
_SUPPOSED = {"injection": "one", "stop": "all", "controller": "parallel"}
_INSTEAD = "`hocket simulate` knows it; or leave --network out, and give --ranks, --ports and the other values"


@dataclass(frozen=True)
class CircuitNetwork:
    ranks: int  #: one on each node
    ports: int  #: of each
    setup_s: float
    teardown_s: float
    latency_s: float  #: of a message on a circuit
    bandwidth_bytes_per_s: float
    accounting: str = "equations"

    def __post_init__(self) -> None:
        """Raises InvalidInput; times and bandwidth are checked with the first algorithm."""
        for what, number in (("ranks", self.ranks), ("ports", self.ports)):
            if not 1 <= number < 2**31:
                raise InvalidInput(f"number of {what} is {number}: expected 1 to {2**31 - 1}")

    @property
    def exchange_s(self) -> float:
        """From one configuration to the next."""
        if self.accounting == "equations":
            return self.setup_s + self.teardown_s
        return max(self.setup_s, self.teardown_s)

    def connection_s(self, configurations: int) -> float:
        """Of configurations one after another, from the first set-up to the last teardown."""
        if configurations == 0:
            return 0.0
        return self.setup_s + (configurations - 1) * self.exchange_s + self.teardown_s

    def cost(self, collective: str, algorithm: str, num_bytes: float, ports: int | None) -> dict[str, Any]:
        """`hocket.circuit_cost` with `ports`, or None: a circuit for each message."""
        from hocket import circuit_cost

        return circuit_cost(
            collective=collective,
            algorithm=algorithm,
            num_ranks=self.ranks,
            ports=ports,
            bytes=num_bytes,
            latency_s=self.latency_s,
            bandwidth_bytes_per_s=self.bandwidth_bytes_per_s,
            setup_s=self.setup_s,
            teardown_s=self.teardown_s,
            accounting=self.accounting,
        )


def values_of(network: Network, ranks: int | None = None) -> dict[str, Any]:
    """What a network gives of a `CircuitNetwork`: `ranks` (None = all), latency and bandwidth of the slowest route from
    rank 0, and of a table [circuits] the rest.

    Raises InvalidInput for what the closed forms do not know, such as nodes with different numbers of ports.
    """
    ranks = network.num_ranks if ranks is None else ranks
    if ranks > network.num_ranks:
        raise InvalidInput(f"{ranks} ranks: {network.name} has {network.num_ranks}", "give fewer with --ranks")
    if len(set(network.rank_hosts[:ranks])) < ranks:
        raise InvalidInput(f"{network.name}: several ranks share a host, and closed forms have one on each", _INSTEAD)
    latency_s, bandwidth_bytes_per_s = slowest_route(network, ranks)
    found = {"ranks": ranks, "latency_s": latency_s, "bandwidth_bytes_per_s": bandwidth_bytes_per_s}
    circuits = network.circuits
    if circuits is None:
        return found
    for key, value in _SUPPOSED.items():
        if circuits[key] != value:
            raise InvalidInput(f'{network.name}: {key} = "{circuits[key]}": closed forms are of "{value}"', _INSTEAD)
    for unknown, what in (
        (circuits["node_ports"], "[[circuits.node]]: closed forms are of nodes with equal ports"),
        (circuits["changes"], "[[circuits.change]]: closed forms are of a network that stays as it is"),
        (circuits["max_circuits"], "max_circuits: closed forms know no limit of circuits"),
        (circuits["wavelengths"] or circuits["cable_wavelengths"], "closed forms know no limit of wavelengths"),
    ):
        if unknown:
            raise InvalidInput(f"{network.name}: {what}", _INSTEAD)
    return found | {key: circuits[key] for key in ("ports", "setup_s", "teardown_s", "accounting")}
