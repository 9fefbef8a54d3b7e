# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket record`: run an MPI program and write a trace of its MPI calls."""

from __future__ import annotations

from pathlib import Path

import click

from hocket.cli.common import command_argument, note


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("hocket-trace"),
    show_default=True,
    metavar="FOLDER",
    help="The trace folder to write.",
)
@click.option("--force", is_flag=True, help="Replace a trace that is there.")
@command_argument
def command(output: Path, force: bool, command: tuple[str, ...]) -> None:
    """Run an MPI program, unchanged, and record its MPI calls.

    \b
    Example:
      hocket record -o trace -- mpiexec -n 8 ./app
      hocket trace show trace
    """
    from hocket import print_bytes
    from hocket.recording import record

    done = record(command, output, force, note)
    trace = done.trace
    cost = f"{trace.meta['cost_per_call_ns']} ns"
    size = print_bytes(done.bytes)
    note(f"{output}: {trace.num_calls()} calls of {trace.ranks} rank(s), {size}; a recorded call costs about {cost}")
