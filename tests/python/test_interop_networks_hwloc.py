# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Networks inside machines, from hwloc's XML. All samples but those of tests/samples are made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.interop.networks import Options, import_network
from network_imports import SAMPLES, Import, refusal


def machine(inside: str, after: str = "", attributes: str = "") -> str:
    return f'<topology version="2.0"><object type="Machine" {attributes}>{inside}</object>{after}</topology>'


CORE = '<object type="Core"><object type="PU"/></object>'


def numa(count: int, cores: int = 1) -> str:
    return "".join(
        f'<object type="Group" cpuset="0x{1 << i:x}"><object type="NUMANode" os_index="{i}" gp_index="{i}" '
        f'cpuset="0x{1 << i:x}"/>{CORE * cores}</object>'
        for i in range(count)
    )


def test_memory_bandwidth_is_that_of_the_link_above(imported: Import) -> None:
    attributes = (
        '<memattr name="Bandwidth"><memattr_value target_obj_type="NUMANode" target_obj_gp_index="1" value="1000" '
        'initiator_cpuset="0x2"/></memattr>'
        '<memattr name="Latency"><memattr_value target_obj_type="NUMANode" target_obj_gp_index="1" value="80" '
        'initiator_cpuset="0x2"/></memattr>'
    )
    network = imported(machine(numa(2, 2), attributes)).network
    trunk = [
        link
        for link in network.links
        if {network.nodes[link.source].kind} == {"switch"} == {network.nodes[link.target].kind}
    ]
    assert sorted({(link.bandwidth_bytes_per_s, link.latency_s) for link in trunk}) == [
        (1000 * 2**20, 80e-9),
        (40e9, 100e-9),
    ]


def test_distances_that_follow_no_tree_are_links_between_memories(imported: Import) -> None:
    def distances(values: str, kind: int = 5) -> str:
        return (
            f'<distances2 type="NUMANode" nbobjs="4" kind="{kind}" indexing="os"><indexes>0 1 2 3</indexes>'
            f"<u64values>{values}</u64values></distances2>"
        )

    same = imported(machine(numa(4), distances("10 20 20 20 20 10 20 20 20 20 10 20 20 20 20 10")))
    assert same.network.is_tree
    ring = imported(
        machine(numa(4), distances("10 16 22 16 16 10 16 22 22 16 10 16 16 22 16 10")), trunk_latency="1 us"
    )
    assert (ring.hosts, ring.switches, ring.cables) == (4, 0, 6)
    assert sorted({round(link.latency_s / 50e-9, 6) for link in ring.network.links}) == [1, 1.375]
    speed = imported(machine(numa(4), distances("9 1 2 1 1 9 1 2 2 1 9 1 1 2 1 9", kind=9)))
    assert {link.bandwidth_bytes_per_s for link in speed.network.links} == {1e6, 2e6}


def test_ranks_are_where_they_are_wanted_and_allowed(imported: Import) -> None:
    sample = str(SAMPLES / "machine-hwloc3.xml")
    counts = {
        kind: import_network(sample, options=Options(ranks_on=kind)).hosts
        for kind in ("pu", "core", "l3", "package", "numa")
    }
    assert counts == {"pu": 8, "core": 4, "l3": 2, "package": 2, "numa": 2}
    text = Path(sample).read_text().replace('allowed_cpuset="0x000000ff"', 'allowed_cpuset="0x000000,,0xf3"')
    assert imported(text).hosts == 3
    assert "--ranks-on l3: the machine has none\nit has: pu" in refusal(
        lambda: imported(machine('<object type="PU"/><object type="PU"/>'), ranks_on="l3")
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<topology version="9.0"/>', ':1: version "9.0" of hwloc\'s XML is not known'),
        ('<topology version="2.0">\n</topology>', "it has 0 objects of type Machine"),
        (machine(""), "the machine has no processor"),
        (machine('<object type="PU" cpuset="12"/>', "", 'allowed_cpuset="0x1"'), 'cpuset is "12"'),
        (machine(numa(2), '<distances2 type="NUMANode" indexing="os" kind="x"/>'), '"x" is not a number'),
        (
            machine(numa(2), '<distances2 type="NUMANode" indexing="os"><indexes>0 1</indexes></distances2>'),
            "2 objects and 0",
        ),
        (machine("<object>\n<x"), ":2: not XML: not well-formed"),
    ],
)
def test_mistakes_in_hwloc_files_have_their_line(imported: Import, text: str, words: str) -> None:
    assert words in refusal(lambda: imported(text))
