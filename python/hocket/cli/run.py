# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket run`: an MPI program with a plan."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--plan", "plan_path", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The plan.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def command(plan_path: Path, command: tuple[str, ...]) -> None:
    """Run an MPI program, unchanged, with the collective schedules of a plan.

    \b
    Example:
      hocket run --plan plan.json -- mpiexec -n 8 ./app
    """
    from hocket.tune.run import run_with_plan

    sys.exit(run_with_plan(command, plan_path))
