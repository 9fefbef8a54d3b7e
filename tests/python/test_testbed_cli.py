# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket testbed` as a user types it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hocket.mpi.build import workarounds_for
from hocket.testbed import available
from hocket.testbed.names import names
from mpis import MpiRunner

AVAILABLE, REASON = available()
needs_namespaces = pytest.mark.skipif(not AVAILABLE, reason=f"no testbed here: {REASON}")


@pytest.fixture
def network_file(tmp_path: Path) -> Path:
    path = tmp_path / "pair.toml"
    path.write_text(
        'format = "hocket.network/1"\nname = "pair"\n'
        'node = [{ name = "left", kind = "host" }, { name = "right", kind = "host" }]\n'
        'link = [{ between = ["left", "right"], bandwidth = "100 Mbit/s" }]\n'
    )
    return path


@needs_namespaces
def test_run_passes_output_and_status_on(hocket_cli: Any, network_file: Path) -> None:
    done = hocket_cli("testbed", "run", network_file, "--", "sh", "-c", "hostname; ssh right hostname; exit 5")
    assert (done.returncode, done.stdout) == (5, "left\nright\n")
    assert "bytes over the links" in done.stderr
    assert hocket_cli("testbed", "run", network_file, "--", "sh", "-c", "kill -9 $$").returncode == 137


@needs_namespaces
def test_an_mpi_program_ends(hocket_cli: Any, runner: MpiRunner) -> None:
    """MPI_Finalize of MPICH before 4.2 hangs in every second run on several hosts, if nothing is done about it."""
    source = "#include <mpi.h>\nint main(void) { int r, s; MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &r);"
    source += "MPI_Allreduce(&r, &s, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); MPI_Finalize(); return s != 28; }"
    program = runner.compile(source)
    for _ in range(3 if workarounds_for(runner.mpi) else 1):
        done = hocket_cli("testbed", "run", "star:8", "--timeout", 200, "--", *runner.command(8, program))
        assert done.returncode == 0, done.stderr


@needs_namespaces
def test_run_as_json_is_one_object(hocket_cli: Any, network_file: Path) -> None:
    done = hocket_cli("testbed", "run", network_file, "--json", "--host", "right", "--", "sh", "-c", "hostname; exit 3")
    result = json.loads(done.stdout)
    assert done.returncode == result["returncode"] == 3
    assert result["stdout"] == "right\n"
    assert result["bytes_crossed"] == 0
    assert len(result["link_bytes"]) == 2


@needs_namespaces
def test_up_list_run_down(hocket_cli: Any, network_file: Path) -> None:
    name = f"cli-{os.getpid()}"
    try:
        assert f"testbed {name} is up" in hocket_cli("testbed", "up", network_file, "--name", name).stdout
        rows = json.loads(hocket_cli("testbed", "list", "--json").stdout)["testbeds"]
        row = next(row for row in rows if row["name"] == name)
        assert (row["network"], row["hosts"], row["ranks"]) == ("pair", ["left", "right"], 2)
        assert name in hocket_cli("testbed", "list").stdout
        assert hocket_cli("testbed", "run", name, "--", "hostname").stdout == "left\n"
        again = hocket_cli("testbed", "up", network_file, "--name", name)
        assert (again.returncode, "already up" in again.stderr) == (1, True)
    finally:
        done = hocket_cli("testbed", "down", name)
    assert done.stdout == f"testbed {name} is down\n"
    assert name not in names()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["up", "no-such-file.toml"], 2, "no-such-file.toml"),
        (["run", "no-such-file.toml", "--", "true"], 2, "no-such-file.toml"),
        (["down"], 2, "give the name of a testbed, or --all"),
        (["down", "no-such-testbed"], 2, "no testbed named 'no-such-testbed'"),
        (["run", "star:3"], 2, "COMMAND"),
    ],
)
def test_mistakes_give_one_message(hocket_cli: Any, arguments: list[str], status: int, message: str) -> None:
    done = hocket_cli("testbed", *arguments)
    assert done.returncode == status
    assert message in done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


@needs_namespaces
def test_a_missing_program_is_told(hocket_cli: Any, network_file: Path) -> None:
    done = hocket_cli("testbed", "run", network_file, "--", "no-such-program")
    assert done.returncode == 2
    assert "command not found: 'no-such-program'" in done.stderr
    done = hocket_cli("testbed", "run", network_file, "--host", "zz", "--", "true")
    assert done.returncode == 2
    assert "the testbed has no host 'zz'" in done.stderr


@needs_namespaces
def test_interfaces_of_all_hosts_run_when_the_command_starts(hocket_cli: Any, network_file: Path) -> None:
    """The kernel may take a second to say so, and UCX takes no interface before it does."""
    state = "cat /sys/class/net/eth0/operstate"
    done = hocket_cli("testbed", "run", network_file, "--", "sh", "-c", f"ssh right {state}; {state}")
    assert (done.returncode, done.stdout) == (0, "up\nup\n")
