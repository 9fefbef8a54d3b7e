# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""SimGrid platforms: routes, latencies and bandwidths are those that SimGrid has. The platforms are made up."""

from __future__ import annotations

import subprocess
from itertools import permutations
from pathlib import Path

import pytest

from hocket import InvalidInput, Network
from hocket.interop.networks import Imported, Options, import_network
from mpis import LIMIT_S

SIMGRID_ROUTES = Path(__file__).parents[2] / "build/peers/drivers/simgrid_routes"


ONES = ",".join(["1"] * 3000)


def platform(inside: str) -> str:
    head = '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
    return f'{head}\n<platform version="4.1">\n{inside}\n</platform>\n'


def zone(kind: str, inside: str, name: str = "world") -> str:
    return f'<zone id="{name}" routing="{kind}">{inside}</zone>'


def cluster(name: str, radical: str, attributes: str = "") -> str:
    return (
        f'<cluster id="{name}" prefix="{name}-" suffix=".x" radical="{radical}" speed="1Gf" bw="1GBps" lat="3us" '
        f"{attributes}/>"
    )


def hosts(*names: str) -> str:
    return "".join(f'<host id="{name}" speed="1Gf"/>' for name in names)


def link(name: str, bandwidth: str = "1GBps", latency: str = "10us", policy: str = "SHARED") -> str:
    return f'<link id="{name}" bandwidth="{bandwidth}" latency="{latency}" sharing_policy="{policy}"/>'


def route(a: str, b: str, *links: str, tag: str = "route", gateways: tuple[str, str] | None = None) -> str:
    ends = f'gw_src="{gateways[0]}" gw_dst="{gateways[1]}"' if gateways else ""
    inside = "".join(
        f'<link_ctn id="{name.split("/")[0]}" {f"""direction="{name.split("/")[1]}" """ if "/" in name else ""}/>'
        for name in links
    )
    return f'<{tag} src="{a}" dst="{b}" {ends}>{inside}</{tag}>'


def router_of(name: str) -> str:
    return f"{name}-{name}_router.x"


def between(a: str, b: str, *links: str, tag: str = "zoneRoute") -> str:
    return route(a, b, *links, tag=tag, gateways=(router_of(a), router_of(b)))


