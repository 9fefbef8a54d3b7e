# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule`: build, check, show and convert the schedule of a collective."""

from __future__ import annotations

import sys

import click

from hocket.cli.common import json_option, print_json, print_table
from hocket.errors import InvalidInput


@click.command()
@click.argument("what", metavar="COLLECTIVE|FILE.json")
@click.option("-n", "--ranks", type=click.IntRange(1), help="Number of ranks.")
@click.option("-a", "--algorithm", help="Its name; without it the algorithms of the collective are listed.")
@click.option("--root", type=click.IntRange(0), default=0, show_default=True)
@click.option("--pieces", type=click.IntRange(1), default=1, show_default=True, help="How fine to cut for pipelining.")
@click.option("--order", metavar="RANKS", help="Ranks in the order of the algorithm, such as 0,2,1,3.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["list", "json", "goal"]),
    default="list",
    show_default=True,
    help="What to print.",
)
@click.option("-b", "--bytes", "bytes_text", metavar="BYTES", help='Message or block, for --format goal: "1 MB".')
@json_option
def command(
    what: str,
    ranks: int | None,
    algorithm: str | None,
    root: int,
    pieces: int,
    order: str | None,
    form: str,
    bytes_text: str | None,
    as_json: bool,
) -> None:
    """Build the schedule of a collective, or read one from a file; check it; print it.

    \b
    --format json prints a file of format hocket.schedule/1, goal what the simulator LogGOPSim reads;
    --json prints a summary and all violations. A schedule that is wrong ends with status 1.
    Examples:
      hocket schedule allreduce
      hocket schedule bcast --ranks 8 --algorithm pipelined_chain --pieces 4
      hocket schedule my-schedule.json --format goal --bytes "1 MB"
    """
    from hocket import schedule as schedules
    from hocket._core import Schedule, lower, parse_bytes

    if schedules.is_file(what):
        if ranks is not None or algorithm is not None or order is not None:
            raise InvalidInput(f"{what}: a file has its ranks, algorithm and order", "leave out these options")
        schedule = schedules.read_schedule(what)
    elif algorithm is None:
        found = schedules.algorithms_of(what)
        if as_json:
            print_json(
                {"algorithms": [{"collective": a.collective, "name": a.name, "source": a.source} for a in found]}
            )
        else:
            rows = [(a.name, "yes" if a.pipelines else "no", a.source) for a in found]
            print_table(["algorithm", "pipelines", "source"], rows, what)
        return
    else:
        schedules.algorithms_of(what)
        if ranks is None:
            raise InvalidInput("the number of ranks is missing", "add --ranks 8")
        schedule = Schedule.build(what, algorithm, ranks, root, pieces, schedules.parse_order(order))

    if as_json:
        result = schedules.summary(schedule)
        print_json(result)
        sys.exit(0 if result["ok"] else 1)
    schedules.require_right(schedule, what)
    if form == "json":
        print(schedule.to_json(), end="")
    elif form == "goal":
        if bytes_text is None:
            raise InvalidInput("--format goal needs a size", 'add --bytes "1 MB"')
        print(lower(schedule, parse_bytes(bytes_text, "--bytes")).to_goal(), end="")
    else:
        for line in schedules.listing(schedule):
            print(line)
