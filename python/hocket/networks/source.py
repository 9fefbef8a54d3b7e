# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A network as a request names it: by plain values that JSON and other machines know."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from hocket import Fabric, Network

_GIVEN: dict[str, tuple[Callable[[], Network], Callable[[], Fabric]]] = {}


def give_network(name: str, load: Callable[[], Network], load_fabric: Callable[[], Fabric]) -> None:
    """From now on `NetworkSource(name)` stands for what these return, in this process."""
    _GIVEN[name] = load, load_fabric


@dataclass(frozen=True)
class NetworkSource:
    """A network file, a generator such as "star:8" with its options, or the text of a network file."""

    name: str  #: the file, or KIND:SHAPE; with `toml` what stands for the file in messages
    bandwidth: str | None = None  #: of a generated network, like the rest: "1 Gbit/s"
    latency: str | None = None
    routing: str | None = None
    seed: int | None = None
    toml: str | None = None

    @classmethod
    def of(cls, network: Network) -> NetworkSource:
        """The network itself, wherever it is from."""
        return cls(network.name, toml=network.to_toml())

    @property
    def is_generated(self) -> bool:
        kind, colon, _ = self.name.partition(":")
        return self.toml is None and bool(colon) and os.sep not in kind and not os.path.exists(self.name)

    def load(self) -> Network:
        if given := _GIVEN.get(self.name):
            return given[0]()
        from hocket import Network

        self._check()
        if self.toml is not None:
            return Network.from_text(self.toml, self.name)
        return Network.generate(self.name, **self._options()) if self.is_generated else Network.from_file(self.name)

    def load_fabric(self) -> Fabric:
        """For simulations of traffic: a regular network takes no memory."""
        if given := _GIVEN.get(self.name):
            return given[1]()
        from hocket import Fabric

        if not self.is_generated:
            network = self.load()
            if network.has_circuits:
                raise InvalidInput(
                    f"{network.name} has circuits, for which traffic patterns and matrices do not wait",
                    "simulate a collective, a schedule, a program (GOAL) or a trace, or leave [circuits] out",
                )
            return Fabric.from_network(network)
        self._check()
        return Fabric.generate(self.name, **self._options())

    def _check(self) -> None:
        if not self.name:
            raise InvalidInput("--network: the name is empty", "give a file, or a generator such as star:8")
        if self.is_generated:
            return
        if self.bandwidth or self.latency:
            raise InvalidInput(
                f"{self.name}: --bandwidth and --latency are for generated networks", "change the file instead"
            )
        if self.routing or self.seed is not None:
            raise InvalidInput(
                f"{self.name}: --routing and --seed are for generated networks", "change the file instead"
            )

    def _options(self) -> dict[str, Any]:
        given: dict[str, Any] = {
            "bandwidth": self.bandwidth,
            "latency": self.latency,
            "routing": self.routing,
            "seed": self.seed,
        }
        return {name: value for name, value in given.items() if value is not None}
