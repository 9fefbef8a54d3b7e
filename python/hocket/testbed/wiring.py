# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Bridges, cables, addresses and forwarding tables, through netlink, inside the testbed's own network namespaces."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import Any

from hocket.testbed.layout import Host, Layout, Port
from hocket.testbed.namespaces import in_network_namespace
from hocket.testbed.shaping import segment_bytes, shape

HOST_INTERFACE = "eth0"
_PERMANENT = 0x80  # NUD_PERMANENT
_STATIC = 0x40  # NUD_NOARP: the entry never ages; a permanent one would mean the bridge itself
_MASTER = 0x04  # NTF_MASTER: the bridge's table, not the cable's own
_NO_PREFIX_ROUTE = 0x200  # IFA_F_NOPREFIXROUTE
_LINK_SCOPE = 253  # RT_SCOPE_LINK
_PREFIX = 16
_LONGEST_START_S = 3.0
# A lost packet is noticed after 10 ms rather than 200 ms, as on a tuned cluster.
_MIN_RETRANSMISSION_MS = 10
_RTO_MIN_LOCK = 1 << 13  # RTAX_RTO_MIN: TCP heeds the metric only where it is locked

_SYSCTLS = {
    "net/ipv6/conf/all/disable_ipv6": "1",  # no neighbour discovery among the counted bytes
    "net/ipv6/conf/default/disable_ipv6": "1",
    "net/ipv4/tcp_slow_start_after_idle": "0",
    "net/ipv4/tcp_no_metrics_save": "1",  # one run must not teach the next
}
_CONGESTION_CONTROL = "/proc/sys/net/ipv4/tcp_congestion_control"


def wire(layout: Layout, fabric: int, hosts: Mapping[int, int]) -> list[str]:
    """`fabric`: network namespace (file descriptor) of the switches; `hosts`: of each host, by node. Returns notes."""
    from pyroute2 import IPRoute

    notes: list[str] = []
    for namespace in {fabric, *hosts.values()}:
        with in_network_namespace(namespace):
            _set_sysctls(notes)
    with in_network_namespace(fabric), closing(IPRoute()) as netlink:
        _up(netlink, "lo")
        for switch in layout.switches:
            _add_bridge(netlink, _bridge(layout, switch))
            _up(netlink, _bridge(layout, switch))
        for number, cable in enumerate(layout.cables):
            _lay_cable(netlink, number, cable.ends, hosts)
        _plug_in(netlink, layout, set(layout.switches), notes)
    for host in layout.hosts:
        with in_network_namespace(hosts[host.node]), closing(IPRoute()) as netlink:
            _set_up_host(netlink, layout, host, notes)
    for namespace in hosts.values():
        with in_network_namespace(namespace), closing(IPRoute()) as netlink:
            _wait_until_running(netlink)
    return list(dict.fromkeys(notes))


def _wait_until_running(netlink: Any) -> None:
    """Until the kernel says that the interface runs: up to a second after both ends of its cable are up, unless it is
    asked. UCX takes no other, and MPICH 5 then ends with "Destination is unreachable"."""
    end_s = time.monotonic() + _LONGEST_START_S
    for index in netlink.link_lookup(ifname=HOST_INTERFACE):
        while netlink.get_links(index)[0].get_attr("IFLA_OPERSTATE") != "UP" and time.monotonic() < end_s:
            time.sleep(0.01)


def _bridge(layout: Layout, node: int) -> str:
    return f"sw{node}" if node in layout.switches else HOST_INTERFACE


def _index(netlink: Any, name: str) -> int:
    return int(netlink.link_lookup(ifname=name)[0])


def _add_bridge(netlink: Any, name: str) -> None:
    # Without snooping it joins no multicast group, which it would report over the cables among the counted bytes.
    netlink.link("add", ifname=name, kind="bridge", br_mcast_snooping=0)


def _up(netlink: Any, name: str) -> None:
    netlink.link("set", index=_index(netlink, name), state="up")


def _lay_cable(netlink: Any, number: int, ends: tuple[Port, Port], hosts: Mapping[int, int]) -> None:
    """A veth pair made in the fabric, its ends moved to their hosts and renamed there by `_set_up_host`."""
    here, there = f"c{number}a", f"c{number}b"
    peer: dict[str, Any] = {"ifname": ends[1].interface if ends[1].node in hosts else there}
    if ends[1].node in hosts:
        peer["net_ns_fd"] = hosts[ends[1].node]
    netlink.link("add", ifname=here, kind="veth", peer=peer)
    index = _index(netlink, here)
    if ends[0].node in hosts:
        netlink.link("set", index=index, net_ns_fd=hosts[ends[0].node], ifname=ends[0].interface)
    else:
        netlink.link("set", index=index, ifname=ends[0].interface)
    if ends[1].node not in hosts:
        netlink.link("set", index=_index(netlink, there), ifname=ends[1].interface)


