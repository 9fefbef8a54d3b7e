# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a testbed is made of: hosts, switches, cables and forwarding tables, derived from a Network."""

from __future__ import annotations

import dataclasses
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket import Network

MAX_HOSTS = 128  # every host knows every other by a fixed neighbour entry: the set-up time grows with the square
# tbf's 32-bit rate field in bytes per second; a virtual cable carries less than this on any machine of today.
MAX_SHAPED_BYTES_PER_S = float(2**32 - 1)
# The kernel has 32 bits of 64 ns for the time that a full bucket takes, and for a delay: 275 s.
MIN_BYTES_PER_S = 125.0
MAX_LATENCY_S = 100.0
_HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?")


@dataclass(frozen=True)
class Port:
    """One end of a cable. What the node sends through it is shaped."""

    node: int
    interface: str
    link: int  # the directed link of the network that leaves the node here
    bandwidth_bytes_per_s: float | None  # None = not shaped
    latency_s: float


@dataclass(frozen=True)
class Cable:
    ends: tuple[Port, Port]


@dataclass(frozen=True)
class Host:
    node: int
    name: str
    number: int  # 1, 2, ...: gives the addresses

    @property
    def address(self) -> str:
        return f"10.0.{self.number // 256}.{self.number % 256}"

    @property
    def hardware_address(self) -> str:
        return f"02:00:0a:00:{self.number // 256:02x}:{self.number % 256:02x}"


@dataclass(frozen=True)
class Forward:
    """At `node`, frames for host `target` leave through `interface`."""

    node: int
    interface: str
    target: int


@dataclass(frozen=True)
class Layout:
    """Everything the supervisor needs; plain data, so that it travels as JSON."""

    network: str
    num_links: int
    hosts: tuple[Host, ...]
    relays: tuple[int, ...]  # hosts with several cables: they forward like a switch
    switches: tuple[int, ...]
    cables: tuple[Cable, ...]
    forwards: tuple[Forward, ...]
    rank_hosts: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())
    circuits: bool = False  #: the switch is a circuit switch: its controller says which hosts it connects

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Layout:
        return Layout(
            network=data["network"],
            num_links=data["num_links"],
            hosts=tuple(Host(**host) for host in data["hosts"]),
            relays=tuple(data["relays"]),
            switches=tuple(data["switches"]),
            cables=tuple(Cable((Port(**cable["ends"][0]), Port(**cable["ends"][1]))) for cable in data["cables"]),
            forwards=tuple(Forward(**forward) for forward in data["forwards"]),
            rank_hosts=tuple(data["rank_hosts"]),
            notes=tuple(data["notes"]),
            circuits=data.get("circuits", False),
        )


def make_layout(network: Network) -> Layout:
    """@throws InvalidInput for what an emulated cluster cannot show: half duplex, names no host can have, ..."""
    nodes, links = network.nodes, network.links
    kinds = [_kind(node) for node in nodes]
    notes: list[str] = []

    hosts = tuple(
        Host(index, node.name, number)
        for number, (index, node) in enumerate(((i, n) for i, n in enumerate(nodes) if kinds[i] == "host"), start=1)
    )
    _check_hosts(hosts)
    if "process" in kinds:
        notes.append("the memory links of hosts with several ranks are not emulated: such ranks use shared memory")

    cables = _cables(network, kinds, notes)
    degree = [0] * len(nodes)
    for cable in cables:
        for port in cable.ends:
            degree[port.node] += 1
    return Layout(
        network=network.name,
        num_links=len(links),
        hosts=hosts,
        relays=tuple(host.node for host in hosts if degree[host.node] > 1),
        switches=tuple(i for i, kind in enumerate(kinds) if kind == "switch"),
        cables=cables,
        forwards=_forwards(network, kinds, cables),
        rank_hosts=tuple(nodes[_host_of(network, kinds, rank)].name for rank in range(network.num_ranks)),
        notes=tuple(notes),
    )


def make_circuit_layout(network: Network) -> Layout:
    """The same with a circuit switch between the hosts. Raises InvalidInput for a network other than a star."""
    layout = make_layout(network)
    if len(layout.switches) != 1 or layout.relays or set(layout.rank_hosts) != {host.name for host in layout.hosts}:
        raise InvalidInput(f"network {network.name} is not a star of hosts around one switch", "for instance star:8")
    if len(layout.rank_hosts) != len(layout.hosts):
        raise InvalidInput(f"network {network.name} has hosts with several ranks", "circuits join hosts of one rank")
    return dataclasses.replace(layout, circuits=True)


def _kind(node: Any) -> str:
    """The kind as a word, whether the core gives a string or an enumeration."""
    kind = node.kind
    return str(getattr(kind, "name", kind)).rstrip("_")


