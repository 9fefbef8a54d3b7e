# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket sweep`: run a campaign, and show its rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hocket.cli.common import json_option, message, print_json, print_table
from hocket.cli.reporter import TerminalReporter

if TYPE_CHECKING:
    from hocket.sweep.request import Swept
    from hocket.sweep.show import Shown

_MOST_FAILURES = 10


class Sweep(click.Group):
    """`hocket sweep FILE` is `hocket sweep run FILE`."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        if arguments and arguments[0] not in (*self.commands, "-h", "--help"):
            arguments = ["run", *arguments]
        return super().parse_args(context, arguments)


@click.group(cls=Sweep)
def command() -> None:
    """Run a campaign of requests on all cores or on a Dask cluster, and show its rows.

    \b
    Examples:
      hocket sweep examples/campaigns/first.toml
      hocket sweep run campaign.toml --scheduler tcp://node1:8786 --resume
      hocket sweep show first.sweep
    """


@command.command("run")
@click.argument("campaign", metavar="CAMPAIGN.toml", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help="For the rows.  [default: CAMPAIGN.sweep]"
)
@click.option("--resume", is_flag=True, help="Run only tasks that are missing in the folder, or have changed.")
@click.option("--workers", type=click.IntRange(1, 1024), help="Processes of this machine.  [default: its cores]")
@click.option("--scheduler", metavar="ADDRESS", help="Run on a Dask cluster: tcp://host:8786.")
@click.option("--memory", metavar="BYTES", help='Most of a process of this machine: "2 GB".')
@click.option("--dry-run", is_flag=True, help="Only read the campaign and count its tasks.")
@json_option
def run_campaign(
    campaign: Path,
    output: Path | None,
    resume: bool,
    workers: int | None,
    scheduler: str | None,
    memory: str | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Run a campaign: a request with many values of its parameters.

    Rows are written as batches of tasks end; nothing of them is lost when the command is killed. --resume goes on.
    Tables and pictures that the file asks for are made at the end. Failed tasks are named; the status is 1 then.

    \b
    Examples:
      hocket sweep examples/campaigns/first.toml
      hocket sweep campaign.toml --dry-run
      hocket sweep campaign.toml --scheduler tcp://node1:8786 --resume
    """
    from hocket.sweep.request import SweepRequest, run
    from hocket.sweep.show import ShowRequest
    from hocket.sweep.show import run as show

    if memory is not None:
        from hocket import parse_bytes

        memory_bytes: int | None = parse_bytes(memory, "--memory")
    else:
        memory_bytes = None
    reporter = TerminalReporter()
    swept = run(SweepRequest(campaign, output, resume, workers, scheduler, memory_bytes, dry_run), reporter)
    shown = None
    if not dry_run and swept.ran + swept.kept > 0:
        shown = show(ShowRequest(swept.folder, pictures=bool(swept.campaign.views)), reporter)
    if as_json:
        print_json(swept.values | {"files": [str(path) for path in shown.files] if shown else []})
    else:
        _print(swept, shown, dry_run)
    return 1 if swept.failed else 0


def _print(swept: Swept, shown: Shown | None, dry_run: bool) -> None:
    tasks = len(swept.campaign.tasks)
    if dry_run:
        print(f"{tasks:,} tasks of {swept.campaign.kind} on {len(swept.campaign.networks)} networks, to {swept.folder}")
        return
    if shown is not None:
        _print_tables(shown)
    for failed in swept.failed[:_MOST_FAILURES]:
        where = ", ".join(f"{name} = {value}" for name, value in failed.parameters.items())
        message(f"failed: task {failed.task} ({where}): {failed.message}")
    if len(swept.failed) > _MOST_FAILURES:
        message(f"and {len(swept.failed) - _MOST_FAILURES:,} more: {swept.folder}/summary.json")
    kept = f", {swept.kept:,} kept" if swept.kept else ""
    lost = f", {len(swept.failed):,} failed" if swept.failed else ""
    print(f"{swept.ran:,} tasks in {swept.seconds:.1f} s on {swept.where}{kept}{lost}: {swept.folder}/rows")


@command.command("show")
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(["table", "lines", "heat", "crossover", "pareto"]),
    help="Instead of the views of the campaign.",
)
@click.option("--x", metavar="COLUMN", help="Of the rows: the first axis.")
@click.option("--y", metavar="COLUMN", help="The second axis of a map.")
@click.option("--by", metavar="COLUMN", help="What is compared.")
@click.option(
    "--value", metavar="COLUMN", default="makespan_s", show_default=True, help="What is shown; less is better."
)
@click.option("--relative-to", metavar="NAME", help="The value of --by that the others are divided by.")
@click.option("--where", metavar="COLUMN=VALUE", multiple=True, help="Only these rows.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help="Write a page and PNG files there."
)
@json_option
def show_rows(
    folder: Path,
    kind: str | None,
    x: str | None,
    y: str | None,
    by: str | None,
    value: str,
    relative_to: str | None,
    where: tuple[str, ...],
    output: Path | None,
    as_json: bool,
) -> None:
    """Tables and pictures of the rows of a campaign: those that its file asks for, or one of your own.

    \b
    Examples:
      hocket sweep show first.sweep -o pictures
      hocket sweep show first.sweep --kind heat --x bytes --y network.taper --where what=allreduce:ring
      hocket sweep show first.sweep --json
    """
    from hocket.sweep.show import ShowRequest, run
    from hocket.sweep.views import view_of

    view = None
    if kind is not None or x is not None:
        given = {"kind": kind or "table", "x": x, "y": y, "by": by, "value": value, "relative_to": relative_to}
        kept = {name: one for name, one in given.items() if one is not None}
        view = view_of(kept, [], "--kind")
    shown = run(ShowRequest(folder, view, where, output is not None, output), TerminalReporter())
    if as_json:
        print_json(shown.values)
        return
    _print_tables(shown)


def _print_tables(shown: Shown) -> None:
    for table in shown.tables:
        print_table(table.columns, table.rows, table.title)
    for path in shown.files:
        message(f"written: {path}")
