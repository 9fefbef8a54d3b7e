# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket cost`: closed forms and lower bounds."""

from __future__ import annotations

import click

from hocket.cli.common import json_option, print_json, print_table
from hocket.cli.options import generator_options, load_network, network_option


@click.command()
@click.argument("collective")
@click.option("-n", "--ranks", type=click.IntRange(1), help="Number of ranks (with --network: all of it).")
@click.option(
    "-b", "--bytes", "bytes_text", required=True, metavar="BYTES", help='"1 MB", "64 KiB"; see `hocket simulate`.'
)
@click.option("--pieces", type=click.IntRange(1), default=1, show_default=True, help="Pieces of a pipelined algorithm.")
@click.option("--root", type=click.IntRange(0), default=0, show_default=True)
@network_option(required=False)
@generator_options
@json_option
def command(
    collective: str,
    ranks: int | None,
    bytes_text: str,
    pieces: int,
    root: int,
    network_text: str | None,
    bandwidth: str | None,
    latency: str | None,
    as_json: bool,
) -> None:
    """Time of each algorithm by Hockney's model, and the lower bound of a network.

    \b
    The model: a message of n bytes takes latency + n / bandwidth, on a network without contention.
    Examples:
      hocket cost bcast --ranks 8 --bytes "1 MB" --latency "50 us" --bandwidth "1 Gbit/s"
      hocket cost allreduce --bytes "1 MB" --network networks/two-clusters.toml
    """
    from hocket.cost import cost_table

    network = None
    if network_text is not None:
        generated = ":" in network_text
        network = load_network(network_text, bandwidth if generated else None, latency if generated else None)
    table = cost_table(collective, ranks, bytes_text, pieces, root, network, bandwidth, latency)
    if as_json:
        print_json(table.to_dict())
    else:
        print_table(["algorithm", "time"], table.rows(), table.title())
