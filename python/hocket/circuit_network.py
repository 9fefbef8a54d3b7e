# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A circuit-switched network as the closed forms of [Takizawa] have it: equal nodes, and what circuits cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hocket.errors import InvalidInput


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
