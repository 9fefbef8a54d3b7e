# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What messages cost as a request says it: the costs of the network or of a result, and what differs from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket._core import CostModel

if TYPE_CHECKING:
    from hocket import Network


@dataclass(frozen=True)
class CostSource:
    """The costs of `base`, or of the result folder `folder`, or of the network's table [calibration], whose missing
    values are the usual ones; then each of the other values that is not None."""

    base: CostModel | None = None
    folder: Path | None = None
    send_overhead_s: float | None = None
    receive_overhead_s: float | None = None
    rendezvous_bytes: int | None = None
    sharing: str | None = None

    def model(self, network: Network) -> CostModel:
        given: dict[str, Any] = {
            "sharing": self.sharing,
            "send_overhead_s": self.send_overhead_s,
            "receive_overhead_s": self.receive_overhead_s,
            "rendezvous_bytes": self.rendezvous_bytes,
        }
        changes = {name: value for name, value in given.items() if value is not None}
        base = self._base(network)
        return base.replace(**changes) if changes else base

    def _base(self, network: Network) -> CostModel:
        if self.base is not None:
            return self.base
        if self.folder is not None:
            from hocket.report.costs import read_costs

            return read_costs(self.folder)
        return CostModel.of(network)


OF_NETWORK = CostSource()
