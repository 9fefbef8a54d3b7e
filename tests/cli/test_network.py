# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket network` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_show_prints_nodes_and_links(hocket_cli) -> None:
    done = hocket_cli("network", "show", str(ROOT / "networks/two-clusters.toml"))
    assert done.returncode == 0, done.stderr
    assert "two-clusters: 8 ranks, 10 nodes, 18 directed links, a tree" in done.stdout
    assert "790 Mbit/s" in done.stdout


def test_show_json_is_one_object(hocket_cli) -> None:
    done = hocket_cli("network", "show", "fat-tree:2x2x4", "--json")
    value = json.loads(done.stdout)
    assert value["num_ranks"] == 16
    assert not value["is_tree"]
    assert len(value["links"]) == 2 * 48
    assert value["links"][0]["bandwidth_bytes_per_s"] == 125e6


def test_show_route_names_the_nodes_on_the_way(hocket_cli) -> None:
    done = hocket_cli("network", "show", "torus:4x4", "--route", "3", "9")
    assert done.stdout == "h3 -> h0 -> h1 -> h5 -> h9\n", done.stderr
    done = hocket_cli("network", "show", "dragonfly:2,4,2", "--route", "0", "71", "--json")
    value = json.loads(done.stdout)
    assert value["nodes"][0] == "h0"
    assert value["nodes"][-1] == "h71"
    assert len(value["links"]) == len(value["nodes"]) - 1
    assert hocket_cli("network", "show", "star:4", "--route", "0", "4").returncode == 2


@pytest.mark.parametrize(
    "text", ["torus:4x4", "mesh:3x5", "hypercube:4", "dragonfly:2,4,2", "fat-tree:4x4/2", "dragonfly:2,4,2,5"]
)
def test_every_kind_is_generated_with_a_routing(hocket_cli, text: str) -> None:
    done = hocket_cli("network", "generate", text, "--routing", "ecmp", "--seed", "3")
    assert done.returncode == 0, done.stderr
    assert 'routing = "ecmp"\nseed = 3\n' in done.stdout


def test_long_tables_are_cut_and_said(hocket_cli) -> None:
    done = hocket_cli("network", "show", "star:100")
    assert "136 more links: print them with --all" in done.stderr
    assert "136 more" not in hocket_cli("network", "show", "star:100", "--all").stderr


def test_generated_files_read_back(hocket_cli, tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    done = hocket_cli(
        "network",
        "generate",
        "two-clusters:2+2",
        "--trunk-bandwidth",
        "10 Mbit/s",
        "--latency",
        "50 us",
        "-o",
        str(path),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert hocket_cli("network", "convert", str(path)).stdout == path.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "/no/such.toml"], "/no/such.toml: cannot read the network file: No such file or directory"),
        (["show", "sta:8"], 'unknown kind of network "sta"'),
        (["generate", "star:0"], "0 is not in 1.."),
        (["generate", "star:8", "--bandwidth", "5"], 'bandwidth: "5" is not a bandwidth: it has no unit'),
        (
            ["show", "torus:4", "--routing", "d-mod-k"],
            'routing "d-mod-k" is none of torus; accepted: "dimension-order"',
        ),
        (["generate", "torus:4", "--seed", "3"], 'seed belongs to routing "ecmp" alone'),
        (["show", str(ROOT / "networks/two-clusters.toml"), "--seed", "3"], "are for generated networks"),
        (["generate", "star:8", "-o", "/no/such/folder/x.toml"], "cannot write the network file"),
    ],
)
def test_mistakes_are_one_message(hocket_cli, arguments: list[str], message: str) -> None:
    done = hocket_cli("network", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
