# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket run`: an MPI program with a plan, on a network that is known, with progress in the background, or all."""

from __future__ import annotations

import os
from pathlib import Path

import click

from hocket.cli.common import command_argument
from hocket.cli.reporter import TerminalReporter
from hocket.errors import InvalidInput


@click.command()
@click.option("--plan", "plan_path", type=click.Path(path_type=Path), metavar="FILE", help="The plan.")
@click.option(
    "--network",
    "network_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The network of the cluster, as `hocket calibrate` or `hocket network import` writes it. Nothing need be "
    "recorded: for each communicator the program decides by its members' hosts which schedule serves which calls.",
)
@click.option(
    "--self-check/--no-self-check",
    default=None,
    help="Compare the schedules with native calls now and then, and fall back where they are slower.  [default: yes]",
)
@click.option(
    "--progress",
    type=click.Choice(["off", "on", "auto"]),
    help="Whether non-blocking communication goes on while the program computes; auto: where that is seen to help."
    "  [default: as the plan says, or off]",
)
@click.option(
    "--progress-core",
    metavar="any|idle|N",
    callback=lambda context, parameter, value: _core(value),
    help="Where the thread runs that does it: where the program may, on a core that its rank is not bound to, "
    "or on core N.  [default: any]",
)
@command_argument
def command(
    plan_path: Path | None,
    network_path: Path | None,
    self_check: bool | None,
    progress: str | None,
    progress_core: str | None,
    command: tuple[str, ...],
) -> int:
    """Run an MPI program, unchanged, with faster collectives: by the schedules of a plan, by those that suit the
    network of the cluster, or by both, the plan's first. Also with progress in the background.

    \b
    Examples:
      hocket run --network cluster.toml -- mpiexec -n 8 ./app
      hocket run --plan plan.json -- mpiexec -n 8 ./app
      hocket run --progress auto -- mpiexec -n 8 ./app
    """
    from hocket.tune.run import RunRequest, run

    if plan_path is None and network_path is None and progress is None and "HOCKET_PROGRESS" not in os.environ:
        raise InvalidInput(
            "nothing to run the program with",
            "name a network with --network FILE or a plan with --plan FILE, or give --progress auto",
        )
    return run(RunRequest(command, plan_path, network_path, self_check, progress, progress_core), TerminalReporter())


def _core(value: str | None) -> str | None:
    if value is not None and value not in ("any", "idle") and not (value.isascii() and value.isdigit()):
        raise InvalidInput(
            f"--progress-core: {value!r} is not a core; accepted: any, idle, or a number from 0 on",
            "`lscpu --extended` shows the numbers",
        )
    return value
