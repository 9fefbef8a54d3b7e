# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket cost`: closed forms and lower bounds."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hocket.cli.common import json_option, message, print_json, print_table
from hocket.cli.options import ModelTime, PortNumbers, generator_options, network_option, refuse_given
from hocket.cli.reporter import TerminalReporter
from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource

if TYPE_CHECKING:
    from hocket.circuits.costs import CircuitCostRequest

_OF_CIRCUITS = ("setup_s", "teardown_s", "accounting", "whole", "figures", "maps")


@click.command()
@click.argument("collectives", metavar="COLLECTIVE...", nargs=-1, required=True)
@click.option("-n", "--ranks", type=click.IntRange(1), help="Number of ranks (with --network: all of it).")
@click.option(
    "-b", "--bytes", "bytes_text", required=True, metavar="BYTES", help='"1 MB", "64 KiB"; see `hocket simulate`.'
)
@click.option(
    "--segments", "--pieces", "segments", type=click.IntRange(1), default=1, show_default=True,
    help="Segments of a pipelined algorithm.",
)  # fmt: skip
@click.option("--root", type=click.IntRange(0), default=0, show_default=True)
@network_option(required=False)
@generator_options
@click.option(
    "--ports", type=PortNumbers(), metavar="K,...", help="On circuits: for each of these numbers of ports of a node."
)
@click.option("--setup", "setup_s", type=ModelTime(), help='On circuits: of a circuit, or of several at once: "5 ms".')
@click.option("--teardown", "teardown_s", type=ModelTime(), help="The same of taking them down.")
@click.option(
    "--accounting",
    type=click.Choice(["equations", "hidden"]),
    help="On circuits: set-up and teardown one after the other, or a teardown hidden behind the next set-up.  "
    "[default: equations, or that of the network]",
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
    segments: int,
    root: int,
    network_text: str | None,
    bandwidth: str | None,
    latency: str | None,
    ports: tuple[int, ...] | None,
    setup_s: float | None,
    teardown_s: float | None,
    accounting: str | None,
    whole: bool,
    figures: Path | None,
    maps: Path | None,
    as_json: bool,
) -> None:
    """Time of each algorithm by Hockney's model, and the lower bound of a network.

    On circuits with --ports, or on a network whose file has a table [circuits]: it gives ranks, ports and times where
    they are not given.

    \b
    The model: a message of n bytes takes latency + n / bandwidth, on a network without contention.
    Examples:
      hocket cost bcast --ranks 8 --bytes "1 MB" --latency "50 us" --bandwidth "1 Gbit/s"
      hocket cost allreduce --bytes "1 MB" --network networks/two-clusters.toml
      hocket cost alltoall --network networks/optical.toml --bytes "64 KiB"
      hocket cost bcast allgather --ranks 32 --bytes "1 MB" --whole --ports 2,3,4 --setup 5ms --teardown 5ms \\
          --latency "100 us" --bandwidth "1 Gbit/s" --figures figures
    """
    network = _network(network_text, bandwidth, latency)
    if ports is not None or (network is not None and _has_circuits(network)):
        refuse_given({"root", "segments"}, "does not apply to circuits", "leave it out: no closed form depends on it")
        request = _circuit_request(
            collectives, ranks, bytes_text, ports, setup_s, teardown_s, network, bandwidth, latency, accounting, whole
        )
        _show_circuits(request, figures, maps, as_json)
        return
    refuse_given(_OF_CIRCUITS, "is of circuits", "give --ports too, such as --ports 2,3,4, or a network with circuits")
    if len(collectives) > 1:
        raise InvalidInput(f"{len(collectives)} collectives are given: expected one, or several with --ports")
    from hocket import parse_bandwidth, parse_bytes, parse_duration
    from hocket.cost.request import CostRequest, run

    table = run(
        CostRequest(
            collectives[0],
            parse_bytes(bytes_text, "--bytes"),
            ranks,
            segments,
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


def _network(text: str | None, bandwidth: str | None, latency: str | None) -> NetworkSource | None:
    if text is None:
        return None
    network = NetworkSource(text)
    return dataclasses.replace(network, bandwidth=bandwidth, latency=latency) if network.is_generated else network


def _has_circuits(network: NetworkSource) -> bool:
    return not network.is_generated and network.load().has_circuits


def _circuit_request(
    collectives: tuple[str, ...],
    ranks: int | None,
    bytes_text: str,
    ports: tuple[int, ...] | None,
    setup_s: float | None,
    teardown_s: float | None,
    network: NetworkSource | None,
    bandwidth: str | None,
    latency: str | None,
    accounting: str | None,
    whole: bool,
) -> CircuitCostRequest:
    """What is given on the command line goes before what the network says."""
    from hocket import parse_bandwidth, parse_bytes, parse_duration
    from hocket.circuits.costs import CircuitCostRequest
    from hocket.circuits.network import values_of

    found = {} if network is None else values_of(network.load(), ranks)
    if "ports" in found:
        found["ports"] = (found["ports"],)
    given = {
        "ranks": ranks,
        "ports": ports,
        "bandwidth_bytes_per_s": None if bandwidth is None else parse_bandwidth(bandwidth, "--bandwidth"),
        "latency_s": None if latency is None else parse_duration(latency, "--latency"),
        "setup_s": setup_s,
        "teardown_s": teardown_s,
        "accounting": accounting,
    }
    found |= {name: value for name, value in given.items() if value is not None}
    if missing := [f"--{name.partition('_')[0]}" for name in given if name not in {*found, "accounting"}]:
        raise InvalidInput(
            f"--ports needs {', '.join(missing)}",
            'for instance: --ranks 32 --latency "100 us" --bandwidth "1 Gbit/s" --setup 5ms --teardown 5ms; or a '
            "--network with circuits",
        )
    return CircuitCostRequest(
        tuple(dict.fromkeys(collectives)), bytes=parse_bytes(bytes_text, "--bytes"), whole=whole, **found
    )


def _show_circuits(request: CircuitCostRequest, folder: Path | None, maps: Path | None, as_json: bool) -> None:
    from hocket.circuits.costs import run

    costs = run(request)
    if folder is not None:
        from hocket.report.circuit_figures import write_figures

        files = write_figures(costs, folder)
        message(f"{len(files)} figures in {folder}")
    if maps is not None:
        from hocket.circuits.maps import CircuitMapRequest
        from hocket.circuits.maps import run as compare
        from hocket.report.circuit_map_figures import write_maps

        files = write_maps(compare(CircuitMapRequest(request), TerminalReporter()), maps)
        message(f"{len(files)} maps in {maps}")
    if as_json:
        print_json(costs.values)
        return
    print_table(["algorithm", *(curve.name for curve in costs.figures[0].curves)], costs.rows(), costs.title())
    for note in costs.notes():
        print(note)
