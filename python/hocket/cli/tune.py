# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket tune`: the main job."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hocket.cli.common import command_argument, json_option, note, print_json, print_table, progress_in_time
from hocket.cli.options import (
    Duration,
    generator_options,
    load_network,
    message_cost_options,
    message_costs,
    network_option,
    result_options,
)
from hocket.errors import InvalidInput
from hocket.plan import PROGRESS

if TYPE_CHECKING:
    from hocket import Network


@click.command()
@network_option()
@click.option("--testbed", is_flag=True, help="Emulate the network on this machine, and run there.")
@result_options("hocket-result", least_repetitions=5)
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
    "or 90.  [default: 60 s or 10 runs of the program, whichever is more]",
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
    repetitions: int,
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

    \b
    Examples:
      hocket tune --network cluster.toml -- mpiexec -n 8 ./app
      hocket tune --testbed --network networks/two-clusters.toml -- mpiexec -n 8 ./app
    """
    from hocket.report.result import RESULT_FILE
    from hocket.tune.summary import COLUMNS, rows, sentences, summary
    from hocket.tune.tune import TuneOptions, tune

    network = load_network(network_text, bandwidth, latency)
    costs = message_costs(network, send_overhead, receive_overhead, rendezvous, sharing, costs_folder)
    if (
        rendezvous is None and costs_folder is None
    ):  # it is measured with this MPI: the network may be calibrated with another
        costs = costs.replace(rendezvous_bytes=None)
    source = _source(network, [send_overhead, receive_overhead, costs_folder])
    options = TuneOptions(
        repetitions=repetitions,
        launches=launches,
        measure_s=measure_s,
        testbed=testbed,
        timeout_s=timeout_s,
        progress=progress,
        costs=costs,
        costs_source=source,
        fit=not no_fit and source != "given",
        standard_input=0,
    )
    if not force and (output / RESULT_FILE).exists():
        raise InvalidInput(f"{output}: holds an earlier result", hint="--force replaces it; -o names another folder")
    result = tune(command, network, output, options, note, progress_in_time)
    if as_json:
        print_json(summary(result, output))
        return
    print_table(COLUMNS, rows(result), f"{result.mpi}, {result.ranks} ranks, network {result.network}")
    for line in sentences(result, output):
        click.echo(line)


def _source(network: Network, given: Sequence[object]) -> str:
    from hocket import CostModel

    if any(one is not None for one in given):
        return "given"
    if CostModel.of(network).replace(rendezvous_bytes=None) != CostModel.usual():
        return "calibrated"
    return "usual"
