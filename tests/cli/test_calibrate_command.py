# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket calibrate` on emulated networks."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from hocket import Network
from hocket.mpi.discover import Mpi
from hocket.testbed import available

pytestmark = pytest.mark.in_turns  # what is tested is hocket's own

EMULATED, REASON = available()
NETWORK = """
format = "hocket.network/1"
[[node]]
name = "s0"
kind = "switch"
[[node]]
name = "s1"
kind = "switch"
[[link]]
between = ["s0", "s1"]
bandwidth = "30 Mbit/s"
"""


def write_network(folder: Path) -> Path:
    hosts = "".join(
        f'[[node]]\nname = "{name}{i}"\nkind = "host"\n'
        f'[[link]]\nbetween = ["{name}{i}", "{switch}"]\nbandwidth = "80 Mbit/s"\n'
        for name, switch in (("a", "s0"), ("b", "s1"))
        for i in range(2)
    )
    path = folder / "true.toml"
    path.write_text(NETWORK + hosts)
    return path


@pytest.mark.skipif(not EMULATED, reason=f"no testbed here: {REASON}")
@pytest.mark.begins_early
@pytest.mark.in_turns
@pytest.mark.one_of_each_family
def test_two_clusters_are_found(mpi: Mpi, hocket_cli, tmp_path: Path) -> None:
    options = ["--testbed", write_network(tmp_path), "--launches", "1", "--rounds", "3", "--json", "-o", "found.toml"]
    result = hocket_cli("calibrate", *options, "--", mpi.mpiexec, "-n", 4)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    network = Network.from_file(tmp_path / "found.toml")
    assert network.name == "found"
    steps = [line for line in result.stderr.splitlines() if line.startswith("hocket: measuring: ")]
    assert len(steps) == len(set(steps)) >= 6
    assert Network.from_text(found["network"], "json") == network
    assert [node.name for node in network.nodes if node.kind == "host"] == ["a0", "a1", "b0", "b1"]
    # The slow link between the clusters halves what hosts reach across it, whatever else disturbs this machine.
    assert [link["between"] for link in found["links"] if link["error_without"] is not None] == [["s1", "s0"]]
    names = [node.name for node in network.nodes]
    across = next(link for link in network.links if (names[link.source], names[link.target]) == ("s1", "s0"))
    # On a busy machine 1.14 and 1.26 have been seen; that the shaper saves up what a late sender leaves is a guess.
    assert 0.7 < across.bandwidth_bytes_per_s * 8e-6 / 30 < 1.5
    table = tomllib.loads((tmp_path / "found.toml").read_text())["calibration"]
    assert table["grade"] == found["grade"]
    assert table["grade"] in "ABC"
    # What calibrate wrote is a network for the other commands.
    simulated = hocket_cli("simulate", "bcast:binomial", "--network", "found.toml", "--bytes", "1 MB", "--json")
    assert json.loads(simulated.stdout)["results"][0]["makespan_s"] > 0


@pytest.mark.one_of_each_family  # no rank gets as far as what an MPI does
def test_one_host_has_no_network(mpi: Mpi, hocket_cli, tmp_path: Path) -> None:
    result = hocket_cli("calibrate", "--", mpi.mpiexec, "-n", 2)
    assert result.returncode == 1
    assert "there is no network to measure" in result.stderr
    assert "hint: start ranks on several hosts" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.one_of_each_family
def test_hosts_are_told_to_the_launcher(mpi: Mpi, hocket_cli) -> None:
    result = hocket_cli("calibrate", "--hosts", "localhost,localhost", "--", mpi.mpiexec, "-n", 2)
    assert result.returncode == 1
    assert "there is no network to measure" in result.stderr
    result = hocket_cli("calibrate", "--hosts", "no-such-host.invalid", "--", mpi.mpiexec, "-n", 1)
    assert result.returncode == 1
    assert "no-such-host.invalid" in result.stderr


@pytest.mark.one_of_each_family
def test_what_is_refused(mpi: Mpi, hocket_cli, tmp_path: Path) -> None:
    result = hocket_cli("calibrate", "-o", "nowhere/x.toml", "--", mpi.mpiexec, "-n", "2")
    assert result.returncode == 2
    assert f"the folder {tmp_path / 'nowhere'} does not exist" in result.stderr
    result = hocket_cli("calibrate", "--", "no-such-launcher", "-n", "2")
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    result = hocket_cli("calibrate", "--", mpi.mpiexec, "-n", "2", "true")
    assert result.returncode == 1
    assert "leave yours out" in result.stderr
    result = hocket_cli("calibrate", "--hosts", "a,,b", "--", mpi.mpiexec, "-n", "2")
    assert result.returncode == 2
    assert "--hosts a,,b: a name is empty" in result.stderr
    result = hocket_cli("calibrate", "--hosts", "a,b", "--testbed", "star:2", "--", mpi.mpiexec, "-n", "2")
    assert result.returncode == 2
    assert "--hosts does not apply to --testbed" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not EMULATED, reason=f"no testbed here: {REASON}")
@pytest.mark.one_of_each_family
def test_the_mpis_own_collectives_are_added(mpi: Mpi, hocket_cli, tmp_path: Path) -> None:
    path = write_network(tmp_path)
    options = ["--testbed", path, "--natives", "--network", path, "--time", "4s", "-o", "with.toml", "--json"]
    result = hocket_cli("calibrate", *options, "--", mpi.mpiexec, "-n", 4)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)["natives"]
    network, plain = Network.from_file(tmp_path / "with.toml"), Network.from_file(path)
    assert network == plain
    assert [one.factor for one in network.native_times] == [one["factor"] for one in found]
    assert {one["mpi"] for one in found} == {mpi.name}
    assert {"bcast", "allreduce"} <= {one["collective"] for one in found}
    tables = tomllib.loads((tmp_path / "with.toml").read_text())["calibration"]["native"]
    assert all(one["factor"] > 0 and one["schedule_factor"] > 0 and one["up_to_bytes"] > 0 for one in tables)
    result = hocket_cli("calibrate", "--network", path, "--", mpi.mpiexec, "-n", 4)
    assert result.returncode == 2
    assert "--network does nothing without --natives" in result.stderr
