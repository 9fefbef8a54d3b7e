# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a message costs beside its time on the wire. It decides the chunk size: small chunks fill a pipeline sooner and
pay more of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hocket import Network, Program, Timeline


# From here on MPIs over TCP ask the receiver first, where nothing else is known (Open MPI's btl_tcp_eager_limit).
USUAL_RENDEZVOUS_BYTES = 65536


@dataclass(frozen=True)
class MessageCosts:
    """Defaults are for MPI over kernel TCP on a current x86 core; `hocket advise --help` has options for them."""

    send_overhead_s: float = 15e-6
    receive_overhead_s: float = 15e-6
    reduce_bytes_per_s: float = 2e9
    rendezvous_bytes: int | None = None  # None = not known
    sharing: str = "maxmin"
    # As of the options of `hocket.simulate`.
    host_overhead_s: float | None = None
    wake_s: float = 0.0
    copy_bytes_per_s: float = math.inf
    link_efficiency: float = 1.0
    cores: int = 0
    burst_bytes: float = 0.0
    burst_s: float = 0.0

    @property
    def rendezvous_limit_bytes(self) -> int:
        """The size from which on a message waits for its receiver."""
        return USUAL_RENDEZVOUS_BYTES if self.rendezvous_bytes is None else self.rendezvous_bytes

    def simulate(self, program: Program, network: Network, record_links: bool = False, **more: Any) -> Timeline:
        """`more` goes to `hocket.simulate`."""
        from hocket import simulate

        return simulate(
            program,
            network,
            sharing=self.sharing,
            send_overhead_s=self.send_overhead_s,
            receive_overhead_s=self.receive_overhead_s,
            reduce_bytes_per_s=self.reduce_bytes_per_s,
            rendezvous_bytes=self.rendezvous_limit_bytes,
            record_links=record_links,
            host_overhead_s=self.host_overhead_s,
            wake_s=self.wake_s,
            copy_bytes_per_s=self.copy_bytes_per_s,
            link_efficiency=self.link_efficiency,
            cores=self.cores,
            burst_bytes=self.burst_bytes,
            burst_s=self.burst_s,
            **more,
        )
