# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench guidelines`."""

from __future__ import annotations

from pathlib import Path

import click

from hocket.cli.common import json_option, print_json, print_table
from hocket.cli.options import FiniteRange


@click.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--within", type=FiniteRange(0, 0.5, min_open=True), default=0.05, show_default=True,
    help="What takes longer by at most this part keeps its guideline.",
)  # fmt: skip
@click.option("--fail-if", type=click.Choice(["violated"]), help="End with status 3 if a guideline is.")
@click.option("--all", "shows_all", is_flag=True, help="Also the guidelines that hold or are undecided.")
@json_option
@click.pass_context
def guidelines(
    context: click.Context, results: Path, within: float, fail_if: str | None, shows_all: bool, as_json: bool
) -> None:
    """Check performance guidelines on a result: what no collective of an MPI should be slower than.

    A collective should not take longer than others that do its work, as MPI_Allreduce than MPI_Reduce and MPI_Bcast;
    than itself with more data; than several calls with a part of the data each. The suite `guidelines` measures all
    sides. A violation must show between launches.

    \b
    Examples:
      hocket bench run guidelines -o rules -- mpiexec -n 4
      hocket bench guidelines rules --fail-if violated
    """
    from hocket.bench.mpi.guidelines import VERDICTS, Checks
    from hocket.bench.mpi.request import GuidelinesRequest
    from hocket.bench.mpi.request import run as run_request
    from hocket.bench.mpi.tables import CHECKED, checked_rows

    checks = run_request(GuidelinesRequest(results, within))
    assert isinstance(checks, Checks)
    if as_json:
        print_json(checks.values)
    else:
        if rows := checked_rows(checks, VERDICTS if shows_all else VERDICTS[:1]):
            print_table(CHECKED, rows)
        click.echo(checks.sentence)
    if fail_if and checks.counts["violated"]:
        context.exit(3)
