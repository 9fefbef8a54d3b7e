# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket advise`: from a trace and a network to a plan."""

from __future__ import annotations

from pathlib import Path

import click

from hocket.cli.common import json_option, note, print_json, print_table, progress
from hocket.cli.options import generator_options, load_network, message_cost_options, message_costs, network_option


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
    sizes of pieces. Calls without a predicted gain over a usual MPI stay with the MPI: `hocket tune` measures as well.

    \b
    Example:
      hocket advise trace --network cluster.toml -o plan.json
    """
    from hocket import Trace
    from hocket.advise import Verdict, advise, cover, group_calls, unserved_calls
    from hocket.advise.summary import COLUMNS, reasons, rows, to_dict
    from hocket.plan import write_plan

    network = load_network(network_text, bandwidth, latency)
    costs = message_costs(network, send_overhead, receive_overhead, rendezvous, sharing, costs_folder)
    trace = Trace.open(trace_folder)
    with progress("simulating", total=None) as advance:
        groups = group_calls(trace, network=network)
        advice = advise(groups, network, trace.ranks, costs, progress=lambda *_: advance(""))
        verdicts = [Verdict(choice, None if choice.reason else choice.entry()) for choice in advice.choices]
        entries = cover(verdicts, network, costs)
    write_plan(advice.plan.replace(entries=entries, hosts=trace.hosts), output)
    if as_json:
        print_json(to_dict(advice) | {"plan": str(output)})
        return
    print_table(COLUMNS, rows(advice), f"{trace.ranks} ranks on {network.name}")
    for line in trace.shortfalls():
        note(line)
    for line in [*reasons(advice), *unserved_calls(trace)]:
        click.echo(line)
    recorded = len(advice.plan.entries)
    click.echo(f"plan: {output} ({recorded} entries for recorded sizes, {len(entries) - recorded} derived from them)")