TWO_CLUSTERS = cluster("a", "0-2") + cluster("b", "0,2-3", 'bb_bw="1500MBps" bb_lat="7us" sharing_policy="SHARED"')
PLATFORMS = {
    "crossbar": cluster("c", "0-3"),
    "backbone": cluster("c", "0-4", 'bb_bw="2GBps" bb_lat="7us"'),
    "fast-backbone": cluster("c", "0-4", 'bb_bw="20GBps" bb_lat="7us"'),
    "pipe-backbone": cluster("c", "0-4", 'bb_bw="500MBps" bb_lat="7us" bb_sharing_policy="FATPIPE"'),
    "limiter": cluster("c", "0-3", 'limiter_link="1500MBps"'),
    "fat-tree": zone("Full", cluster("c", "0-15", 'topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2"')),
    "fat-tree-3": zone("Full", cluster("c", "0-17", 'topology="FAT_TREE" topo_parameters="3;3,2,3;1,2,2;1,1,1"')),
    "torus": zone("Full", cluster("c", "0-59", 'topology="TORUS" topo_parameters="5,4,3"')),
    "torus-2": zone("Full", cluster("c", "0-11", 'topology="TORUS" topo_parameters="3,2,2" sharing_policy="SHARED"')),
    # With one chassis: of several, SimGrid 4.1 leaves the chassis of the source out of account inside a group.
    "dragonfly": zone("Full", cluster("c", "0-29", 'topology="DRAGONFLY" topo_parameters="3,4;1,1;5,2;2"')),
    "two-clusters": zone("Full", TWO_CLUSTERS + link("wan", "500MBps", "1ms") + between("a", "b", "wan")),
    "bus": zone(
        "Full",
        TWO_CLUSTERS
        + cluster("d", "1")
        + link("bus", "1100MBps")
        + "".join(between(x, y, "bus") for x, y in ("ab", "ad", "bd")),
    ),
    "bypass": zone(
        "Full",
        cluster("a", "1")
        + cluster("b", "1")
        + cluster("d", "1")
        + "".join(link(name) for name in ("la", "lb", "ld", "direct"))
        + between("a", "b", "la", "lb")
        + between("a", "d", "la", "ld")
        + between("b", "d", "lb", "ld")
        + between("a", "b", "direct", tag="bypassZoneRoute"),
    ),
    "graph": zone(
        "Dijkstra",
        hosts("h0", "h1", "h2", "h3")
        + '<router id="r"/>'
        + "".join(link(f"l{i}", policy="SPLITDUPLEX") for i in range(4))
        + link("long", latency="1ms")
        + "".join(route(f"h{i}", "r", f"l{i}/UP") for i in range(4))
        + route("h0", "h3", "long"),
    ),
    "no-graph": zone(
        "Full",
        hosts("x", "y", "z")
        + "".join(link(name) for name in "abcd")
        + route("x", "y", "a", "b", "c")
        + route("x", "z", "b", "d", "a")
        + route("y", "z", "c", "a"),
    ),
    "host-links": zone(
        "Cluster",
        hosts("x", "y", "z")
        + link("xu", "2GBps")
        + link("xd", "1GBps", "20us")
        + link("yy", policy="SPLITDUPLEX")
        + link("zz")
        + '<host_link id="x" up="xu" down="xd"/><host_link id="y" up="yy_UP" down="yy_DOWN"/>'
        '<host_link id="z" up="zz" down="zz"/><backbone id="bb" bandwidth="1GBps" latency="5us"/><router id="r"/>',
    ),
    "coordinates": zone(
        "Vivaldi",
        "".join(
            f'<peer id="p{i}" speed="1Gf" coordinates="{3 * i} {4 * i} 0.5" bw_in="1GBps" bw_out="2GBps"/>'
            for i in range(3)
        ),
    ),
}


def imported(tmp_path: Path, text: str, options: Options | None = None) -> Imported:
    path = tmp_path / "platform.xml"
    path.write_text(text, encoding="utf-8")
    return import_network(str(path), options=options)


def names(network: Network) -> list[str]:
    return [network.nodes[node].name for node in network.rank_nodes]


def cost(network: Network, a: int, b: int) -> tuple[float, float]:
    links = [network.links[i] for i in network.route(a, b)]
    return sum(link.latency_s for link in links), min(link.bandwidth_bytes_per_s for link in links)


