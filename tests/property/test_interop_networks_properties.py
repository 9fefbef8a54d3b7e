# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Importing: any bytes are a network or refused, in little time; host lists are what ClusterShell makes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket import InvalidInput, Network
from hocket.interop.networks import FORMATS, Options, import_content
from hocket.interop.networks.hostlist import expand
from hocket.interop.networks.recognise import Content, recognise
from mpis import LIMIT_S

SAMPLES = {path.name: path for path in sorted((Path(__file__).parents[1] / "samples/network_import").iterdir())}
HAS_YAML = __import__("importlib.util").util.find_spec("yaml") is not None
FORMAT_OF = {".conf": "slurm", ".yaml": "slurm", ".ib": "ibnetdiscover"}


def import_or_refuse(data: bytes, format_name: str | None, options: Options | None = None) -> None:
    """What is not refused, the core has read."""
    try:
        name = format_name or recognise("file", data)
        result = import_content(Content("file", name, data), options or Options())
    except InvalidInput as refused:
        message = str(refused)
    else:
        message = "none"
        assert Network.from_text(result.toml, "file").num_ranks == result.network.num_ranks
    assert len(message.splitlines()) == 1


@given(data=st.binary(max_size=400), format_name=st.sampled_from([None, *FORMATS]))
def test_any_bytes_are_a_network_or_refused(data: bytes, format_name: str | None) -> None:
    import_or_refuse(data, format_name)


WORDS = {
    "slurm": [
        "SwitchName=",
        "BlockName=",
        "Switches=",
        "Nodes=",
        "LinkSpeed=",
        "BlockSizes=",
        "s",
        "n[0-",
        "]",
        ",",
        "\\\n",
        "\n",
        " ",
        "#",
        '"',
        "- topology: a\n",
        "  tree:\n",
        "switches: [",
        "{",
        "}",
        "switch: s",
        "nodes: a",
        "&a",
        "*a",
    ],
    "ibnetdiscover": [
        'Switch 8 "S-',
        'Ca 1 "H-',
        'Rt 2 "R-',
        '"',
        "[1]",
        "[2]",
        '"H-1"',
        '"S-1"',
        "(1)",
        " # ",
        '"a mlx5_0"',
        "lid 1",
        " 4xQDR",
        " w=4",
        "\n",
        "switchguid=0x1\n",
        "1",
        "a",
    ],
    "hwloc": [
        '<topology version="2.0">',
        '<object type="Machine">',
        '<object type="Package">',
        '<object type="NUMANode" os_index="0"/>',
        '<object type="NUMANode" os_index="1">',
        '<object type="Core">',
        '<object type="PU" cpuset="0x1"/>',
        "</object>",
        "</topology>",
        '<distances2 type="NUMANode" kind="5" indexing="os">',
        "<indexes>0 1</indexes>",
        "<u64values>1 2 2 1</u64values>",
        "</distances2>",
    ],
    "simgrid": [
        '<platform version="4.1">',
        "</platform>",
        '<zone id="z" routing="Full">',
        '<zone id="y" routing="Floyd">',
        '<zone id="x" routing="Cluster">',
        '<zone id="w" routing="Vivaldi">',
        "</zone>",
        '<host id="a" speed="1"/>',
        '<host id="b" speed="1"/>',
        '<router id="r"/>',
        '<link id="l" bandwidth="1Gbps" latency="1us"/>',
        '<link id="m" bandwidth="1GBps" sharing_policy="SPLITDUPLEX"/>',
        '<route src="a" dst="b">',
        '<route src="a" dst="r">',
        '<link_ctn id="l"/>',
        '<link_ctn id="m" direction="UP"/>',
        "</route>",
        '<host_link id="a" up="l" down="m_UP"/>',
        '<backbone id="bb" bandwidth="1" latency="1"/>',
        '<zoneRoute src="z" dst="y" gw_src="a" gw_dst="b">',
        "</zoneRoute>",
        '<bypassRoute src="a" dst="b">',
        "</bypassRoute>",
        '<cluster id="c" prefix="c" suffix="" radical="0-3" speed="1" bw="1MBps" lat="0" bb_bw="2MBps"/>',
        '<cluster id="t" prefix="t" suffix="" radical="0-3" speed="1" bw="1" lat="0" topology="TORUS" '
        'topo_parameters="2,2"/>',
        '<peer id="p" speed="1" coordinates="1 2 3" bw_in="1" bw_out="2"/>',
    ],
}


@given(data=st.data(), format_name=st.sampled_from(sorted(FORMATS)))
def test_any_words_of_a_format_are_a_network_or_refused(data: st.DataObject, format_name: str) -> None:
    words = data.draw(st.lists(st.sampled_from(WORDS[format_name]), max_size=30))
    if HAS_YAML or not words or "topology" not in words[0]:
        import_or_refuse("".join(words).encode(), format_name)


