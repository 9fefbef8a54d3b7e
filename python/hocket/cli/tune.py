# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket tune`: the main job."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hocket.cli.common import command_argument, json_option, print_json, print_table
from hocket.cli.options import (
    Duration,
    cost_source,
    generator_options,
    is_default,
    message_cost_options,
    network_option,
    refuse_given,
    result_options,
)
from hocket.cli.reporter import TerminalReporter
from hocket.networks.source import NetworkSource
from hocket.plan import PROGRESS

if TYPE_CHECKING:
    from hocket.tune.request import Tuned
    from hocket.tune.site import SiteRequest


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
@click.option(
    "--site",
    is_flag=True,
    help="Measure all collectives at many sizes, without a program; -o names the plan that it writes "
    "(default: site.plan).",
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
    site: bool,
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
    """Make the communication of an MPI program, or of all, faster on the network.

    Records the program, chooses a schedule for each of its collectives by simulation on the network, measures the
    schedules, keeps those that are faster, and runs the program with and without them in turns. Writes a folder with
    the plan (for `hocket run`) and a report. Standard input is read first, to its end, for each run of the program.

    Takes at most 60 s or as long as 10 runs of the program, whichever is more, unless --repetitions or --measure-time
    asks for more. With --progress six more runs may decide on schedules of non-blocking calls.

    With --site COMMAND is a launcher with its options, without a program. What is measured faster goes into a plan for
    all programs that run on these hosts, to be used beside the network: hocket run --plan site.plan --network
    cluster.toml. It takes --measure-time, 5 minutes unless given.

    \b
    Examples:
      hocket tune --network cluster.toml -- mpiexec -n 8 ./app
      hocket tune --site --network cluster.toml -o site.plan -- srun -N 16 -n 64
      hocket tune --testbed --network networks/two-clusters.toml -- mpiexec -n 8 ./app
    """
    from hocket.tune.request import TuneRequest, run

    network = NetworkSource(network_text, bandwidth, latency)
    costs = cost_source(costs_folder, send_overhead, receive_overhead, rendezvous, sharing)
    if site:
        from hocket.tune.site import SiteRequest

        refuse_given({"repetitions", "progress"}, "needs a program, and --site has none", "leave it or --site out")
        usual = SiteRequest(command, network)
        _tune_site(
            replace(
                usual,
                output=usual.output if is_default("output") else output,
                costs=costs,
                fit=not no_fit,
                testbed=testbed,
                launches=launches,
                measure_s=usual.measure_s if measure_s is None else measure_s,
                timeout_s=timeout_s,
                force=force,
            ),
            as_json,
        )
        return
    request = TuneRequest(
        command,
        network,
        output,
        costs,
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


def _tune_site(request: SiteRequest, as_json: bool) -> None:
    from hocket.tune.site import COLUMNS, run

    tuned = run(request, TerminalReporter())
    if as_json:
        print_json(tuned.values | {"plan": str(request.output)})
        return
    print_table(COLUMNS, tuned.rows, f"{tuned.mpi}, {tuned.plan.ranks} ranks, network {tuned.plan.network}")
    for note in tuned.notes:
        click.echo(f"note: {note}")
    if not tuned.plan.entries:
        click.echo("nothing was shown to be faster than the MPI's own functions")
    click.echo(f"plan: {request.output}, for hocket run --plan, beside --network")


def print_tuned(tuned: Tuned, as_json: bool) -> None:
    from hocket.tune.summary import COLUMNS, rows, sentences

    if as_json:
        print_json(tuned.values)
        return
    result = tuned.result
    print_table(COLUMNS, rows(result), f"{result.mpi}, {result.ranks} ranks, network {result.network}")
    for line in sentences(result, tuned.folder):
        click.echo(line)
