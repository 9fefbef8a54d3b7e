# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""One installation for all users: what is laid out, and what a loaded module does to a program and to all the rest."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket.mpi.discover import Mpi
from hocket.mpi.launch import launch_environment
from mpis import LIMIT_S, MPICH_SHARING_CORES, MpiRunner

Cli = Callable[..., subprocess.CompletedProcess[str]]
MODULES = {
    "environment-modules": Path("/usr/share/modules/init/sh"),
    "lmod": Path(os.environ.get("HOCKET_TEST_LMOD", "/usr/share/lmod/lmod"), "init/sh"),
}
NETWORK = f"""
format = "hocket.network/1"
[[node]]
name = "{socket.gethostname()}"
kind = "host"
ranks = 4
memory_bandwidth = "100 Mbit/s"
memory_latency = "20 us"
"""
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static char data[1000000];
int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; ++i) MPI_Bcast(data, sizeof data, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s|%s\n", argv[1], getenv("LD_PRELOAD"));
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture
def site(mpi: Mpi, hocket_cli: Cli, tmp_path: Path) -> Path:
    (tmp_path / "net.toml").write_text(NETWORK)
    prefix = tmp_path / "site"
    done = hocket_cli("site", "install", "--prefix", prefix, "--network", "net.toml", "--mpi", mpi.label)
    assert done.returncode == 0, done.stderr
    assert f"{mpi.name}: {prefix}/mpi/{mpi.label}" in done.stdout
    return prefix


@pytest.mark.one_of_each_family
@pytest.mark.parametrize("system", MODULES)
def test_with_the_module_the_command_stays_as_it_is(
    mpi: Mpi, runner: MpiRunner, site: Path, system: str, tmp_path: Path
) -> None:
    if not MODULES[system].exists():
        pytest.skip(f"{system} is not installed: {MODULES[system]} is missing")
    program = runner.compile(PROGRAM)
    words = runner.command(4, program, "a word")
    if mpi.family == "openmpi":  # which does not take this beside every other way to hand variables on
        words[1:1] = ["-x", "PATH"]
    command = shlex.join(words)
    script = (
        f". {MODULES[system]}; module use {site}/modulefiles; module load hocket; module list; {command} && "
        "cat /proc/self/maps; module unload hocket; echo left=$LD_PRELOAD,$HOCKET_NETWORK"
    )
    # As a user who has neither hocket nor its Python.
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "HOCKET_STATISTICS": str(tmp_path / "statistics.json"),
        **launch_environment(shlex.split(command), mpi),
    }
    done = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    said, _, rest = done.stdout.partition("\n")
    assert said.startswith(f"a word|{site}/mpi/{mpi.label}/lib/libhocket_interpose.so")
    served = json.loads((tmp_path / "statistics.json").read_text())
    assert served["network"] == f"{site}/network.toml"
    assert any(row["collective"] == "bcast" for row in served["calls"])
    # `cat` has the small library alone.
    assert "libhocket_site.so" in rest
    assert "libhocket_interpose" not in rest
    assert "libmpi" not in rest
    assert rest.rstrip().endswith("left=,")


