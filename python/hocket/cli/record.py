# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket record`: run an MPI program and write a trace of its MPI calls."""

from __future__ import annotations

from pathlib import Path

import click

from hocket.cli.common import command_argument, message
from hocket.cli.reporter import TerminalReporter

FILTER = "these functions: p2p, collective, rma, io, communicator, other, or names such as MPI_Send or MPI_I*"


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
@click.option(
    "--limit",
    metavar="SIZE",
    help="Most that the trace of a rank may take; later calls are left out.  [default: HOCKET_TRACE_LIMIT, or 64 MiB]",
)
@click.option("--only", metavar="WHAT,...", help=f"Record only {FILTER}, MPI_Init and MPI_Finalize.")
@click.option("--without", metavar="WHAT,...", help="Leave out, likewise.")
@click.option("--force", is_flag=True, help="Replace a trace that is there.")
@command_argument
def command(
    output: Path, limit: str | None, only: str | None, without: str | None, force: bool, command: tuple[str, ...]
) -> None:
    """Run an MPI program, unchanged, and record its MPI calls.

    \b
    Example:
      hocket record -o trace -- mpiexec -n 8 ./app
      hocket trace show trace
    """
    from hocket import parse_bytes, print_bytes
    from hocket.traces.recording import RecordRequest, run

    limit_bytes = None if limit is None else parse_bytes(limit, "--limit")
    filters = [tuple((words or "").replace(",", " ").split()) for words in (only, without)]
    done = run(RecordRequest(command, output, force, limit_bytes, *filters), TerminalReporter())
    trace = done.trace
    cost = f"{trace.meta['cost_per_call_ns']} ns"
    size = print_bytes(done.bytes)
    message(f"{output}: {trace.num_calls()} calls of {trace.ranks} rank(s), {size}; a recorded call costs about {cost}")
    for line in trace.shortfalls():
        message(line)