@pytest.mark.parametrize("name", PLATFORMS)
def test_routes_cost_what_they_do_in_simgrid(tmp_path: Path, name: str) -> None:
    if not SIMGRID_ROUTES.exists():
        pytest.skip("SimGrid is not installed: `make perf-peers QUICK=1` does it")
    network = imported(tmp_path, platform(PLATFORMS[name])).network
    pairs = list(permutations(range(network.num_ranks), 2))
    text = "".join(f"{names(network)[a]}\t{names(network)[b]}\n" for a, b in pairs)
    done = subprocess.run(
        [SIMGRID_ROUTES, tmp_path / "platform.xml"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_S,
    )
    theirs = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
    assert len(theirs) == len(pairs)
    for (a, b), expected in zip(pairs, theirs, strict=True):
        assert cost(network, a, b) == pytest.approx(expected, rel=1e-12), (a, b)


# The same without SimGrid, for some pairs that are reckoned by hand: from, to, latency in us, bandwidth in MB/s.
BY_HAND = [
    ("crossbar", "c-0.x", "c-3.x", 6, 1000),
    ("backbone", "c-0.x", "c-3.x", 13, 1000),
    ("fast-backbone", "c-0.x", "c-3.x", 13, 1000),
    ("pipe-backbone", "c-0.x", "c-3.x", 13, 500),
    ("two-clusters", "a-1.x", "b-2.x", 3 + 1000 + 7 + 3, 500),
    ("bus", "a-0.x", "d-1.x", 3 + 10 + 3, 1000),
    ("bypass", "a-1.x", "b-1.x", 3 + 10 + 3, 1000),
    ("bypass", "b-1.x", "a-1.x", 3 + 20 + 3, 1000),
    ("graph", "h0", "h3", 1000, 1000),
    ("graph", "h0", "h1", 20, 1000),
    ("no-graph", "x", "z", 30, 1000),
    ("host-links", "x", "y", 10 + 5 + 10, 1000),
    ("host-links", "y", "x", 10 + 5 + 20, 1000),
    ("coordinates", "p0", "p2", 10_000 + 1000, 1000),
    ("torus", "c-0.x", "c-3.x", 6, 1000),
    ("dragonfly", "c-0.x", "c-29.x", 15, 1000),
]


@pytest.mark.parametrize(("name", "a", "b", "latency_us", "megabytes_per_s"), BY_HAND)
def test_routes_cost_what_their_links_do(
    tmp_path: Path, name: str, a: str, b: str, latency_us: float, megabytes_per_s: float
) -> None:
    network = imported(tmp_path, platform(PLATFORMS[name])).network
    ranks = names(network)
    expected = (latency_us * 1e-6, megabytes_per_s * 1e6)
    assert cost(network, ranks.index(a), ranks.index(b)) == pytest.approx(expected, rel=1e-12)


def shared(network: Network, pairs: list[tuple[str, str]]) -> set[int]:
    """The capacities that limit something and that the routes of all pairs have."""
    ranks = names(network)
    routes = [network.route(ranks.index(a), ranks.index(b)) for a, b in pairs]
    links = list(network.links)
    return set.intersection(
        *({links[i].capacity for i in each if links[i].bandwidth_bytes_per_s < float("inf")} for each in routes)
    )


def test_all_messages_share_a_backbone_and_none_a_crossbar(tmp_path: Path) -> None:
    pairs = [("c-0.x", "c-1.x"), ("c-2.x", "c-3.x"), ("c-3.x", "c-2.x")]
    assert len(shared(imported(tmp_path, platform(PLATFORMS["backbone"])).network, pairs)) == 1
    assert shared(imported(tmp_path, platform(PLATFORMS["crossbar"])).network, pairs) == set()
    bus = imported(tmp_path, platform(PLATFORMS["bus"])).network
    assert len(shared(bus, [("a-0.x", "b-0.x"), ("d-1.x", "a-1.x"), ("b-2.x", "d-1.x")])) == 1


def test_a_link_is_shared_by_both_directions_if_simgrid_says_so(tmp_path: Path) -> None:
    text = platform(zone("Full", hosts("x", "y") + link("l", policy="SHARED") + route("x", "y", "l")))
    assert imported(tmp_path, text).network.links[0].half_duplex
    text = platform(zone("Full", hosts("x", "y") + link("l", policy="SPLITDUPLEX") + route("x", "y", "l/UP")))
    assert not imported(tmp_path, text).network.links[0].half_duplex


def test_a_pipe_that_is_never_the_narrowest_limits_nothing(tmp_path: Path) -> None:
    ends = hosts("x", "y") + link("a") + link("b")
    wide = platform(zone("Full", ends + link("p", "5GBps", policy="FATPIPE") + route("x", "y", "a", "p", "b")))
    result = imported(tmp_path, wide)
    assert float("inf") in {each.bandwidth_bytes_per_s for each in result.network.links}
    assert result.assumed == []
    narrow = wide.replace("5GBps", "5MBps")
    assert any("1 FATPIPE link," in note for note in imported(tmp_path, narrow).assumed)


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    text = platform(zone("Full", hosts("x", "y") + link("l") + route("x", "y", "l")))
    plain = text.replace(' speed="1Gf"', "")
    assert text != plain
    assert imported(tmp_path, plain).ignored == []
    disk = text.replace("<zone", '<storage id="d"/><zone', 1)
    assert imported(tmp_path, disk).ignored == ["speeds of hosts", "disks"]


def test_sums_of_latencies_are_written_without_their_noise(tmp_path: Path) -> None:
    text = platform(zone("Full", hosts("x", "y") + link("l", latency="300.00000000000003us") + route("x", "y", "l")))
    assert 'latency = "300 us"' in imported(tmp_path, text).toml


def test_hosts_that_have_no_route_can_be_left_out(tmp_path: Path) -> None:
    text = platform(zone("Full", hosts("x", "y", "alone") + link("l") + route("x", "y", "l")))
    with pytest.raises(InvalidInput, match='no route from "alone" to "x"'):
        imported(tmp_path, text)
    assert names(imported(tmp_path, text, Options(hosts="y,x")).network) == ["y", "x"]


def test_many_hosts_say_what_is_not_as_in_simgrid(tmp_path: Path) -> None:
    tree = imported(tmp_path, platform(cluster("c", "0-399", 'bb_bw="2GBps"')))
    assert tree.network.is_tree
    assert any("share limit each message" in note for note in tree.assumed)
    torus = imported(
        tmp_path, platform(zone("Full", cluster("c", "0-399", 'topology="TORUS" topo_parameters="20,20"')))
    )
    assert any("which SimGrid does not take for" in note for note in torus.assumed)


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        (zone("Wifi", ""), ":3: a Wifi zone"),
        (zone("Star", ""), ':3: routing is "Star"'),
        ("<include file='x'/>", 'unknown element "include"'),
        (cluster("c", "3-1"), 'radical is "3-1"'),
        (cluster("c", "0-99999999"), "more than 2097152 hosts"),
        (cluster("c", "0-7", 'topology="TORUS" topo_parameters="3,3"'), "it has 9 hosts, and radical 8"),
        (cluster("c", "0-7", 'topology="TORUS" topo_parameters="3;3"'), "these are no parameters of TORUS"),
        (cluster("c", "0-7", 'topology="TORUS" topo_parameters="0"'), "is not a list of positive numbers"),
        (cluster("c", "0", f'topology="TORUS" topo_parameters="{ONES}"'), "these are no parameters of TORUS"),
        (cluster("c", "0", f'topology="FAT_TREE" topo_parameters="3000;{ONES};{ONES};{ONES}"'), "no parameters of FAT"),
        ("", "it has no host"),
        (cluster("c", "0-7", 'topology="FAT_TREE" topo_parameters="2;2,2;9"'), "no parameters of FAT_TREE"),
        (cluster("c", "0-7", 'topology="RING"'), 'topology is "RING"'),
        (cluster("c", "0-7", 'bb_bw="1 furlong"'), 'bb_bw of cluster is "1 furlong"'),
        (zone("Full", link("l", "0")), "accepted: 1bps to 1e18 Bps"),
        (zone("Full", link("l", "1e400")), "accepted: 1bps to 1e18 Bps"),
        (zone("Full", hosts("a", "a")), 'a second host or router is "a"; the first is in line 3'),
        (zone("Full", link("l") + link("l")), 'a second link is "l"'),
        (zone("Full", hosts("a") + route("a", "b")), 'dst: no host or router is "b"'),
        (zone("Full", hosts("a", "b") + route("a", "b", "l")), 'id: no link is "l"'),
        (
            zone("Full", hosts("a", "b") + link("l") + link("m") + route("a", "b", "l") + route("b", "a", "m")),
            "a second route",
        ),
        (zone("None", hosts("a", "b") + link("l") + route("a", "b", "l")), "a route in a zone of routing None"),
        (zone("Full", "<host_link id='a' up='b' down='c'/>"), "expected: Cluster or Vivaldi"),
        (zone("Vivaldi", '<host id="a" speed="1" coordinates="1 2"/>'), "expected: three numbers"),
        (zone("Full", '<host speed="1"/>'), "host has no id"),
        (
            zone("Full", hosts("a") + zone("Full", "", "z") + route("z", "a", tag="zoneRoute", gateways=("a", "a"))),
            "is not in the zone",
        ),
    ],
)
def test_mistakes_in_platforms_have_their_line(tmp_path: Path, inside: str, words: str) -> None:
    with pytest.raises(InvalidInput) as error:
        imported(tmp_path, platform(inside))
    assert words in f"{error.value.message}\n{error.value.hint}"