@given(data=st.data(), sample=st.sampled_from(sorted(SAMPLES)))
def test_a_changed_sample_is_a_network_or_refused(data: st.DataObject, sample: str) -> None:
    text = bytearray(SAMPLES[sample].read_bytes())
    if SAMPLES[sample].suffix == ".yaml" and not HAS_YAML:
        return
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text) - 1))
        length = data.draw(st.integers(0, 40))
        kind = data.draw(st.sampled_from(["cut", "double", "overwrite", "swap"]))
        part = text[at : at + length]
        if kind == "cut" and len(text) > length + 1:
            del text[at : at + length]
        elif kind == "double":
            text[at:at] = part
        elif kind == "overwrite":
            text[at : at + 1] = data.draw(st.binary(min_size=1, max_size=3))
        else:
            other = data.draw(st.integers(0, len(text) - 1))
            text[other:other] = part
    import_or_refuse(bytes(text), FORMAT_OF.get(SAMPLES[sample].suffix))


def lines(count: int, line: Callable[[int], str]) -> str:
    return "\n".join(line(i) for i in range(count))


def machine(inside: str) -> str:
    return f'<topology version="3.0"><object type="Machine">{inside}</object></topology>'


def chain(length: int) -> str:
    """Hosts in a row, so that routes are long."""
    hosts = lines(length, lambda i: f'<host id="h{i}" speed="1"/><link id="l{i}" bandwidth="1GBps"/>')
    routes = lines(length - 1, lambda i: f'<route src="h{i}" dst="h{i + 1}"><link_ctn id="l{i}"/></route>')
    return f'<platform version="4.1"><zone id="z" routing="Floyd">{hosts}{routes}</zone></platform>'


def hub(count: int) -> str:
    """All routes over one link."""
    hosts = lines(count, lambda i: f'<host id="h{i}" speed="1"/>')
    pairs = [(i, j) for i in range(count) for j in range(i)]
    routes = lines(len(pairs), lambda k: '<route src="h{}" dst="h{}"><link_ctn id="l"/></route>'.format(*pairs[k]))
    link = '<link id="l" bandwidth="1GBps"/>'
    return f'<platform version="4.1"><zone id="z" routing="Full">{link}{hosts}{routes}</zone></platform>'


LARGE = {
    "brackets": ("slurm", "SwitchName=s Nodes=" + "[" * 300_000),
    "one list": ("slurm", "SwitchName=s Nodes=" + ",".join(f"n{i}" for i in range(45_000))),
    "continued": ("slurm", "SwitchName=s \\\n" + " \\\n" * 100_000),
    "ring": ("slurm", lines(8000, lambda i: f"SwitchName=s{i} Nodes=n{i} Switches=s{(i + 1) % 8000}")),
    "all to all": ("slurm", lines(400, lambda i: f"SwitchName=s{i} Nodes=n{i}" + f" Switches=s[0-{i - 1}]" * (i > 0))),
    "parts": ("slurm", lines(12_000, lambda i: f"SwitchName=s{i} Nodes=n{i}")),
    "same name": ("ibnetdiscover", lines(8000, lambda i: f'Ca 1 "H-{i:x}" # "a mlx5_0"\n[1] "S-{i:x}"[1]')),
    "bad line": ("ibnetdiscover", "[" * 300_000),
    "description": ("ibnetdiscover", 'Switch 1 "S-1" # ' + '"' * 300_000),
    "deep": ("hwloc", "<topology>" + "<object>" * 40_000),
    "flat": ("hwloc", machine('<object type="PU"/>' * 15_000)),
    "nested": ("hwloc", machine('<object type="Group"><object type="PU"/>' * 200 + "</object>" * 200)),
    "one attribute": ("simgrid", '<platform version="' + "4" * 300_000 + '"/>'),
    "zones": ("simgrid", '<platform version="4.1">' + '<zone id="z" routing="Full">' * 10_000),
    "chain": ("simgrid", chain(290)),
    "hub": ("simgrid", hub(60)),
}


@pytest.mark.timeout(LIMIT_S)  # most take a tenth of a second, none more than 4 s, on an idle core
@pytest.mark.parametrize("name", LARGE)
def test_large_files_take_little_time(name: str) -> None:
    format_name, text = LARGE[name]
    import_or_refuse(text.encode(), format_name)


NAME = st.text("abz-.", min_size=1, max_size=4)
NUMBER = st.tuples(st.integers(0, 120), st.integers(0, 3)).map(lambda pair: str(pair[0]).zfill(pair[1]))
RANGE = st.tuples(st.integers(0, 99), st.integers(0, 20)).map(lambda pair: f"{pair[0]:02}-{pair[0] + pair[1]:02}")


@st.composite
def host_lists(draw: st.DrawFn) -> str:
    item = st.tuples(NAME, st.lists(NUMBER | RANGE, min_size=1, max_size=4)).map(lambda i: f"{i[0]}[{','.join(i[1])}]")
    return ",".join(draw(st.lists(item | NAME, min_size=1, max_size=4)))


@given(text=host_lists())
def test_host_lists_are_expanded_as_clustershell_does(text: str) -> None:
    node_set = pytest.importorskip("ClusterShell.NodeSet", reason="ClusterShell is not installed")

    def refuse(what: str, hint: str) -> None:
        raise AssertionError(what)

    expected = node_set.NodeSet(text.replace("@", ""), resolver=node_set.RESOLVER_NOGROUP)
    assert set(expand(text, refuse)) == set(expected)
