# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the routes of a network make of its links."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hocket import Network


def slowest_route(network: Network, ranks: int) -> tuple[float, float]:
    """Largest latency in seconds and smallest bandwidth in bytes per second from rank 0 to another of the first."""
    routes = [[network.links[link] for link in network.route(0, rank)] for rank in range(1, ranks)]
    latency_s = max((sum(link.latency_s for link in route) for route in routes), default=0.0)
    bandwidths = [link.bandwidth_bytes_per_s for route in routes for link in route]
    return latency_s, min(bandwidths, default=float("inf"))
