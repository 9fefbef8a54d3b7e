# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which communicators lie on the network alike, so that a schedule takes equally long on each of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hocket import Link, Network

# Larger communicators are not compared: their routes are millions.
MOST_MEMBERS = 256

Members = tuple[int, ...]


def alike(communicators: Iterable[Members], network: Network | None) -> dict[Members, Members]:
    """For each communicator the first one listed that has its shape: itself, where there is no other or no network."""
    communicators = list(communicators)
    if network is None or len(communicators) < 2:
        return {members: members for members in communicators}
    first: dict[object, Members] = {}
    links = network.links
    found = {}
    for members in communicators:
        same_size = sum(len(other) == len(members) for other in communicators)
        known = max(members) < network.num_ranks
        shape = _shape(network, links, members) if known and same_size > 1 and len(members) <= MOST_MEMBERS else members
        found[members] = first.setdefault(shape, members)
    return found


def _shape(network: Network, links: Sequence[Link], members: Members) -> object:
    """Equal for two communicators if renaming hosts and links makes one of the other, rank by rank."""
    rank_hosts = network.rank_hosts
    hosts: dict[int, int] = {}
    numbers: dict[int, int] = {}
    capacities: dict[int, int] = {}
    places = tuple(hosts.setdefault(rank_hosts[rank], len(hosts)) for rank in members)
    routes = tuple(
        tuple(numbers.setdefault(link, len(numbers)) for link in network.route(source, target))
        for source in members
        for target in members
        if source != target
    )
    properties = tuple(
        (
            links[link].bandwidth_bytes_per_s,
            links[link].latency_s,
            capacities.setdefault(links[link].capacity, len(capacities)),
        )
        for link in numbers
    )
    return places, routes, properties
