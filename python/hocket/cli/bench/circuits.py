# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench circuits`: schedules on an emulated circuit switch."""

from __future__ import annotations

from typing import Any

import click

from hocket.cli.common import json_option, print_json, print_table
from hocket.cli.options import Duration, ModelTime, PortNumbers
from hocket.cli.reporter import TerminalReporter
from hocket.errors import Error


@click.command()
@click.option(
    "--mpi", "mpi_names", multiple=True, metavar="TEXT", help="Only MPIs with this in their name, such as mpich-5."
)
@click.option("-n", "--ranks", type=click.IntRange(2, 128), default=8, show_default=True, help="One on each host.")
@click.option(
    "--ports", type=PortNumbers(), default="2,3,4", show_default=True, metavar="K,...",
    help="Of a host, one case for each.",
)  # fmt: skip
@click.option("--setup", "setup_s", type=ModelTime(), default=5e-3, show_default="5ms", help="Of circuits.")
@click.option("--teardown", "teardown_s", type=ModelTime(), default=5e-3, show_default="5ms", help="Of circuits.")
@click.option(
    "--accounting", type=click.Choice(["equations", "hidden"]), default="equations", show_default=True,
    help="Set-up and teardown one after the other, or a teardown hidden behind the next set-up.",
)  # fmt: skip
@click.option(
    "--controller", type=click.Choice(["parallel", "serial"]), default="parallel", show_default=True,
    help="Set-ups and teardowns at once, or one at a time.",
)  # fmt: skip
@click.option("--bandwidth", default="100 Mbit/s", show_default=True, help="Of the link of a host.")
@click.option(
    "-b", "--bytes", "bytes_text", default="128 KiB", show_default=True, metavar="BYTES",
    help="The message of bcast, the block of a rank of allgather.",
)  # fmt: skip
@click.option("--collective", "collectives", multiple=True, help="Only these.  [default: bcast, allgather]")
@click.option("--rounds", type=click.IntRange(1, 1000), default=5, show_default=True, help="Of all schedules.")
@click.option(
    "--timeout", "timeout_s", type=Duration(1), default=120.0, show_default="2min", metavar="TIME",
    help="End a launch that takes longer.",
)  # fmt: skip
@json_option
def circuits(
    mpi_names: tuple[str, ...],
    ranks: int,
    ports: tuple[int, ...],
    setup_s: float,
    teardown_s: float,
    accounting: str,
    controller: str,
    bandwidth: str,
    bytes_text: str,
    collectives: tuple[str, ...],
    rounds: int,
    timeout_s: float,
    as_json: bool,
) -> None:
    """Run schedules on an emulated circuit switch, beside their predicted times.

    A testbed has the hosts and the switch, which connects only those that have a circuit. Every MPI sends messages
    first. With what they cost the schedules are made: of the algorithms of [Takizawa] with a circuit for
    each message and with ports, and of `hocket schedule --circuits`. Each is run, and all data are checked.

    \b
    Examples:
      hocket bench circuits --mpi mpich-5
      hocket bench circuits --collective allgather --ports 2 --setup 1ms --teardown 1ms --bytes "16 KiB"
    """
    from hocket import parse_bytes
    from hocket.bench.circuits.request import COLLECTIVES, CircuitBenchRequest, run

    request = CircuitBenchRequest(
        mpi_names,
        ranks,
        ports,
        parse_bytes(bytes_text, "--bytes"),
        setup_s,
        teardown_s,
        accounting,
        controller,
        bandwidth,
        collectives or COLLECTIVES,
        rounds,
        timeout_s,
    )
    document = run(request, TerminalReporter()).values
    if document["rows"]:
        if as_json:
            print_json(document)
        else:
            _print(document)
    if failures := document["failures"]:
        raise Error(f"{len(failures)} of {len(failures) + len(document['messages'])} MPIs failed, as reported above")


def _print(document: dict[str, Any]) -> None:
    from hocket.report import text

    for mpi, cost in document["messages"].items():
        beta = cost["beta_s_per_byte"]
        alpha, size = text.seconds(cost["alpha_s"]), f"n / ({text.bandwidth(1 / beta)})" if beta > 0 else "0"
        rows = [
            (
                f"{row['collective']} {row['algorithm']}{' (found)' if row['found'] else ''}",
                row["ports"] or "a circuit a message",
                row["configurations"],
                text.seconds(row["predicted_s"]),
                text.seconds(row["measured_s"]),
                text.percent(row["error"], signed=True),
                f"{text.seconds(min(row['times_s']))} to {text.seconds(max(row['times_s']))}",
            )
            for row in document["rows"]
            if row["mpi"] == mpi
        ]
        columns = ("algorithm", "ports", "configurations", "predicted", "measured", "difference", "all rounds")
        print_table(columns, rows, f"{mpi}: a message takes {alpha} + {size}")
    for note in document["notes"]:
        click.echo(note)
