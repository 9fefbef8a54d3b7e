# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Networks with changes: other bandwidths, tapers, failed cables, added rails, ranks on other hosts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource

if TYPE_CHECKING:
    from hocket import Blueprint, Fabric, Network

PLACEMENTS = "block, cyclic, random or a list of hosts"


@dataclass(frozen=True)
class VariedNetwork:
    """A network and its changes, applied in the order of the fields. What has its default changes nothing."""

    source: NetworkSource
    scale: float = 1.0  #: of the bandwidth of every cable
    latency_scale: float = 1.0
    taper: float = 1.0  #: divides the bandwidth of the cables between switches
    rails: int = 1  #: copies of all switches and their cables; ECMP chooses one for each pair of hosts
    failed: tuple[str, ...] = ()  #: cables that are missing, by the names of their ends: "h0-s0"
    failures: int = 0  #: of the cables between switches, chosen by `failure_seed`
    failure_seed: int = 1
    ranks: int | None = None  #: None = all places of the hosts
    placement: str | tuple[str, ...] = "block"  #: or "cyclic", "random"; or the host of each rank
    placement_seed: int = 1  #: of "random"

    def load(self) -> Network:
        """@raises InvalidInput if a change does not suit the network."""
        from hocket import Network

        self._check()
        source = self._scaled_source()
        scale = self.scale if source is self.source else 1.0
        network = source.load()
        if replace(self, source=source, scale=scale) == VariedNetwork(source):
            return network
        blueprint = network.blueprint()
        if scale != 1.0 or self.latency_scale != 1.0 or self.taper != 1.0:
            blueprint = blueprint.replace(cables=self._changed_cables(blueprint, scale))
        if self.rails > 1:
            blueprint = _with_rails(blueprint, self.rails, source.seed or 1)
        if self.failed or self.failures:
            blueprint = self._with_failures(blueprint)
        if self.ranks is not None or self.placement != "block":
            blueprint = blueprint.replace(placement=self._places(blueprint))
        return Network.build(blueprint)

    def load_fabric(self) -> Fabric:
        """For simulations of traffic: a regular network without changes takes no memory."""
        source = self._scaled_source()
        if replace(self, source=source, scale=1.0 if source is not self.source else self.scale) == VariedNetwork(
            source
        ):
            return source.load_fabric()
        return NetworkSource.of(self.load()).load_fabric()

    def _scaled_source(self) -> NetworkSource:
        """The bandwidth of a generated network is one number: no cable and no route needs to be listed to change it."""
        if self.scale == 1.0 or not self.source.is_generated:
            return self.source
        from hocket import parse_bandwidth, print_bandwidth

        bandwidth = parse_bandwidth(self.source.bandwidth or "1 Gbit/s")
        return replace(self.source, bandwidth=print_bandwidth(bandwidth * self.scale))

    def _check(self) -> None:
        for name in ("scale", "latency_scale", "taper"):
            value = getattr(self, name)
            if not (0 < value < float("inf") or (name == "latency_scale" and value == 0)):
                raise InvalidInput(f"{self.source.name}: {name} = {value}: accepted are numbers above 0")
        for name, least in (("rails", 1), ("failures", 0), ("ranks", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InvalidInput(f"{self.source.name}: {name} = {value}: accepted are whole numbers from {least}")

    def _changed_cables(self, blueprint: Blueprint, scale: float) -> list[Blueprint.Cable]:
        from hocket import Blueprint

        inner = _between_switches(blueprint)
        factors = [scale / self.taper if number in inner else scale for number in range(len(blueprint.cables))]
        return [
            Blueprint.Cable(
                cable.first,
                cable.second,
                cable.bandwidth_bytes_per_s * factor,
                cable.bandwidth_back_bytes_per_s * factor,
                cable.latency_s * self.latency_scale,
                cable.latency_back_s * self.latency_scale,
                cable.half_duplex,
            )
            for cable, factor in zip(blueprint.cables, factors, strict=True)
        ]

    def _with_failures(self, blueprint: Blueprint) -> Blueprint:
        """Routes are shortest paths: those of a generator would lead over cables that are gone."""
        names = [node.name for node in blueprint.nodes]
        cables = blueprint.cables
        number_of = {frozenset((names[cable.first], names[cable.second])): n for n, cable in enumerate(cables)}
        gone = set()
        for text in self.failed:
            ends = [text[:at] for at, letter in enumerate(text) if letter == "-"]
            found = [number_of.get(frozenset((end, text[len(end) + 1 :]))) for end in ends]
            number = next((one for one in found if one is not None), None)
            if number is None:
                cable = cables[0]
                example = f"{names[cable.first]}-{names[cable.second]}"
                raise InvalidInput(f"{blueprint.name}: no cable {text!r}", f"name its ends, such as {example!r}")
            gone.add(number)
        inner = sorted(_between_switches(blueprint) - gone)
        if self.failures > len(inner):
            raise InvalidInput(
                f"{blueprint.name}: {self.failures} cables between switches fail", f"accepted: 0 to {len(inner)}"
            )
        gone |= set(random.Random(self.failure_seed).sample(inner, self.failures))
        kept = [cable for number, cable in enumerate(cables) if number not in gone]
        return _routed_anew(blueprint, blueprint.nodes, kept, self.source.seed or 1)

    def _places(self, blueprint: Blueprint) -> list[int]:
        hosts = [number for number, node in enumerate(blueprint.nodes) if node.kind == "host"]
        places = [host for host in hosts for _ in range(blueprint.nodes[host].ranks)]
        if isinstance(self.placement, tuple):
            return self._listed(blueprint)
        if self.placement == "cyclic":
            most = max(blueprint.nodes[host].ranks for host in hosts)
            places = [host for turn in range(most) for host in hosts if blueprint.nodes[host].ranks > turn]
        elif self.placement == "random":
            random.Random(self.placement_seed).shuffle(places)
        elif self.placement != "block":
            raise InvalidInput(f"{blueprint.name}: placement {self.placement!r}", f"accepted: {PLACEMENTS}")
        ranks = len(places) if self.ranks is None else self.ranks
        if ranks > len(places):
            raise InvalidInput(f"{blueprint.name}: {ranks} ranks on {len(places)} places", "take fewer ranks")
        return places[:ranks]

    def _listed(self, blueprint: Blueprint) -> list[int]:
        numbers = {node.name: number for number, node in enumerate(blueprint.nodes) if node.kind == "host"}
        if unknown := [name for name in self.placement if name not in numbers]:
            raise InvalidInput(f"{blueprint.name}: the placement names {unknown[0]!r}, which is no host of it")
        ranks = len(self.placement) if self.ranks is None else self.ranks
        if ranks > len(self.placement):
            raise InvalidInput(f"{blueprint.name}: {ranks} ranks on the {len(self.placement)} hosts that are listed")
        return [numbers[name] for name in self.placement[:ranks]]


def _between_switches(blueprint: Blueprint) -> set[int]:
    """Their cables by number; where there are no switches, all cables."""
    kinds = [node.kind for node in blueprint.nodes]
    if "switch" not in kinds:
        return set(range(len(blueprint.cables)))
    return {
        number
        for number, cable in enumerate(blueprint.cables)
        if kinds[cable.first] == kinds[cable.second] == "switch"
    }  # fmt: skip


def _with_rails(blueprint: Blueprint, rails: int, seed: int) -> Blueprint:
    from hocket import Blueprint

    switches = [number for number, node in enumerate(blueprint.nodes) if node.kind == "switch"]
    if not switches:
        raise InvalidInput(f"{blueprint.name}: has no switches that rails could copy", "leave rails out")
    nodes, cables = list(blueprint.nodes), list(blueprint.cables)
    originals = list(cables)
    for rail in range(1, rails):
        copy_of = {number: len(nodes) + at for at, number in enumerate(switches)}
        nodes += [Blueprint.Node(f"{blueprint.nodes[number].name}.rail{rail}", "switch") for number in switches]
        cables += [
            Blueprint.Cable(
                copy_of.get(cable.first, cable.first),
                copy_of.get(cable.second, cable.second),
                cable.bandwidth_bytes_per_s,
                cable.bandwidth_back_bytes_per_s,
                cable.latency_s,
                cable.latency_back_s,
                cable.half_duplex,
            )
            for cable in originals
            if cable.first in copy_of or cable.second in copy_of
        ]
    return _routed_anew(blueprint, nodes, cables, seed)


def _routed_anew(
    blueprint: Blueprint, nodes: Sequence[Blueprint.Node], cables: Sequence[Blueprint.Cable], seed: int
) -> Blueprint:
    from hocket import Blueprint, Network

    if Network.build(blueprint).has_circuits:
        raise InvalidInput(f"{blueprint.name}: has circuits; cables can fail and rails be added without them only")
    return Blueprint(blueprint.name, nodes, cables, blueprint.placement, ecmp_seed=seed)
