# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket network import` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[1] / "samples/network_import"


def test_what_was_assumed_is_told_and_written(hocket_cli, tmp_path: Path) -> None:
    done = hocket_cli("network", "import", SAMPLES / "two-leaves.ib", "-o", "fabric.toml")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "(ibnetdiscover): 8 hosts, 8 ranks, 3 switches, 10 links, a tree" in done.stderr
    assert "hocket: assumed: the latency of each link is 500 ns" in done.stderr
    text = (tmp_path / "fabric.toml").read_text()
    assert text.startswith("# Imported by hocket ")
    assert "# Assumed: the latency of each link is 500 ns, which ibnetdiscover files do not say: measure " in text


def test_without_an_output_the_file_is_printed(hocket_cli, tmp_path: Path) -> None:
    done = hocket_cli("network", "import", SAMPLES / "two-leaves.xml", "--format", "simgrid")
    assert done.returncode == 0, done.stderr
    (tmp_path / "fabric.toml").write_text(done.stdout)
    shown = hocket_cli("network", "show", "fabric.toml")
    assert "two-leaves: 8 ranks, 11 nodes, 20 directed links, a tree" in shown.stdout, shown.stderr


def test_standard_input_is_read(hocket_cli) -> None:
    text = (SAMPLES / "two-leaves.ib").read_text()
    done = hocket_cli("network", "import", "-", stdin=text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# Imported by hocket ")
    assert "standard input (ibnetdiscover): 8 hosts, 8 ranks, 3 switches, 10 links, a tree" in done.stderr
    done = hocket_cli("network", "import", "-", stdin="")
    assert done.stderr.startswith("error: standard input: it is empty\n")


def test_a_file_that_is_cut_off_is_told(hocket_cli) -> None:
    text = (SAMPLES / "two-leaves.ib").read_text()
    cut = text[: text.index("caguid=0xabc0000000000120")]
    done = hocket_cli("network", "import", "-", stdin=cut)
    assert done.returncode == 0, done.stderr
    told = "left out: 3 links to cards without a block of their own: the file seems to be cut off"
    assert f"hocket: {told}" in done.stderr
    assert f"# L{told[1:]}." in done.stdout


def test_a_machine_with_one_rank_is_told(hocket_cli) -> None:
    cores = '<object type="Core"><object type="PU"/></object>' * 2
    inside = f'<object type="Machine"><object type="NUMANode"/>{cores}</object>'
    text = f'<topology version="2.0">{inside}</topology>'
    done = hocket_cli("network", "import", "-", "--ranks-on", "numa", stdin=text)
    assert done.returncode == 0, done.stderr
    assert ": 1 host, 1 rank, 0 switches, 0 links, a tree" in done.stderr
    assert "hocket: one rank, so that there is nothing to tune; --ranks-on core makes more\n" in done.stderr
    assert "one rank" not in hocket_cli("network", "import", "-", stdin=text).stderr


def test_json_is_one_object(hocket_cli) -> None:
    done = hocket_cli("network", "import", SAMPLES / "two-leaves.conf", "--json", "--bandwidth", "8 Gbit/s")
    value = json.loads(done.stdout)
    assert (value["format"], value["hosts"], value["switches"], value["ranks"]) == ("slurm", 8, 3, 8)
    assert value["network"]["links"][0]["bandwidth_bytes_per_s"] == 1e9
    assert [note.split(" is ")[0] for note in value["assumed"]] == ["the latency of each link"]
    assert done.stderr == ""


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir()))
def test_collectives_are_simulated_on_what_was_imported(hocket_cli, sample: str) -> None:
    if sample.endswith(".yaml"):
        pytest.importorskip("yaml", reason="PyYAML is not installed: topology.yaml is not read")
    assert hocket_cli("network", "import", SAMPLES / sample, "-o", "imported.toml").returncode == 0
    done = hocket_cli("simulate", "bcast", "--network", "imported.toml", "--bytes", "1 MB", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["makespan_s"] > 0


def test_a_fabric_with_several_paths_is_simulated_and_converted(hocket_cli, tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text(
        "SwitchName=l0 Nodes=a[0-3]\nSwitchName=l1 Nodes=b[0-3]\n"
        "SwitchName=s0 Switches=l[0-1]\nSwitchName=s1 Switches=l[0-1]\n"
    )
    done = hocket_cli("network", "import", "topology.conf", "-o", "fabric.toml", "--seed", "5")
    assert "not a tree, routing ecmp" in done.stderr
    assert 'kind = "ecmp"\nseed = 5\n' in (tmp_path / "fabric.toml").read_text()
    assert hocket_cli("simulate", "random-ring", "--network", "fabric.toml", "--bytes", "1 MB").returncode == 0
    assert hocket_cli("network", "convert", "fabric.toml").stdout.count("[[link]]") == 12


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-file"], "no-such-file: cannot read the file: No such file or directory"),
        (["."], ".: it is a folder"),
        (["/dev/null"], "/dev/null: it is empty"),
        ([SAMPLES / "two-leaves.conf", "--format", "hwloc"], "two-leaves.conf:1: not XML"),
        ([SAMPLES / "two-leaves.ib", "--format", "slurm"], "two-leaves.ib:6: "),
        ([SAMPLES / "two-leaves.conf", "--latency", "5"], "--latency"),
        ([SAMPLES / "two-leaves.conf", "--hosts", "n["], "--hosts: the brackets"),
        (
            [SAMPLES / "two-leaves.conf", "-o", "/no/such/folder/x"],
            "cannot write the network file: the folder /no/such/folder does not exist",
        ),
        ([SAMPLES / "two-leaves.conf", "--format", "ib"], "'ib' is not one of"),
    ],
)
def test_mistakes_are_one_message(hocket_cli, arguments: list[object], words: str) -> None:
    done = hocket_cli("network", "import", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) <= 2
