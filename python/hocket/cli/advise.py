# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket advise`: from a trace and a network to a plan."""

from __future__ import annotations

from pathlib import Path

import click

from hocket.cli.common import import_numpy, json_option, message, print_json, print_table
from hocket.cli.options import (
    OutputPath,
    cost_source,
    generator_options,
    message_cost_options,
    network_option,
    refuse_given,
)
from hocket.cli.reporter import TerminalReporter
from hocket.networks.source import NetworkSource

_OF_SIMULATION = ("bandwidth", "latency", "costs_folder", "send_overhead", "receive_overhead", "rendezvous", "sharing")


@click.command()
@click.argument("trace_folder", metavar="[TRACE]", type=click.Path(path_type=Path), required=False)
@network_option(required=False)
@click.option(
    "-o", "--output", type=OutputPath(), help="The plan, or the choices.  [default: plan.json, or choices.csv]"
)
@click.option(
    "--measured",
    "tables",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="No trace: learn from tables of measured collectives, and choose for --instances.",
)
@click.option("--instances", type=click.Path(path_type=Path), metavar="CSV", help="Candidates to choose from.")
@click.option("--allocations", type=click.Path(path_type=Path), metavar="CSV", help="Hosts of the instances' ranks.")
@generator_options
@message_cost_options
@json_option
def command(
    trace_folder: Path | None,
    network_text: str | None,
    output: Path | None,
    tables: Path | None,
    instances: Path | None,
    allocations: Path | None,
    bandwidth: str | None,
    latency: str | None,
    costs_folder: Path | None,
    send_overhead: str | None,
    receive_overhead: str | None,
    rendezvous: str | None,
    sharing: str,
    as_json: bool,
) -> None:
    """Choose faster schedules for the collectives of a recorded program, and write a plan.

    Every textbook algorithm is simulated on the network, over rank orders from the network's structure and several
    sizes of segments. Calls without a predicted gain over a usual MPI stay with the MPI: `hocket tune` measures them.

    With --measured there is no trace: what messages cost is learnt from tables of measured collectives, and the fastest
    algorithm of each instance is written to a CSV file, with the predicted time of every candidate.

    \b
    Examples:
      hocket advise trace --network cluster.toml -o plan.json
      hocket advise --measured tables --instances instances.csv --allocations allocations.csv.gz -o choices.csv
    """
    if tables is not None:
        if trace_folder is not None or network_text is not None:
            raise click.UsageError("--measured takes neither a TRACE nor --network.")
        refuse_given(_OF_SIMULATION, "does not go with --measured", "leave it out: the tables tell what messages cost")
        if instances is None or allocations is None:
            raise click.UsageError("--measured needs --instances and --allocations.")
        _choose_measured(tables, instances, allocations, output or Path("choices.csv"), as_json)
        return
    if instances is not None or allocations is not None:
        raise click.UsageError("--instances and --allocations need --measured.")
    if trace_folder is None:
        raise click.UsageError("Missing argument 'TRACE', or --measured.")
    if network_text is None:
        raise click.UsageError("Missing option '-N' / '--network'.")
    output = output or Path("plan.json")
    from hocket.advise.request import AdviseRequest, run
    from hocket.advise.summary import COLUMNS, rows
    from hocket.plan import write_plan

    costs = cost_source(costs_folder, send_overhead, receive_overhead, rendezvous, sharing)
    network = NetworkSource(network_text, bandwidth, latency)
    done = run(AdviseRequest(trace_folder, network, costs), TerminalReporter())
    write_plan(done.plan, output)
    if as_json:
        print_json(done.values | {"plan": str(output)})
        return
    print_table(COLUMNS, rows(done.advice), f"{done.ranks} ranks on {done.plan.network}")
    for line in done.shortfalls:
        message(line)
    for line in done.sentences:
        click.echo(line)
    recorded = len(done.advice.plan.entries)
    derived = len(done.plan.entries) - recorded
    click.echo(f"plan: {output} ({recorded} entries for recorded sizes, {derived} derived from them)")


def _choose_measured(tables: Path, instances: Path, allocations: Path, output: Path, as_json: bool) -> None:
    import_numpy()
    from hocket.advise.measured.request import MeasuredRequest, run
    from hocket.advise.measured.summary import COLUMNS, rows

    done = run(MeasuredRequest(tables, instances, allocations, output), TerminalReporter())
    if as_json:
        print_json(done.values | {"output": str(output)})
        return
    for line in done.warnings:
        message(line)
    print_table(COLUMNS, rows(done), f"learnt from {done.learnt} measurements")
    click.echo(f"{output}: {len(done.choices)} candidates of {done.instances} instances")
