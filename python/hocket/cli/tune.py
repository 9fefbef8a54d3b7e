# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket tune`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hocket.cli.common import command_argument, json_option, print_json, print_table
from hocket.cli.options import (
    Duration,
    cost_source,
    generator_options,
    message_cost_options,
    network_option,
    result_options,
)
from hocket.cli.reporter import TerminalReporter
from hocket.networks.source import NetworkSource
from hocket.plan import PROGRESS

if TYPE_CHECKING:
    from hocket.tune.request import Tuned


@click.command()
@network_option()
@click.option("--testbed", is_flag=True, help="Emulate the network on this machine, and run there.")
@result_options("hocket-result", least_repetitions=3, repetitions=None)
@click.option("--timeout", "timeout_s", type=Duration(1), metavar="TIME", help="End a run that takes longer.")
@click.option(
    "--launches",
    type=click.IntRange(2, 100),
    default=3,
    show_default=True,
    metavar="N",
    help="Launches in which each schedule is measured beside the MPI's own function, at most.",
)
@click.option(
    "--measure-time",
    "measure_s",
    type=Duration(1),
    metavar="TIME",
    help="For the measuring of collectives, which counts those first that take most of the program's time: 5min, 90s "
    "or 90.  [default: what the runs of the program leave of the time, see above]",
)
@click.option(
    "--no-fit",
    is_flag=True,
    help="Do not measure what messages cost: predict with the costs of a calibrated network's file, or the usual ones.",
)
@click.option(
    "--progress",
    type=click.Choice(PROGRESS),
    default="off",
    show_default=True,
    help="Run the program with progress in the background, where the plan serves its non-blocking collectives too.",
)
@click.option("--force", is_flag=True, help="Replace an earlier result.")
@generator_options
@message_cost_options
@json_option
@command_argument
def command(
    network_text: str,
    testbed: bool,
    output: Path,
    repetitions: int | None,
    timeout_s: float | None,
    launches: int,
    measure_s: float | None,
    no_fit: bool,
    progress: str,
    force: bool,
    bandwidth: str | None,
    latency: str | None,
    costs_folder: Path | None,
    send_overhead: str | None,
    receive_overhead: str | None,
    rendezvous: str | None,
    sharing: str,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Make the communication of an MPI program faster on its network.

    Records the program, chooses a schedule for each of its collectives by simulation on the network, measures the
    schedules, keeps those that are faster, and runs the program with and without them in turns. Writes a folder with
    the plan (for `hocket run`) and a report. Standard input is read first, to its end, for each run of the program.

    Takes at most 60 s or as long as 10 runs of the program, whichever is more, unless --repetitions or --measure-time
    asks for more.

    \b
    Examples:
      hocket tune --network cluster.toml -- mpiexec -n 8 ./app
      hocket tune --testbed --network networks/two-clusters.toml -- mpiexec -n 8 ./app
    """
    from hocket.tune.request import TuneRequest, run

    request = TuneRequest(
        command,
        NetworkSource(network_text, bandwidth, latency),
        output,
        cost_source(costs_folder, send_overhead, receive_overhead, rendezvous, sharing),
        fit=not no_fit,
        testbed=testbed,
        repetitions=repetitions,
        launches=launches,
        measure_s=measure_s,
        timeout_s=timeout_s,
        progress=progress,
        force=force,
        standard_input=True,
    )
    print_tuned(run(request, TerminalReporter()), as_json)


def print_tuned(tuned: Tuned, as_json: bool) -> None:
    from hocket.tune.summary import COLUMNS, rows, sentences

    if as_json:
        print_json(tuned.values)
        return
    result = tuned.result
    print_table(COLUMNS, rows(result), f"{result.mpi}, {result.ranks} ranks, network {result.network}")
    for line in sentences(result, tuned.folder):
        click.echo(line)
