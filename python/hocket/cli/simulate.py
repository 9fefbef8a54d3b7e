# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket simulate`: the time of a schedule, a program or a trace on a network."""

from __future__ import annotations

from pathlib import Path

import click

from hocket.cli.common import json_option, print_json, print_table
from hocket.cli.options import generator_options, load_network, message_cost_options, message_costs, network_option

_LINKS_SHOWN = 12


@click.command()
@click.argument("what")
@network_option()
@generator_options
@click.option(
    "-b", "--bytes", "bytes_text", metavar="BYTES", help="Message (of bcast, reduce, allreduce) or block of a rank."
)
@click.option("--root", type=click.IntRange(0), default=0, show_default=True)
@click.option("--pieces", type=click.IntRange(1), default=1, show_default=True, help="Pieces of a pipelined algorithm.")
@click.option(
    "--order", type=click.Choice(["rank", "depth-first"]), default="rank", show_default=True, help="Of the ranks."
)
@click.option(
    "--plan", "plan_path", type=click.Path(path_type=Path), metavar="FILE", help="The plan of a trace's collectives."
)
@message_cost_options
@json_option
def command(
    what: str,
    network_text: str,
    bandwidth: str | None,
    latency: str | None,
    bytes_text: str | None,
    root: int,
    pieces: int,
    order: str,
    plan_path: Path | None,
    send_overhead: str | None,
    receive_overhead: str | None,
    rendezvous: str | None,
    sharing: str,
    as_json: bool,
) -> None:
    """Predict the time of WHAT on a network.

    WHAT is a schedule (JSON), a program (GOAL text), a trace folder, a collective or COLLECTIVE:ALGORITHM. Rank r of
    it is rank r of the network.

    \b
    Examples:
      hocket simulate bcast --network networks/two-clusters.toml --bytes "1 MB"
      hocket simulate bcast:pipelined_chain --network star:16 --bandwidth "1 Gbit/s" --bytes "1 MB" --pieces 64
      hocket simulate program.goal --network fat-tree:2x2x4 --bandwidth "10 Gbit/s" --latency "1 us"
    """
    from hocket import parse_bytes
    from hocket.plan import Plan
    from hocket.simulation import Request, link_loads, simulate_what

    network = load_network(network_text, bandwidth, latency)
    request = Request(
        None if bytes_text is None else parse_bytes(bytes_text, "--bytes"), root, pieces, order == "depth-first"
    )
    costs = message_costs(send_overhead, receive_overhead, rendezvous, sharing)
    plan = None if plan_path is None else Plan.from_file(plan_path)
    found = simulate_what(what, network, request, costs, plan)
    if as_json:
        print_json({"network": network.name, "sharing": sharing, "results": [one.to_dict(network) for one in found]})
        return
    rows = [(one.name, f"{one.timeline.makespan_s * 1e3:.3f} ms", one.timeline.num_events) for one in found]
    print_table(["", "time", "events"], rows, f"on {network.name}, sharing {sharing}")
    if len(found) == 1:
        loads = link_loads(found[0].timeline, network)
        cells = [(source, target, f"{round(size):,}", f"{use:.0%}") for source, target, size, use in loads]
        print_table(["from", "to", "bytes", "in use"], cells[:_LINKS_SHOWN])
        if len(cells) > _LINKS_SHOWN:
            click.echo(f"({len(cells) - _LINKS_SHOWN} links less used are not shown; --json has them all)")