def test_hosts_that_open_mpi_reaches_by_ssh(mpi: Mpi, runner: MpiRunner, site: Path, tmp_path: Path) -> None:
    """With a command in the place of ssh, whose processes have nothing of this environment either."""
    if mpi.family != "openmpi":
        pytest.skip("MPICH's launcher hands all variables on")
    remote = tmp_path / "remote.sh"
    remote.write_text('#!/bin/sh\nshift\nexec env -i PATH=/usr/bin:/bin HOME="$HOME" sh -c "$*"\n')
    remote.chmod(0o755)
    program = runner.compile(PROGRAM)
    agent = ["--mca", "plm_rsh_agent"] if mpi.major < 5 else ["--prtemca", "plm_ssh_agent"]
    options = [*agent, str(remote), "--host", "one:1", *(["-x", "HOME"] if mpi.major < 5 else [])]
    command = shlex.join([str(mpi.mpiexec), *options, "-n", "1", str(program), "a word"])
    modules = next((path for path in MODULES.values() if path.exists()), None)
    if modules is None:
        pytest.skip("neither Environment Modules nor Lmod is installed")
    done = subprocess.run(
        ["bash", "-c", f". {modules}; module use {site}/modulefiles; module load hocket; {command}"],
        env={**launch_environment([str(mpi.mpiexec), "-n", "1"], mpi), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"a word|{site}/mpi/{mpi.label}/lib/libhocket_interpose.so")


@pytest.mark.one_of_each_family
def test_a_job_proves_it(mpi: Mpi, site: Path, hocket_cli: Cli, tmp_path: Path) -> None:
    done = hocket_cli("site", "check", "--prefix", site, "--", mpi.mpiexec, "-n", "4", env=MPICH_SHARING_CORES)
    assert done.returncode == 0, done.stderr
    assert f"{mpi.name}: 4 rank(s) on 1 host(s): {socket.gethostname()}" in done.stdout
    assert "hocket's library: in 4 of 4 rank(s)" in done.stdout
    assert "data of collectives: right" in done.stdout
    assert "collective calls: " in done.stdout
    (site / "mpi" / mpi.label / "lib/libhocket_interpose.so").unlink()
    done = hocket_cli("site", "check", "--json", "--prefix", site, "--", mpi.mpiexec, "-n", "2")
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == 1
    assert (found["ranks"], found["with_hocket"], found["right"]) == (2, 0, False)


@pytest.mark.one_of_each_family
def test_programs_of_an_mpi_that_it_was_not_installed_for(
    mpi: Mpi, runner: MpiRunner, site: Path, tmp_path: Path
) -> None:
    (site / "lib/mpis").write_text(f"/elsewhere/libmpi.so\t{site}/mpi/{mpi.label}\n")
    program = runner.compile(PROGRAM)
    done = runner.run(2, program, "x", libraries=[site / "lib/libhocket_site.so"])
    assert done.stdout.startswith(f"x|{site}/lib/libhocket_site.so")
    assert done.stderr.count("is of no MPI that hocket was installed for: nothing is changed") == 1


def test_replacing_and_refusing(hocket_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/file").touch()
    for prefix, message in (
        ("own", "is there and has no site.json"),
        ("no/folder", "does not exist"),
        ("a b", "cannot preload"),
    ):
        done = hocket_cli("site", "install", "--prefix", tmp_path / prefix)
        assert done.returncode == 2
        assert message in done.stderr
    done = hocket_cli("site", "install", "--prefix", tmp_path / "new", "--mpi", "none-1.0")
    assert done.returncode == 2
    assert "--mpi none-1.0: no such MPI here" in done.stderr
    done = hocket_cli("site", "check", "--prefix", tmp_path / "own", "--", "mpiexec", "-n", "2")
    assert done.returncode == 2
    assert "hint: install one: hocket site install" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own"]


@pytest.mark.one_of_each_family
def test_an_installation_is_replaced_whole(mpi: Mpi, site: Path, hocket_cli: Cli, tmp_path: Path) -> None:
    (site / "old").touch()
    before = os.umask(0o077)
    try:
        done = hocket_cli("site", "install", "--prefix", site, "--mpi", mpi.label, "--json")
    finally:
        os.umask(before)
    assert done.returncode == 0, done.stderr
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in (site, *site.rglob("*")))
    assert (site / "mpi" / mpi.label / "bin/hocket-site-job").stat().st_mode & 0o055 == 0o055
    assert json.loads(done.stdout)["network"] is None
    assert not (site / "old").exists()
    assert not (site / "network.toml").exists()
    assert "HOCKET_NETWORK" not in (site / "hocket.def").read_text()
    definition = (site / "hocket.def").read_text()
    assert f"export LD_PRELOAD={site}/lib/libhocket_site.so" in definition
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".site-")]
