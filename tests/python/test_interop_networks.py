# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Networks from the files of Slurm, ibnetdiscover, hwloc and SimGrid. All samples are made up."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket import Network
from hocket.interop.networks import Options, import_network
from network_imports import SAMPLES, Import, refusal


def without_comments(toml: str) -> str:
    return "".join(line for line in toml.splitlines(True) if not line.startswith("#"))


def names_on_route(network: Network, a: int, b: int) -> list[str]:
    links, nodes = network.links, network.nodes
    return [nodes[network.rank_nodes[a]].name, *(nodes[links[i].target].name for i in network.route(a, b))]


def test_one_fabric_is_the_same_network_in_every_format() -> None:
    speeds = {"bandwidth": "32 Gbit/s", "trunk_bandwidth": "96 Gbit/s"}
    given = {
        "conf": Options(**speeds, latency="500 ns"),
        "yaml": Options(**speeds, latency="500 ns"),
        "ib": Options(latency="500 ns"),
        "xml": Options(),
    }
    pytest.importorskip("yaml", reason="PyYAML is not installed: topology.yaml is not read")
    results = {suffix: import_network(str(SAMPLES / f"two-leaves.{suffix}"), options=o) for suffix, o in given.items()}
    texts = {suffix: without_comments(result.toml) for suffix, result in results.items()}
    assert len(set(texts.values())) == 1, texts
    network = results["ib"].network
    assert (network.num_ranks, network.is_tree, network.name) == (8, True, "two-leaves")
    assert names_on_route(network, 0, 7) == ["n0", "leaf0", "spine", "leaf1", "n7"]
    assert results["xml"].assumed == []
    assert {result.format for result in results.values()} == {"slurm", "ibnetdiscover", "simgrid"}


def test_one_machine_is_the_same_network_in_every_version_of_hwloc() -> None:
    results = [import_network(str(SAMPLES / f"machine-hwloc{version}.xml")) for version in (1, 2, 3)]
    trees = {tuple((link.source, link.target, link.latency_s) for link in r.network.links) for r in results}
    assert len(trees) == 1
    names = [node.name for node in results[1].network.nodes]
    assert names == ["core0", "core1", "core2", "core3", "l3-0", "l3-1", "machine0"]
    assert [results[1].network.links[i].latency_s for i in results[1].network.route(0, 3)] == [50e-9, 1e-7, 1e-7, 50e-9]


# Slurm


def test_slurm_lists_that_form_a_ring_are_the_graph_that_they_are(imported: Import) -> None:
    result = imported(
        "SwitchName=s0 Nodes=a[0-1],b Switches=s1\nSwitchName=s1 Nodes=c Switches=s2,s0\n"
        "SwitchName=s2 Nodes=d,d Switches=s0\n"
    )
    assert (result.hosts, result.switches, result.cables) == (5, 3, 8)
    assert result.routing == "ecmp"
    assert not result.network.is_tree
    assert any("1 name that" in note for note in result.ignored)


def test_slurm_parts_without_a_root_meet_at_one_that_is_assumed(imported: Import) -> None:
    result = imported("SwitchName=s0 Nodes=a[0-1]\nSwitchName=s1 Nodes=b[0-1]\n")
    assert names_on_route(result.network, 0, 3) == ["a0", "s0", "assumed-top", "s1", "b1"]
    assert any("assumed-top" in note for note in result.assumed)
    blocks = imported("BlockName=b0 Nodes=n[1-4]\nBlockName=b1 Nodes=n[5-8]\nBlockSizes=4,8\n")
    assert (blocks.hosts, blocks.network.is_tree) == (8, True)


