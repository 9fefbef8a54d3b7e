# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket advise`: from a trace and a network to a plan."""

from __future__ import annotations

from pathlib import Path

import click

from hocket.cli.common import json_option, message, print_json, print_table
from hocket.cli.options import cost_source, generator_options, message_cost_options, network_option
from hocket.cli.reporter import TerminalReporter
from hocket.networks.source import NetworkSource


@click.command()
@click.argument("trace_folder", metavar="TRACE", type=click.Path(path_type=Path))
@network_option()
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path("plan.json"), show_default=True, help="The plan."
)
@generator_options
@message_cost_options
@json_option
def command(
    trace_folder: Path,
    network_text: str,
    output: Path,
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

    \b
    Example:
      hocket advise trace --network cluster.toml -o plan.json
    """
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
