# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Closed forms of the textbook algorithms, and the lower bound of a network, as one table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hocket.errors import InvalidInput
from hocket.networks.routes import slowest_route
from hocket.networks.source import NetworkSource
from hocket.reporter import SILENT, Reporter


@dataclass(frozen=True)
class CostRequest:
    """Latency and bandwidth of the closed forms are those given, else those of the slowest route between two ranks."""

    collective: str
    bytes: int
    ranks: int | None = None  #: None = all of the network
    segments: int = 1
    root: int = 0
    network: NetworkSource | None = None
    bandwidth_bytes_per_s: float | None = None
    latency_s: float | None = None


@dataclass(frozen=True)
class CostTable:
    collective: str
    ranks: int
    bytes: int
    segments: int
    latency_s: float
    bandwidth_bytes_per_s: float
    hockney_s: dict[str, float]  # by algorithm, fastest first
    wire_limit_s: float | None  # None without a network

    @property
    def values(self) -> dict[str, Any]:
        return asdict(self)

    def title(self) -> str:
        from hocket import print_bandwidth, print_bytes, print_duration

        return (
            f"{self.collective} of {print_bytes(self.bytes)} on {self.ranks} ranks, "
            f"{print_duration(self.latency_s)} + n / ({print_bandwidth(self.bandwidth_bytes_per_s)}), "
            "as if no link were shared"
        )

    def rows(self) -> list[tuple[str, str]]:
        rows = [(algorithm, f"{seconds * 1e3:.3f} ms") for algorithm, seconds in self.hockney_s.items()]
        if self.wire_limit_s is not None:
            rows.append(("(lower bound of the network)", f"{self.wire_limit_s * 1e3:.3f} ms"))
        return rows


def run(request: CostRequest, reporter: Reporter = SILENT) -> CostTable:
    from hocket import algorithms, hockney_s, wire_limit_s

    collective, ranks, size, root = request.collective, request.ranks, request.bytes, request.root
    given = (ranks, request.bandwidth_bytes_per_s, request.latency_s)
    if request.network is None and None in given:
        raise InvalidInput(
            "--ranks, --bandwidth and --latency are needed where no network is given",
            hint='for instance: --ranks 8 --latency "50 us" --bandwidth "1 Gbit/s"',
        )
    known = {algorithm.collective: True for algorithm in algorithms()}
    if collective not in known:
        raise InvalidInput(f'"{collective}" is not a collective; accepted: {", ".join(known)}')
    limit_s = None
    latency_s = bandwidth_bytes_per_s = 0.0
    if request.network is not None:
        from hocket.advise import check_ranks

        network = request.network.load()
        ranks = network.num_ranks if ranks is None else ranks
        check_ranks(network, ranks)
        if root >= ranks:
            raise InvalidInput(f"--root {root}: accepted are 0 to {ranks - 1}")
        limit_s = wire_limit_s(collective, network, list(range(ranks)), size, root)
        latency_s, bandwidth_bytes_per_s = slowest_route(network, ranks)
    if request.latency_s is not None:
        latency_s = request.latency_s
    if request.bandwidth_bytes_per_s is not None:
        bandwidth_bytes_per_s = request.bandwidth_bytes_per_s
    assert ranks is not None
    times: dict[str, float] = {}
    for algorithm in algorithms():
        if algorithm.collective == collective and not algorithm.has_starts:  # without: the ring
            cut = request.segments if algorithm.pipelines else 1
            times[algorithm.name] = hockney_s(
                collective, algorithm.name, ranks, size, latency_s, bandwidth_bytes_per_s, segments=cut
            )
    fastest_first = dict(sorted(times.items(), key=lambda item: item[1]))
    return CostTable(
        collective, ranks, size, request.segments, latency_s, bandwidth_bytes_per_s, fastest_first, limit_s
    )
