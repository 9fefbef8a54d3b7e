# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket testbed`: emulated clusters on this machine."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hocket.cli.common import command_argument, json_option, note, print_json, print_table
from hocket.cli.options import Duration
from hocket.errors import InvalidInput

if TYPE_CHECKING:
    from hocket.testbed import RunResult, Testbed


@click.group()
def command() -> None:
    """An emulated cluster on this machine, from a network file.

    Each host is a network namespace with its own host name, each switch a bridge, and each cable is shaped to the
    bandwidth of the file. Needs no root where user namespaces are allowed.

    \b
    Example:
      hocket testbed run networks/two-clusters.toml -- mpiexec -n 8 ./app
    """


@command.command()
@click.argument("network", metavar="NETWORK")
@click.option("--name", help="Name of the testbed; the network's name by default.")
@json_option
def up(network: str, name: str | None, as_json: bool) -> None:
    """Bring up the emulated cluster of a network file, which stays until `hocket testbed down`.

    \b
    Example:
      hocket testbed up networks/two-clusters.toml --name two
    """
    from hocket.cli.options import load_network
    from hocket.testbed import Testbed

    loaded = load_network(network)
    with Testbed(loaded, name=loaded.name if name is None else name) as bed:
        if as_json:
            print_json(_row(bed.information))
            return
        _tell(bed)
        own = bed.information["name"]
    print(f"testbed {own} is up: hocket testbed run {own} -- COMMAND")


@command.command()
@click.argument("network", metavar="NETWORK|NAME")
@click.option("--host", help="Start the command there; by default on the host of rank 0.")
@click.option("--timeout", type=Duration(), metavar="TIME", help="Kill the command after that time.")
@json_option
@command_argument
def run(network: str, host: str | None, timeout: float | None, as_json: bool, command: tuple[str, ...]) -> int:
    """Run a command on a testbed that is up, or on one that lives as long as the command.

    An MPI launcher starts each rank on the host that the network file gives it. `ssh HOST COMMAND` works inside.
    Programs of MPICH before 4.2 get a library preloaded without which MPI_Finalize hangs in every second run.

    \b
    Example:
      hocket testbed run networks/two-clusters.toml -- mpiexec -n 8 ./app
    """
    changed, needed = _mended(command)
    with _bed(network) as bed:
        if not as_json:
            _tell(bed)
        result = bed.run(changed, env=needed, timeout=timeout, capture=as_json, host=host)
    if as_json:
        print_json(_result_row(result))
    else:
        note(f"{result.wall_s:.3f} s, {result.bytes_crossed} bytes over the links")
    # As a shell says it: 128 + the number of the signal.
    return result.returncode if result.returncode >= 0 else 128 - result.returncode


@command.command()
@click.argument("name", required=False)
@click.option("--all", "every", is_flag=True, help="Every testbed of this user.")
@json_option
def down(name: str | None, every: bool, as_json: bool) -> None:
    """End a testbed and everything in it.

    \b
    Example:
      hocket testbed down two
    """
    from hocket.testbed import Testbed
    from hocket.testbed.names import names

    if (name is None) != every:
        raise InvalidInput("give the name of a testbed, or --all", "`hocket testbed list` shows the names")
    ended = names() if every else [str(name)]
    for one in ended:
        Testbed.attach(one).down()
        if not as_json:
            print(f"testbed {one} is down")
    if as_json:
        print_json({"down": ended})


@command.command("list")
@json_option
def list_(as_json: bool) -> None:
    """The testbeds of this user that are up.

    \b
    Example:
      hocket testbed list
    """
    from hocket.testbed.names import names
    from hocket.testbed.testbed import Testbed

    rows = []
    for name in names():
        with Testbed.attach(name) as bed:
            rows.append(_row(bed.information))
    if as_json:
        print_json({"testbeds": rows})
    elif rows:
        columns = ("name", "network", "hosts", "ranks", "up", "running")
        print_table(columns, [_cells(row) for row in rows])
    else:
        print("no testbed is up")


def _mended(command: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """The command of an MPI launcher, with what its MPI needs on several hosts preloaded; any other as it is."""
    from hocket.mpi.build import workarounds_for
    from hocket.mpi.discover import mpi_of_launcher
    from hocket.mpi.launch import with_preload
    from hocket.testbed.cluster import PRELOADED

    mpi = mpi_of_launcher(command[0])
    libraries = workarounds_for(mpi, note) if mpi else ()
    if not mpi or not libraries:
        return list(command), {}
    return with_preload(command, mpi, [*libraries, Path(PRELOADED)], {})


def _bed(network: str) -> Testbed:
    """A name of one that is up goes before a file of that name only if there is no such file."""
    from hocket.cli.options import load_network
    from hocket.testbed import Testbed
    from hocket.testbed.names import names

    if not os.path.exists(network) and network in names():
        return Testbed.attach(network)
    return Testbed(load_network(network))


def _tell(bed: Testbed) -> None:
    for text in bed.notes:
        note(text)


def _row(information: dict[str, Any]) -> dict[str, Any]:
    layout = information["layout"]
    return {
        "name": information["name"],
        "network": information["network"],
        "process": information["process"],
        "up_s": max(0.0, time.time() - information["started_s"]),
        "hosts": [host["name"] for host in layout["hosts"]],
        "ranks": len(layout["rank_hosts"]),
        "command": " ".join(information.get("command", [])),
        "notes": information["notes"],
    }


def _cells(row: dict[str, Any]) -> tuple[object, ...]:
    running = row["command"] or "-"
    return row["name"], row["network"], len(row["hosts"]), row["ranks"], f"{row['up_s']:.0f} s", running


def _result_row(result: RunResult) -> dict[str, Any]:
    return {
        "command": result.command,
        "returncode": result.returncode,
        "stdout": result.stdout,
        "stderr": result.stderr,
        "wall_s": result.wall_s,
        "link_bytes": result.link_bytes,
        "bytes_crossed": result.bytes_crossed,
    }
