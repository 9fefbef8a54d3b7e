# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket demo`: the main job on a bundled program."""

from __future__ import annotations

from pathlib import Path

import click

from hocket.cli.common import json_option
from hocket.cli.options import result_options
from hocket.cli.reporter import TerminalReporter


@click.command()
@click.option(
    "--mpi", "mpi_name", metavar="NAME", help="The MPI to use, as `hocket doctor` calls it: mpich-4.0.2, openmpi."
)
@result_options("hocket-demo", least_repetitions=1, repetitions=5)
@click.option("--keep", is_flag=True, help="Keep the trace and the program too.")
@json_option
def command(mpi_name: str | None, output: Path, repetitions: int, keep: bool, as_json: bool) -> None:
    """Tune a small k-means program on an emulated cluster of two groups of four hosts.

    Takes about two minutes, the first time another one for building the parts that need the MPI. Changes nothing on
    this machine, and needs no privileges where user namespaces are allowed.

    \b
    Example:
      hocket demo
    """
    from hocket.cli.tune import print_tuned
    from hocket.tune.demo import DemoRequest, run

    print_tuned(run(DemoRequest(mpi_name, output, repetitions, keep), TerminalReporter()), as_json)