def _check_hosts(hosts: tuple[Host, ...]) -> None:
    if len(hosts) > MAX_HOSTS:
        raise InvalidInput(
            f"a testbed has at most {MAX_HOSTS} hosts, this network has {len(hosts)}",
            "use `hocket simulate` for large networks",
        )
    seen: dict[str, str] = {}
    for host in hosts:
        if not _HOST_NAME.fullmatch(host.name) or host.name.lower() == "localhost":
            raise InvalidInput(
                f"node {host.name!r} cannot be a host name",
                "host names have 1 to 63 letters, digits, '-' or '_', and are not 'localhost'",
            )
        if host.name.lower() in seen:
            raise InvalidInput(f"hosts {seen[host.name.lower()]!r} and {host.name!r} differ in case only", "rename one")
        seen[host.name.lower()] = host.name


def _cables(network: Network, kinds: list[str], notes: list[str]) -> tuple[Cable, ...]:
    """Pairs of opposite links. Parallel cables between the same two nodes are paired in file order."""
    waiting: dict[tuple[int, int], list[int]] = {}
    pairs: list[tuple[int, int]] = []
    for index, link in enumerate(network.links):
        if "process" in (kinds[link.source], kinds[link.target]):
            continue
        source, target = network.nodes[link.source].name, network.nodes[link.target].name
        if link.half_duplex:
            raise InvalidInput(
                f"the link between {source!r} and {target!r} is half duplex, which the testbed cannot emulate",
                'set duplex = "full" (each direction then has the whole bandwidth), or simulate it',
            )
        back = waiting.get((link.target, link.source))
        if back:
            pairs.append((back.pop(0), index))
        else:
            waiting.setdefault((link.source, link.target), []).append(index)
    for (source_node, target_node), rest in waiting.items():
        if rest:
            source, target = network.nodes[source_node].name, network.nodes[target_node].name
            raise InvalidInput(
                f"the link from {source!r} to {target!r} has no way back", "give every link both directions"
            )

    degree = [0] * len(network.nodes)
    for first, _ in pairs:
        degree[network.links[first].source] += 1
        degree[network.links[first].target] += 1
    used = [0] * len(network.nodes)

    def port(index: int) -> Port:
        link = network.links[index]
        bandwidth: float | None = link.bandwidth_bytes_per_s
        if link.bandwidth_bytes_per_s < MIN_BYTES_PER_S or link.latency_s > MAX_LATENCY_S:
            source, target = network.nodes[link.source].name, network.nodes[link.target].name
            raise InvalidInput(
                f"the link from {source!r} to {target!r} is too slow: a testbed's cables have 1 kbit/s and more, and "
                f"at most {MAX_LATENCY_S:g} s of latency",
                "use `hocket simulate` for it",
            )
        if bandwidth is not None and (math.isinf(bandwidth) or bandwidth > MAX_SHAPED_BYTES_PER_S):
            if not math.isinf(bandwidth):
                source, target = network.nodes[link.source].name, network.nodes[link.target].name
                notes.append(f"the link from {source} to {target} is faster than virtual cables and is not shaped")
            bandwidth = None
        node, number = link.source, used[link.source]
        used[node] += 1
        # A host with one cable has it as eth0; with several, eth0 is the bridge over them (wiring.py).
        interface = "eth0" if kinds[node] == "host" and degree[node] == 1 else f"n{node}p{number}"
        return Port(node, interface, index, bandwidth, link.latency_s)

    return tuple(Cable((port(first), port(second))) for first, second in pairs)


def _host_of(network: Network, kinds: list[str], rank: int) -> int:
    node: int = network.rank_nodes[rank]
    if kinds[node] == "process":
        node = next(link.target for link in network.links if link.source == node)
    return node


def _forwards(network: Network, kinds: list[str], cables: tuple[Cable, ...]) -> tuple[Forward, ...]:
    """Fixed forwarding tables from the network's own routes: no flooding, no learning, and loops do no harm."""
    interface_of_link = {port.link: port for cable in cables for port in cable.ends}
    rank_on: dict[int, int] = {}
    for rank in range(network.num_ranks):
        rank_on.setdefault(_host_of(network, kinds, rank), rank)
    table: dict[tuple[int, int], str] = {}
    for source in rank_on.values():
        for target_node, target in rank_on.items():
            if source == target:
                continue
            for link in network.route(source, target):
                port = interface_of_link.get(link)
                if port is None or port.interface == "eth0":
                    continue
                if table.setdefault((port.node, target_node), port.interface) != port.interface:
                    node, host = network.nodes[port.node].name, network.nodes[target_node].name
                    raise InvalidInput(
                        f"at {node!r} the routes to {host!r} take several cables; "
                        "a switch of the testbed forwards by destination alone",
                        "use a network without parallel paths from one switch to one host",
                    )
    return tuple(Forward(node, interface, target) for (node, target), interface in table.items())
