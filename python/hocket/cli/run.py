# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket run`: an MPI program with a plan."""

from __future__ import annotations

from pathlib import Path

import click

from hocket.cli.common import command_argument, note


@click.command()
@click.option("--plan", "plan_path", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The plan.")
@click.option(
    "--self-check/--no-self-check",
    default=None,
    help="Compare the schedules with native calls now and then, and fall back where they are slower.  [default: yes]",
)
@command_argument
def command(plan_path: Path, self_check: bool | None, command: tuple[str, ...]) -> int:
    """Run an MPI program, unchanged, with the collective schedules of a plan.

    \b
    Example:
      hocket run --plan plan.json -- mpiexec -n 8 ./app
    """
    from hocket.tune.run import run_with_plan

    return run_with_plan(command, plan_path, note, self_check)