def test_a_node_of_two_switches_forwards_nothing(imported: Import) -> None:
    result = imported(
        "SwitchName=r0 Nodes=a,h\nSwitchName=r1 Nodes=b,h\nSwitchName=m0 Switches=r0\nSwitchName=m1 Switches=r1\n"
        "SwitchName=top Switches=m[0-1]\n"
    )
    assert names_on_route(result.network, 0, 1) == ["a", "r0", "m0", "top", "m1", "r1", "b"]
    assert 'name = "h"\nkind = "host"\nrelay = false\n' in result.toml


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SwitchName=s0 Nodes=n[0-\n", ":1: Nodes: the brackets of the host list"),
        ("\n# x\nSwitchName=s0 Nodes=n[5-2]", ':3: Nodes: the range "5-2" ends before it begins'),
        ("SwitchName=s0 Nodes=n[0-99999999]", "more than 2097152 names"),
        ("SwitchName=s0 Nodes=n[0-999][0-9999]", "more than 2097152 names"),
        ("SwitchName=s0 Nodes=n" + "[0-2000000]" * 1000, "more than 2097152 names"),
        ("SwitchName=s0 Nodes=" + "x" * 1025, "more than 1024 characters"),
        ("SwitchName=s0 Nodes=" + "x" * 10**6 + "[0-2000000]", "more than 1024 characters"),
        ("SwitchName=s0 Nodes=n" + "[1]" * 2000, "more than 1024 characters"),
        ("SwitchName=s0 Nodes=a,,b", "a name of the host list"),
        ("SwitchName=s0 Nodes=n[0-1] Speed=3", ':1: unknown key "Speed"\naccepted: SwitchName, Switches, Nodes'),
        ("SwitchName=s0 nodes=a,b\nfoo", ':2: "foo" is not a KEY=VALUE'),
        ("SwitchName=s0 Nodes=a\nSwitchName=s0 Nodes=b", ':2: a second line describes "s0"; the first is line 1'),
        ("SwitchName=s0 Switches=s7", ':1: Switches of "s0": no line describes the switch "s7"'),
        ("SwitchName=s0 Nodes=s0", '"s0" is a switch'),
        ("SwitchName=s0 Nodes=a\nSwitchName=s1 Switches=s1", 'a link joins "s1" with itself'),
        ("SwitchName=s0 Nodes=", "Nodes is empty"),
        ("SwitchName=s0 Nodes=a\nInclude other.conf", "is not a KEY=VALUE"),
        ("SwitchName=s0 Nodes=a\nNodes=b", ":2: the line names no switch"),
        ("SwitchName=s0", "it has no host"),
    ],
)
def test_mistakes_in_topology_conf_have_their_line(imported: Import, text: str, words: str) -> None:
    assert words in refusal(lambda: imported(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- topology: a\n  tree: {switches: [{switch: s, nodes: 'n[0'}]}", ":2: nodes: the brackets"),
        ("- topology: a\n  flat: true", "neither tree nor block"),
        ("- topology: a\n  tree: [", "not YAML"),
        ("topology: a", "not a list"),
        ("- topology: a\n  tree: {switches: {}}", "found keys with values, not a list"),
        ("- topology: a\n  tree: {switches: [{nodes: a}]}", "an entry names no switch"),
        ("- topology: &x a\n  tree: " + "[" * 5000, "not YAML"),
        ("- topology: a\n  tree: {}\n  tree: {}", ':3: the key "tree" occurs twice'),
    ],
)
def test_mistakes_in_topology_yaml_have_their_line(imported: Import, text: str, words: str) -> None:
    pytest.importorskip("yaml", reason="PyYAML is not installed: topology.yaml is not read")
    assert words in refusal(lambda: imported(text, "slurm"))


