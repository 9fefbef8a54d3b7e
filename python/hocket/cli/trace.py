# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket trace`: show what was recorded."""

from __future__ import annotations

from pathlib import Path

import click

from hocket.cli.common import json_option, message, print_json, print_table


@click.group(epilog="Example: hocket trace show hocket-trace")
def command() -> None:
    """Show recorded traces."""


@command.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--rows", default=30, show_default=True, type=click.IntRange(min=1), help="Show so many rows of the table."
)
@json_option
def show(folder: Path, rows: int, as_json: bool) -> None:
    """Show the calls of a trace by function, communicator and size.

    \b
    Example:
      hocket trace show hocket-trace
    """
    from hocket.trace import shortfalls
    from hocket.trace_profile import ProfileRequest, run

    found = run(ProfileRequest(folder))
    if as_json:
        print_json(found.values)
        return
    trace, table = found.trace, found.rows
    # One unit a column, so that its numbers can be compared at a glance.
    print_table(
        ["function", "communicator", "bytes", "calls", "total, ms", "median, us", "share"],
        [
            [
                row.function,
                "" if row.communicator is None else f"{row.communicator} ({row.communicator_size} ranks)",
                "" if row.bytes is None else f"{row.bytes:,}",
                row.calls,
                f"{row.total_s * 1e3:.3f}",
                f"{row.median_s * 1e6:.2f}",
                f"{row.share:.1%}",
            ]
            for row in table[:rows]
        ],
        title=f"{trace.ranks} rank(s), {trace.meta['mpi']}; times over all ranks, share of their run time",
    )
    if len(table) > rows:
        message(f"{len(table) - rows} more rows: --rows {len(table)}")
    for line in (*found.trace.filters(), *shortfalls(found.ranks)):
        message(line)
