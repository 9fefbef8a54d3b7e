# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket cost`: closed forms and lower bounds."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hocket.cli.common import json_option, message, print_json, print_table
from hocket.cli.options import Duration, generator_options, network_option
from hocket.cli.reporter import TerminalReporter
from hocket.errors import InvalidInput
from hocket.network_source import NetworkSource

if TYPE_CHECKING:
    from hocket.circuit_costs import CircuitCostRequest


@click.command()
@click.argument("collectives", metavar="COLLECTIVE...", nargs=-1, required=True)
@click.option("-n", "--ranks", type=click.IntRange(1), help="Number of ranks (with --network: all of it).")
@click.option(
    "-b", "--bytes", "bytes_text", required=True, metavar="BYTES", help='"1 MB", "64 KiB"; see `hocket simulate`.'
)
@click.option(
    "--segments", "--pieces", "pieces", type=click.IntRange(1), default=1, show_default=True,
    help="Segments of a pipelined algorithm.",
)  # fmt: skip
@click.option("--root", type=click.IntRange(0), default=0, show_default=True)
@network_option(required=False)
@generator_options
@click.option("--ports", metavar="K,...", help="On circuits: for each of these numbers of ports of a node.")
@click.option("--setup", "setup_s", type=Duration(), help="On circuits: of a circuit, or of several at once.")
@click.option("--teardown", "teardown_s", type=Duration(), help="The same of taking them down.")
@click.option(
    "--accounting",
    type=click.Choice(["equations", "hidden"]),
    default="equations",
    show_default=True,
    help="On circuits: set-up and teardown one after the other, or a teardown hidden behind the next set-up.",
)
@click.option("--whole", is_flag=True, help="On circuits: BYTES counts the blocks of all ranks together.")
@click.option(
    "--figures",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="On circuits: draw time against size, from 1 byte to BYTES, as HTML, PNG and SVG.",
)
@click.option(
    "--maps",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="On circuits: draw which algorithm is fastest over size and set-up time, up to 100 times shorter and longer.",
)
@json_option
def command(
    collectives: tuple[str, ...],
    ranks: int | None,
    bytes_text: str,
    pieces: int,
    root: int,
    network_text: str | None,
    bandwidth: str | None,
    latency: str | None,
    ports: str | None,
    setup_s: float | None,
    teardown_s: float | None,
    accounting: str,
    whole: bool,
    figures: Path | None,
    maps: Path | None,
    as_json: bool,
) -> None:
    """Time of each algorithm by Hockney's model, and the lower bound of a network; with --ports on circuits.

    \b
    The model: a message of n bytes takes latency + n / bandwidth, on a network without contention.
    Examples:
      hocket cost bcast --ranks 8 --bytes "1 MB" --latency "50 us" --bandwidth "1 Gbit/s"
      hocket cost allreduce --bytes "1 MB" --network networks/two-clusters.toml
      hocket cost bcast allgather --ranks 32 --bytes "1 MB" --whole --ports 2,3,4 --setup 5ms --teardown 5ms \\
          --latency "100 us" --bandwidth "1 Gbit/s" --figures figures
    """
    if ports is not None:
        request = _circuit_request(
            collectives, ranks, bytes_text, ports, setup_s, teardown_s, bandwidth, latency, accounting, whole
        )
        _show_circuits(request, figures, maps, as_json)
        return
    for given, option in ((setup_s is not None, "--setup"), (teardown_s is not None, "--teardown"),
                          (whole, "--whole"), (figures is not None, "--figures"),
                          (maps is not None, "--maps")):  # fmt: skip
        if given:
            raise InvalidInput(f"{option} is of circuits", "give --ports too, such as --ports 2,3,4")
    if len(collectives) > 1:
        raise InvalidInput(f"{len(collectives)} collectives are given: expected one, or several with --ports")
    from hocket import parse_bandwidth, parse_bytes, parse_duration
    from hocket.cost import CostRequest, run

    network = None
    if network_text is not None:
        network = NetworkSource(network_text)
        if network.is_generated:
            network = dataclasses.replace(network, bandwidth=bandwidth, latency=latency)
    table = run(
        CostRequest(
            collectives[0],
            parse_bytes(bytes_text, "--bytes"),
            ranks,
            pieces,
            root,
            network,
            None if bandwidth is None else parse_bandwidth(bandwidth, "--bandwidth"),
            None if latency is None else parse_duration(latency, "--latency"),
        )
    )
    if as_json:
        print_json(table.values)
    else:
        print_table(["algorithm", "time"], table.rows(), table.title())


def _circuit_request(
    collectives: tuple[str, ...],
    ranks: int | None,
    bytes_text: str,
    ports: str,
    setup_s: float | None,
    teardown_s: float | None,
    bandwidth: str | None,
    latency: str | None,
    accounting: str,
    whole: bool,
) -> CircuitCostRequest:
    from hocket import parse_bandwidth, parse_bytes, parse_duration
    from hocket.circuit_costs import CircuitCostRequest

    if ranks is None or bandwidth is None or latency is None or setup_s is None or teardown_s is None:
        raise InvalidInput(
            "--ports needs --ranks, --bandwidth, --latency, --setup and --teardown",
            hint='for instance: --ranks 32 --latency "100 us" --bandwidth "1 Gbit/s" --setup 5ms --teardown 5ms',
        )
    try:
        numbers = tuple(int(one) for one in ports.split(","))
    except ValueError:
        raise InvalidInput(f"--ports {ports}: expected whole numbers such as 2,3,4") from None
    return CircuitCostRequest(
        tuple(dict.fromkeys(collectives)),
        ranks,
        tuple(dict.fromkeys(numbers)),
        parse_bytes(bytes_text, "--bytes"),
        setup_s,
        teardown_s,
        parse_duration(latency, "--latency"),
        parse_bandwidth(bandwidth, "--bandwidth"),
        accounting,
        whole,
    )


def _show_circuits(request: CircuitCostRequest, folder: Path | None, maps: Path | None, as_json: bool) -> None:
    from hocket.circuit_costs import run

    costs = run(request)
    if folder is not None:
        from hocket.report.circuit_figures import write_figures

        files = write_figures(costs, folder)
        message(f"{len(files)} figures in {folder}")
    if maps is not None:
        from hocket.circuit_maps import CircuitMapRequest
        from hocket.circuit_maps import run as compare
        from hocket.report.circuit_map_figures import write_maps

        files = write_maps(compare(CircuitMapRequest(request), TerminalReporter()), maps)
        message(f"{len(files)} maps in {maps}")
    if as_json:
        print_json(costs.values)
        return
    print_table(["algorithm", *(curve.name for curve in costs.figures[0].curves)], costs.rows(), costs.title())
