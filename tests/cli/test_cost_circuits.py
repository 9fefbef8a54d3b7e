# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket cost --ports`: figures 6 to 9 of [Takizawa] by one command."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent.parent / "golden/circuits.csv"
PAPER = ["--ranks", "32", "--ports", "2,3,4", "--setup", "5ms", "--teardown", "5ms"]
PAPER += ["--latency", "100 us", "--bandwidth", "1 Gbit/s", "--bytes", "1 MB", "--whole"]


def test_the_figures_of_the_paper(hocket_cli, tmp_path):
    run = hocket_cli("cost", "bcast", "allgather", *PAPER, "--figures", str(tmp_path / "figures"), "--json")
    assert run.returncode == 0, run.stderr
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        *(f"allgather-{name}.{kind}" for name in ("recursive_doubling", "ring") for kind in ("png", "svg")),
        *(f"bcast-{name}.{kind}" for name in ("binomial", "linear") for kind in ("png", "svg")),
        "circuits.html",
    ]
    assert (tmp_path / "figures/bcast-linear.png").read_bytes().startswith(b"\x89PNG")
    curves = {"a circuit a message": "naive", "no set-up": "ideal"}
    times = {
        (f"{figure['collective']} {figure['algorithm']}", curves.get(curve["name"], curve["ports"]), size): time
        for figure in json.loads(run.stdout)["figures"]
        for curve in figure["curves"]
        for size, time in zip(figure["bytes"], curve["time_s"], strict=True)
    }
    points = [row for row in csv.DictReader(GOLDEN.open()) if row["figure"].startswith("fig")]
    assert len(points) == 100
    for row in points:
        algorithm, scheme = row["algorithm"].split("/")
        curve = int(row["k"]) if scheme == "proposed" else scheme
        found = times[f"{row['collective']} {algorithm}", curve, float(row["bytes"])]
        assert found == pytest.approx(float(row["value_s"]), rel=1e-9), row


def test_the_table(hocket_cli):
    run = hocket_cli("cost", "bcast", *PAPER)
    assert run.returncode == 0, run.stderr
    assert "70.500 ms (3)" in run.stdout


def test_the_paper_s_alltoall_is_marked(hocket_cli):
    run = hocket_cli("cost", "alltoall", *PAPER)
    assert "alltoall recursive_doubling *" in run.stdout
    assert "* by equation 5 of [Takizawa], which counts the volume of an allgather" in run.stdout
    assert "*" not in hocket_cli("cost", "bcast", *PAPER).stdout


def test_messages_of_no_bytes(hocket_cli, tmp_path):
    run = hocket_cli("cost", "bcast", *PAPER, "--bytes", "0 B")
    assert run.returncode == 0
    assert "20.500 ms (2)" in run.stdout  # five rounds of 100 us, two batches
    run = hocket_cli("cost", "bcast", *PAPER, "--bytes", "0 B", "--figures", str(tmp_path / "figures"))
    assert (run.returncode, "begins at 1 B" in run.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bcast", "--ports", "2", "--bytes", "1 B"], "--ports needs --ranks, --bandwidth, --latency, --setup"),
        (["bcast", "--ports", "2", "--bytes", "1 B", "--network", "star:8"], "--ports needs --setup, --teardown"),
        (["bcast", *PAPER, "--ports", "two"], "'two'; accepted: whole numbers from 1 to 2147483647, such as 2,3,4"),
        (["bcast", *PAPER, "--ports", "0"], "'0'; accepted: whole numbers from 1 to 2147483647"),
        (["bcast", *PAPER, "--setup", "5"], '--setup: "5" is not a duration: it has no unit'),
        (["bcast", *PAPER, "--teardown", "-1ms"], '--teardown: "-1ms" is not a duration: it is negative'),
        (["bcast", *PAPER, "--root", "3"], "--root does not apply to circuits"),
        (["bcast", *PAPER, "--pieces", "3"], "--segments does not apply to circuits"),
        (["gossip", *PAPER], '"gossip"'),
        (["bcast", "--bytes", "1 B", "--network", "star:8", "--figures", "x"], "--figures is of circuits"),
        (["bcast", "--bytes", "1 B", "--network", "star:8", "--accounting", "hidden"], "--accounting is of circuits"),
        (["bcast", "reduce", "--bytes", "1 B"], "2 collectives are given"),
    ],
)
def test_what_is_refused(hocket_cli, arguments, message):
    run = hocket_cli("cost", *arguments)
    assert run.returncode == 2
    assert message in run.stderr
    assert "Traceback" not in run.stderr


NETWORK = """format = "hocket.network/1"
name = "optical"
[generate]
kind = "star"
shape = "32"
bandwidth = "1 Gbit/s"
latency = "50 us"
[circuits]
setup = "5 ms"
teardown = "5 ms"
ports = 2
"""


def test_a_network_with_circuits_gives_what_is_not_given(hocket_cli, tmp_path):
    (tmp_path / "optical.toml").write_text(NETWORK)
    said = ["cost", "bcast", "--bytes", "1 MB", "--json", "--network", "optical.toml"]

    def values(*more):
        run = hocket_cli(*said, *more)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    paper = json.loads(hocket_cli("cost", "bcast", *PAPER, "--ports", "2", "--json").stdout)
    assert values("--whole") == paper
    changed = values("--ports", "2,3", "--setup", "0s", "--teardown", "5ns", "--accounting", "hidden", "--ranks", "8")
    names = ("ranks", "ports", "setup_s", "teardown_s", "accounting")
    assert [changed[name] for name in names] == [8, [2, 3], 0, 5e-9, "hidden"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('injection = "all"', 'injection = "all": closed forms are of "one"'),
        ('controller = "serial"', 'controller = "serial": closed forms are of "parallel"'),
        ("wavelengths = 2", "no limit of wavelengths"),
        ('[[circuits.node]]\nname = "h1"\nports = 3', "[[circuits.node]]: closed forms are of nodes with equal ports"),
        ('[[circuits.change]]\nat = "1 s"\nnode = "h1"\nports = 3', "[[circuits.change]]"),
    ],
)
def test_circuits_that_closed_forms_do_not_know(hocket_cli, tmp_path, more, message):
    (tmp_path / "optical.toml").write_text(NETWORK + more + "\n")
    run = hocket_cli("cost", "bcast", "--bytes", "1 MB", "--network", "optical.toml")
    assert run.returncode == 2
    assert f"optical: {message}" in run.stderr or f"optical: closed forms know {message}" in run.stderr


def test_a_folder_that_is_a_file_is_refused(hocket_cli, tmp_path):
    (tmp_path / "file").write_text("mine")
    run = hocket_cli("cost", "bcast", *PAPER, "--figures", str(tmp_path / "file"))
    assert run.returncode == 2
    assert "expected a folder" in run.stderr
    assert (tmp_path / "file").read_text() == "mine"