@pytest.mark.parametrize("form", ["conf", "yaml"])
def test_short_files_cannot_name_more_nodes_than_fit_in_memory(
    imported: Import, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr("hocket.interop.networks.slurm_groups.MOST_LISTED", 10)
    if form == "conf":
        lists = [f"SwitchName=s{i} Nodes=n[0-3]\n" for i in range(3)]
        text, line = "".join(lists), 3
    else:
        pytest.importorskip("yaml", reason="PyYAML is not installed: topology.yaml is not read")
        entries = "".join(f"\n    - {{switch: s{i}, nodes: 'n[0-3]'}}" for i in range(3))
        text, line = f"- topology: a\n  tree:\n    switches:{entries}\n", 6
    words = refusal(lambda: imported(text, "slurm"))
    assert f":{line}: " in words
    assert "the lists down to this one have more than 10 names" in words


def test_the_name_of_the_file_may_be_no_utf8(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.conf")
    Path(path).write_text("SwitchName=s0 Nodes=a,b")
    assert import_network(path).network.name == "a\\xff"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_are_called_so(imported: Import, pack: Callable[[bytes], bytes]) -> None:
    assert "it is compressed\nunpack it first" in refusal(lambda: imported(pack(b"SwitchName=s0 Nodes=a,b"), "slurm"))


# ibnetdiscover


NINES = "9" * 5000  # more digits than Python makes a number of


def fabric(*blocks: str) -> str:
    return "\n\n".join(blocks) + "\n"


def test_infiniband_speeds_and_several_cards_of_a_host(imported: Import) -> None:
    result = imported(
        fabric(
            'Switch 36 "S-1" # "leaf one" lid 1\n[1] "H-1"[1](1) # "a mlx5_0" lid 2 4xHDR\n[2] "H-3"[1](3)',
            'Switch 36 "S-2" # "MF0;leaf two:X/U1"\n[1] "H-2"[1](2) # "a mlx5_1" lid 2 2xNDR\n[9] "H-9"[1] # 4xHDR\n'
            '[2] "S-1"[36] # "leaf one" lid 1 12xFDR',
            'Ca 1 "H-1" # "a mlx5_0"\n[1](1) "S-1"[1] # lid 2 lmc 0 "leaf one" lid 1 4xHDR',
            'Ca 1 "H-2" # "a mlx5_1"\n[1](2) "S-2"[1] # lid 2 lmc 0 "leaf two" lid 1 2xNDR',
            'Ca 1 "H-3" # "MT25408 ConnectX Mellanox Technologies"\n[1](3) "S-1"[2] # 1xSDR',
            'Ca 1 "H-9" # "Mellanox Technologies Aggregation Node"\n[1] "S-2"[9] # 4xHDR',
        )
    )
    network = result.network
    bandwidth = {
        frozenset((network.nodes[link.source].name, network.nodes[link.target].name)): link.bandwidth_bytes_per_s
        for link in network.links
    }
    assert bandwidth == {
        frozenset(("a", "S-1")): 25e9,
        frozenset(("a", "leaf two")): 25e9,
        frozenset(("H-3", "S-1")): 0.25e9,
        frozenset(("S-1", "leaf two")): pytest.approx(12 * 14.0625e9 * 64 / 66 / 8),
    }
    assert [node.relays for node in network.nodes if node.name == "a"] == [False]
    assert any("1 aggregation node in" in note for note in result.ignored)
    assert any("each of 1 card whose" in note for note in result.assumed)


def test_a_node_name_map_names_cards_and_switches(imported: Import, tmp_path: Path) -> None:
    names = tmp_path / "names"
    names.write_text('# map\n0x1 "rack 1 leaf"\nH-000000000000000a first\n0xB second node\n')
    text = fabric('Switch 8 "S-1" # ""\n[1] "H-a"[1]\n[2] "H-b"[1]', 'Ca 1 "H-a" # "x"', 'Ca 1 "H-b" # "y"')
    network = imported(text, names=str(names), bandwidth="10 Gbit/s").network
    assert [node.name for node in network.nodes] == ["first", "second", "rack 1 leaf"]
    names.write_text("no guid\n")
    assert f'{names}:1: "no guid" is not a GUID and name' in refusal(lambda: imported(text, names=str(names)))


def test_remarks_between_the_nodes_are_no_matter(imported: Import) -> None:
    text = fabric(
        "src/query_smp.c:195; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110; Connection timed out",
        'Chassis 1 (guid 0x2c9)\nNon-Chassis Nodes\nvendid=0x2c9\nSwitch 8 "S-1"\n[1] "H-1"[1] # 4xQDR',
        'Ca 1 "H-1" # "a HCA-1"\n[1] "S-1"[1] # 4xQDR',
    )
    assert imported(text).hosts == 1


def test_ibsim_files_say_widths_only(imported: Import) -> None:
    text = fabric(
        'Switch\t8 "Sw"\n[1]\t"Hca1"[1]\n[2]\t"Hca2"[2]\tw=12', 'Hca 2 "Hca1"\n[1] "Sw"[1]', 'Hca 2 "Hca2"\n[2] "Sw"[2]'
    )
    network = imported(text, bandwidth="7 Gbit/s").network
    assert {link.bandwidth_bytes_per_s for link in network.links} == {7e9 / 8, 3e9}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('Switch 8 "S-1"\nSwitch 8 "S-1"', ':2: a second node is "S-1"; the first is in line 1'),
        ('Switch 8 "S-1"\n[1] "S-2"[1]\n[1] "S-2"[2]', ':3: port 1 of "S-1" stands in line 2 already'),
        (
            'Switch 8 "S-1"\n[1] "S-2"[1]\nSwitch 8 "S-2"\n[1] "S-1"[2]',
            ':2: port 1 of "S-1" leads to port 1 of "S-2", which by line 4 leads to port 2 of "S-1"',
        ),
        ('Switch 8 "S-1"\n[1] "H-1"[1] # 4xABC\nCa 1 "H-1"', '"4xABC" is no known width and speed'),
        ('Switch 8 "S-1"\n[1] "H-1"[1] # 3xQDR\nCa 1 "H-1"', "accepted: 1x, 2x, 4x, 8x or 12x of SDR"),
        ('Switch 8 "S-1"\nport 1', ':2: "port 1" is neither a node nor a port'),
        (f'Switch 8 "S-1"\n[{NINES}] "H-1"[1]', '9..." is neither a node nor a port'),
        (f'Switch 8 "S-1"\n[1] "H-1"[{NINES}]', '9..." is neither a node nor a port'),
        (f'Switch 8 "S-1"\n[1] "H-1"[1] # {NINES}xQDR\nCa 1 "H-1"', '9..." is no known width and speed'),
        (f'Switch 8 "S-1"\n[1] "H-1"[1] w={NINES}\nCa 1 "H-1"', "is no known width\naccepted: w= 1, 2, 4, 8, 12"),
        ('Switch 8 "S-1"\n[1] "H-1"[1] w=0\nCa 1 "H-1"', ':2: "w=0" is no known width'),
        ('Ca 1 "H-1" # "x"', ":1: no node has a link to another"),
    ],
)
def test_mistakes_in_ibnetdiscover_output_have_their_line(imported: Import, text: str, words: str) -> None:
    assert words in refusal(lambda: imported(text, "ibnetdiscover"))


