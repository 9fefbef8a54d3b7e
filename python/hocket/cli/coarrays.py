# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket coarrays`: compiles coarray programs with hocket's collective subroutines."""

from __future__ import annotations

import shlex

import click

from hocket.cli.common import message


@click.command()
@click.option("--flags", is_flag=True, help="Print what to add to the command that links, and do not run it.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def command(flags: bool, command: tuple[str, ...]) -> int:
    """Run OpenCoarrays' compiler wrapper so that co_broadcast, co_sum, ... become one call of MPI each.

    \b
    Example:
      hocket coarrays -- caf heat.f90 -o heat
      caf heat.f90 -o heat $(hocket coarrays --flags)
    """
    from hocket.mpi.build import build_mpi_parts
    from hocket.mpi.coarrays import compile_command, link_flags, mpi_of_wrapper
    from hocket.mpi.launch import run_command

    if flags:
        print(shlex.join(link_flags(build_mpi_parts(mpi_of_wrapper(command[0] if command else "caf"), report=message))))
        return 0
    if not command:
        raise click.UsageError("Missing argument 'COMMAND...'.")
    status = run_command(compile_command(command, message)).returncode
    return status if status >= 0 else 128 - status
