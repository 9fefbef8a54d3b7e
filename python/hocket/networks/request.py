# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket network` asks for: a network that is shown, generated or imported."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hocket.interop.networks import Imported, Options, import_network
from hocket.networks.source import NetworkSource
from hocket.reporter import SILENT, Reporter

if TYPE_CHECKING:
    from hocket import Network


@dataclass(frozen=True)
class ShowRequest:
    network: NetworkSource


@dataclass(frozen=True)
class RouteRequest:
    network: NetworkSource
    source: int  #: rank
    target: int


@dataclass(frozen=True)
class GenerateRequest:
    """As `Network.generate`; bandwidths and latencies are text with a unit."""

    kind_and_shape: str
    bandwidth: str | None = None
    latency: str | None = None
    second_bandwidth: str | None = None
    trunk_bandwidth: str | None = None
    trunk_latency: str | None = None
    routing: str | None = None
    seed: int | None = None


@dataclass(frozen=True)
class ImportRequest:
    file: str  #: - is standard input
    format: str | None = None  #: None = recognised from the content
    options: Options = field(default_factory=Options)


@dataclass(frozen=True)
class Shown:
    network: Network

    @property
    def values(self) -> dict[str, Any]:
        return to_dict(self.network)


@dataclass(frozen=True)
class Route:
    values: dict[str, Any]


@dataclass(frozen=True)
class ImportedNetwork:
    source: str
    imported: Imported

    @property
    def values(self) -> dict[str, Any]:
        found = {key: value for key, value in vars(self.imported).items() if key not in ("network", "toml")}
        network = self.imported.network
        return {"source": self.source, **found, "ranks": network.num_ranks, "network": to_dict(network)}


def run(
    request: ShowRequest | RouteRequest | GenerateRequest | ImportRequest, reporter: Reporter = SILENT
) -> Shown | Route | ImportedNetwork:
    """Each kind has a function of its own, whose result has a type of its own."""
    if isinstance(request, ImportRequest):
        return import_file(request)
    if isinstance(request, RouteRequest):
        return find_route(request)
    return show_network(request) if isinstance(request, ShowRequest) else generate(request)


def show_network(request: ShowRequest) -> Shown:
    return Shown(request.network.load())


def generate(request: GenerateRequest) -> Shown:
    from hocket import Network

    return Shown(
        Network.generate(
            request.kind_and_shape,
            request.bandwidth,
            request.latency,
            request.second_bandwidth,
            request.trunk_bandwidth,
            request.trunk_latency,
            request.routing,
            request.seed,
        )
    )


def import_file(request: ImportRequest) -> ImportedNetwork:
    return ImportedNetwork(request.file, import_network(request.file, request.format, request.options))


def find_route(request: RouteRequest) -> Route:
    network = request.network.load()
    links = network.route(request.source, request.target)
    all_links, all_nodes = network.links, network.nodes
    path = [network.rank_nodes[request.source]] + [all_links[link].target for link in links]
    names = [all_nodes[node].name for node in path]
    return Route({"source": request.source, "target": request.target, "nodes": names, "links": links})


def to_dict(network: Network) -> dict[str, Any]:
    """`source`, `target` and `rank_nodes` are indices into `nodes`; a bandwidth of inf is unlimited."""
    return {
        "name": network.name,
        "num_ranks": network.num_ranks,
        "is_tree": network.is_tree,
        "nodes": [{"name": node.name, "kind": node.kind, "relays": node.relays} for node in network.nodes],
        "rank_nodes": network.rank_nodes,
        "links": [
            {
                "source": link.source,
                "target": link.target,
                "bandwidth_bytes_per_s": link.bandwidth_bytes_per_s,
                "latency_s": link.latency_s,
                "half_duplex": link.half_duplex,
            }
            for link in network.links
        ],
    }