# All formats


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is empty"),
        (b"\x00\xff\x01", "its format is not recognised"),
        (b"hello", "its format is not recognised\naccepted: Slurm's topology.conf"),
        (b"<html/>", 'its XML element "html" is of no known format'),
        (b"<", "not XML"),
        (b'format = "hocket.network/1"\n', "it is a file of hocket already"),
        (b'<!DOCTYPE topology [<!ENTITY a "b">]>\n<topology/>', ":1: the XML declares an entity"),
        (b"<topology version='2'>" + b"<object>" * 300, "nested more than 256 deep"),
        (b'<?xml version="1.0" encoding="no-such"?><topology/>', "not XML"),
    ],
)
def test_what_is_no_network_is_one_message(imported: Import, data: bytes, words: str) -> None:
    assert words in refusal(lambda: imported(data))


def test_entities_are_not_expanded(imported: Import) -> None:
    bomb = (
        b'<!DOCTYPE platform [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><platform>&b;</platform>'
    )
    assert "declares an entity" in refusal(lambda: imported(bomb))
    outside = b'<!DOCTYPE platform [<!ENTITY a SYSTEM "file:///etc/passwd">]><platform>&a;</platform>'
    assert "declares an entity" in refusal(lambda: imported(outside))


def test_names_may_hold_anything(imported: Import) -> None:
    odd = 'n"\\\u007f\u00e9{}#[]='
    result = imported(
        f'Switch 8 "S-1"\n[1] "Ca{odd[2:]}1"[1] # 4xQDR\nCa 1 "Ca{odd[2:]}1"\n[1] "S-1"[1] # 4xQDR\n', "ibnetdiscover"
    )
    assert result.network.nodes[0].name == f"Ca{odd[2:]}1"
    broken = imported(b"SwitchName=s\xff Nodes=a\xfe,b\n")
    assert [node.name for node in broken.network.nodes] == ["a\\xfe", "b", "s\\xff"]