def _plug_in(netlink: Any, layout: Layout, nodes: set[int], notes: list[str]) -> None:
    """Shape the ports of these bridging nodes, put them into their bridges and fill the forwarding tables."""
    number_of = {host.node: host for host in layout.hosts}
    indices: dict[str, int] = {}
    for cable in layout.cables:
        for port in cable.ends:
            if port.node not in nodes:
                continue
            index = indices[port.interface] = _index(netlink, port.interface)
            _shape(netlink, index, port, notes)
            netlink.link("set", index=index, master=_index(netlink, _bridge(layout, port.node)), state="up")
            netlink.brport("set", index=index, learning=0, unicast_flood=0, mcast_flood=0, bcast_flood=0)
    for forward in layout.forwards:
        if forward.node in nodes:
            address = number_of[forward.target].hardware_address
            netlink.fdb("add", ifindex=indices[forward.interface], lladdr=address, flags=_MASTER, state=_STATIC)


def _shape(netlink: Any, index: int, port: Port, notes: list[str]) -> None:
    note = shape(netlink, index, port)
    if note:
        notes.append(note)


def _set_up_host(netlink: Any, layout: Layout, host: Host, notes: list[str]) -> None:
    _up(netlink, "lo")
    if host.node in layout.relays:
        _add_bridge(netlink, HOST_INTERFACE)
        _plug_in(netlink, layout, {host.node}, notes)
    elif not netlink.link_lookup(ifname=HOST_INTERFACE):
        return  # a network of one host has no cable
    index = _index(netlink, HOST_INTERFACE)
    ports = [port for cable in layout.cables for port in cable.ends if port.node == host.node]
    netlink.link("set", index=index, address=host.hardware_address, gso_max_size=segment_bytes(ports), state="up")
    if host.node not in layout.relays:
        _shape(netlink, index, ports[0], notes)
    netlink.addr("add", index=index, address=host.address, prefixlen=_PREFIX, flags=_NO_PREFIX_ROUTE)
    netlink.route(
        "add",
        dst=f"10.0.0.0/{_PREFIX}",
        oif=index,
        scope=_LINK_SCOPE,
        prefsrc=host.address,
        metrics={
            "lock": _RTO_MIN_LOCK,
            "rto_min": _MIN_RETRANSMISSION_MS,
            # An acknowledgement that is delayed until the circuit is gone would stop this connection: its sender would
            # take the data for lost, and send again into nothing, after ever longer times.
            **({"quickack": 1} if layout.circuits else {}),
        },
    )
    for other in layout.hosts:
        if other is not host:
            netlink.neigh("add", dst=other.address, lladdr=other.hardware_address, ifindex=index, state=_PERMANENT)


def _set_sysctls(notes: list[str]) -> None:
    for name, value in _SYSCTLS.items():
        try:
            _set(f"/proc/sys/{name}", value)
        except FileNotFoundError:
            continue  # a kernel without IPv6
        except OSError as error:
            notes.append(f"/proc/sys/{name} cannot be set here ({error.strerror}): TCP may be slower")
    # The same algorithm whatever this machine uses outside; reno is the one that every namespace may choose.
    for algorithm in ("cubic", "reno"):
        with suppress(OSError):
            _set(_CONGESTION_CONTROL, algorithm)
            return


def _set(path: str, value: str) -> None:
    with open(path, "w") as file:
        file.write(value)


def read_counters(layout: Layout, fabric: int, hosts: Mapping[int, int]) -> list[int]:
    """Bytes sent so far over each directed link of the network, by its index (0 for memory links)."""
    sent: dict[tuple[int, str], int] = {}
    for namespace in {fabric, *hosts.values()}:
        with in_network_namespace(namespace), open("/proc/thread-self/net/dev") as file:
            for line in file.readlines()[2:]:
                name, _, numbers = line.partition(":")
                with suppress(IndexError, ValueError):
                    sent[namespace, name.strip()] = int(numbers.split()[8])
    counters = [0] * layout.num_links
    for cable in layout.cables:
        for port in cable.ends:
            counters[port.link] = sent.get((hosts.get(port.node, fabric), port.interface), 0)
    return counters
