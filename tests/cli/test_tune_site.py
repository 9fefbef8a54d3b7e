# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket tune --site`: a plan for all programs of a placement."""

import json

import pytest

from hocket.mpi.discover import Mpi
from hocket.plan import Plan
from hocket.testbed import available

pytestmark = [pytest.mark.one_of_each_family, pytest.mark.in_turns]

EMULATED, REASON = available()

# Ranks alternate between two groups, so that nearly every MPI's own way is a bad one.
NETWORK = 'format = "hocket.network/1"\nname = "alternating"\nplacement = ["a0", "b0", "a1", "b1"]\n'
for name, kind in [("s0", "switch"), ("s1", "switch"), *((host, "host") for host in ("a0", "a1", "b0", "b1"))]:
    NETWORK += f'[[node]]\nname = "{name}"\nkind = "{kind}"\n'
for ends, mbit in (("a0 s0", 400), ("a1 s0", 400), ("b0 s1", 400), ("b1 s1", 400), ("s0 s1", 40)):
    NETWORK += f'[[link]]\nbetween = {ends.split()}\nbandwidth = "{mbit} Mbit/s"\nlatency = "50 us"\n'


@pytest.mark.skipif(not EMULATED, reason=f"no testbed here: {REASON}")
def test_a_plan_without_a_program(mpi: Mpi, hocket_cli, tmp_path) -> None:
    (tmp_path / "net.toml").write_text(NETWORK)
    options = ["--site", "--testbed", "--network", "net.toml", "--measure-time", "25s", "-o", "s.plan"]
    command = ["--", mpi.mpiexec, "-n", 4]
    done = hocket_cli("tune", *options, "--json", *command)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ranks"] == 4
    assert found["hosts"] == ["a0", "b0", "a1", "b1"]
    measured = [one for one in found["collectives"] if one["native_s"] is not None]
    assert measured, found
    plan = Plan.from_file(tmp_path / "s.plan")
    assert (plan.ranks, plan.network, list(plan.hosts)) == (4, "alternating", found["hosts"])
    assert {entry.evidence.mpi for entry in plan.entries if entry.evidence} <= {mpi.name}
    kept = [one for one in measured if one["reason"] is None]
    assert kept, measured  # the slow link is ten times as slow as the others
    for one in kept:
        assert plan.entry_for(one["collective"], (0, 1, 2, 3), one["bytes"], 0) is not None
        assert one["ratio"] > 1
    again = hocket_cli("tune", *options, *command)
    assert again.returncode == 2
    assert "s.plan exists" in again.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("hocket-")] == []


@pytest.mark.parametrize("option", [["--repetitions", "3"], ["--progress", "on"]])
def test_options_that_need_a_program(hocket_cli, tmp_path, option) -> None:
    (tmp_path / "net.toml").write_text(NETWORK)
    done = hocket_cli("tune", "--site", *option, "--network", "net.toml", "--", "mpiexec", "-n", 4)
    assert done.returncode == 2
    assert f"{option[0]} needs a program" in done.stderr
    assert not (tmp_path / "site.plan").exists()


def test_what_cannot_be(hocket_cli, tmp_path) -> None:
    (tmp_path / "net.toml").write_text(NETWORK)
    for options, command, message in (
        (["-o", "."], [], "no file can be written there"),
        ([], ["true"], "true: with --site the command is a launcher without a program"),
        (["-o", "none/s.plan"], [], "none"),
    ):
        done = hocket_cli("tune", "--site", *options, "--network", "net.toml", "--", "mpiexec", "-n", 4, *command)
        assert done.returncode == 2, done.stderr
        assert message in done.stderr


def test_one_rank_alone(mpi: Mpi, hocket_cli, tmp_path) -> None:
    (tmp_path / "net.toml").write_text(NETWORK)
    done = hocket_cli("tune", "--site", "--network", "net.toml", "--", mpi.mpiexec, "-n", 1)
    assert done.returncode == 2, done.stderr
    assert "one rank alone" in done.stderr
    assert not (tmp_path / "site.plan").exists()