def test_hosts_are_chosen_and_ordered(imported: Import) -> None:
    text = "SwitchName=s Nodes=n[0-9]\n"
    network = imported(text, hosts="n[7-8],n1", ranks=2).network
    assert [network.nodes[node].name for node in network.rank_nodes] == ["n7/0", "n7/1", "n8/0", "n8/1", "n1/0", "n1/1"]
    assert 'no host "n10"\nit has "n0"' in refusal(lambda: imported(text, hosts="n10"))
    assert '--hosts names "n1" twice' in refusal(lambda: imported(text, hosts="n[0-1],n1"))


def test_options_that_have_no_use_are_told_or_refused(imported: Import) -> None:
    assert "--names is for ibnetdiscover files" in refusal(lambda: imported("SwitchName=s Nodes=a,b", names="x"))
    assert "--ranks-on is for hwloc files" in refusal(lambda: imported("SwitchName=s Nodes=a,b", ranks_on="core"))
    tree = imported("SwitchName=s Nodes=a,b", routing="ecmp", trunk_latency="1 us")
    assert [note.split(":")[0] for note in tree.ignored] == ["--trunk-latency", "--routing"]
    assert "--bandwidth" in refusal(lambda: imported("SwitchName=s Nodes=a,b", bandwidth="5"))


@pytest.mark.parametrize("kind", ["slurm", "ibnetdiscover", "simgrid"])
def test_ten_thousand_hosts_take_seconds(imported: Import, kind: str) -> None:
    count, leaf = 12_000, 60
    if kind == "slurm":
        lines = [f"SwitchName=s{i} Nodes=n[{leaf * i}-{leaf * i + leaf - 1}]" for i in range(count // leaf)]
        text = "\n".join([*lines, f"SwitchName=top Switches=s[0-{count // leaf - 1}]"])
    elif kind == "ibnetdiscover":
        blocks = []
        for i in range(count // leaf):
            ports = [f'[{p + 1}] "H-{leaf * i + p:x}"[1] # "n{leaf * i + p} mlx5_0" lid 1 4xHDR' for p in range(leaf)]
            blocks.append("\n".join([f'Switch 64 "S-{i:x}" # "leaf"', *ports, f'[64] "S-ffff"[{i + 1}] # 4xHDR']))
            blocks += [
                f'Ca 1 "H-{leaf * i + p:x}" # "n{leaf * i + p} mlx5_0"\n[1] "S-{i:x}"[{p + 1}] # 4xHDR'
                for p in range(leaf)
            ]
        text = fabric(*blocks, 'Switch 800 "S-ffff" # "top"')
    else:
        text = (
            '<platform version="4.1"><zone id="w" routing="Full"><cluster id="c" prefix="n" suffix="" '
            f'radical="0-{count - 1}" speed="1Gf" bw="1GBps" lat="1us" bb_bw="10GBps"/></zone></platform>'
        )
    assert imported(text).network.num_ranks == count
