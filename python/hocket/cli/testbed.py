# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket testbed`: emulated clusters on this machine."""

from __future__ import annotations

from typing import Any

import click

from hocket.cli.common import command_argument, json_option, message, print_json, print_table
from hocket.cli.options import Duration
from hocket.cli.reporter import TerminalReporter
from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource
from hocket.reporter import SILENT


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
    from hocket.testbed.request import UpRequest, bring_up

    reporter = SILENT if as_json else TerminalReporter()
    values = bring_up(UpRequest(NetworkSource(network), name), reporter).values
    if as_json:
        print_json(values)
        return
    own = values["name"]
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
    from hocket.testbed.request import RunRequest, run_command

    done = run_command(RunRequest(network, command, host, timeout, capture=as_json), TerminalReporter())
    result = done.result
    if as_json:
        print_json(done.values)
    else:
        message(f"{result.wall_s:.3f} s, {result.bytes_crossed} bytes over the links")
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
    from hocket.testbed.request import DownRequest, end

    if (name is None) != every:
        raise InvalidInput("give the name of a testbed, or --all", "`hocket testbed list` shows the names")
    values = end(DownRequest(name)).values
    if as_json:
        print_json(values)
        return
    for one in values["down"]:
        print(f"testbed {one} is down")


@command.command("list")
@json_option
def list_(as_json: bool) -> None:
    """The testbeds of this user that are up.

    \b
    Example:
      hocket testbed list
    """
    from hocket.testbed.request import ListRequest, find_all

    values = find_all(ListRequest()).values
    if as_json:
        print_json(values)
    elif rows := values["testbeds"]:
        columns = ("name", "network", "hosts", "ranks", "up", "running")
        print_table(columns, [_cells(row) for row in rows])
    else:
        print("no testbed is up")


def _cells(row: dict[str, Any]) -> tuple[object, ...]:
    running = row["command"] or "-"
    return row["name"], row["network"], len(row["hosts"]), row["ranks"], f"{row['up_s']:.0f} s", running
