# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket network`: show, generate, convert and import network files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hocket.cli.common import json_option, message, print_json, print_table
from hocket.cli.options import OutputPath, routing_options
from hocket.networks.source import NetworkSource

if TYPE_CHECKING:
    from hocket import Network

MOST_ROWS = 64  # of a table, without --all


@click.group(epilog="Example: hocket network show networks/two-clusters.toml")
def command() -> None:
    """Show, generate, convert and import network files."""


@command.command(epilog="Example: hocket network show fat-tree:2x2x4")
@click.argument("network_text", metavar="FILE|KIND:SHAPE")
@routing_options
@click.option("--route", nargs=2, type=int, metavar="RANK RANK", help="Print only the nodes from one rank to another.")
@click.option("--all", "show_all", is_flag=True, help=f"Print all rows of tables longer than {MOST_ROWS}.")
@json_option
def show(
    network_text: str,
    routing: str | None,
    seed: int | None,
    route: tuple[int, int] | None,
    show_all: bool,
    as_json: bool,
) -> None:
    """Print the nodes, ranks and links of a network, or a route."""
    from hocket.networks.request import RouteRequest, ShowRequest, find_route, show_network

    source = NetworkSource(network_text, routing=routing, seed=seed)
    if route is not None:
        found = find_route(RouteRequest(source, *route)).values
        if as_json:
            print_json(found)
        else:
            print(" -> ".join(found["nodes"]))
        return
    shown = show_network(ShowRequest(source))
    if as_json:
        print_json(shown.values)
        return
    network = shown.network
    from hocket import print_bandwidth, print_duration
    from hocket.report.text import counted

    nodes, links = network.nodes, network.links
    shape = "a tree" if network.is_tree else "not a tree"
    counts = (counted(network.num_ranks, "rank"), counted(len(nodes), "node"), counted(len(links), "directed link"))
    print(f"{network.name}: {', '.join(counts)}, {shape}")
    ranks_on: dict[int, list[str]] = {}
    for rank, node in enumerate(network.rank_nodes):
        ranks_on.setdefault(node, []).append(str(rank))
    _print_rows(
        "Nodes",
        ["node", "kind", "ranks"],
        [(node.name, node.kind, " ".join(ranks_on.get(i, []))) for i, node in enumerate(nodes)],
        show_all,
    )
    _print_rows(
        "Links",
        ["from", "to", "bandwidth", "latency", "duplex"],
        [
            (
                nodes[link.source].name,
                nodes[link.target].name,
                print_bandwidth(link.bandwidth_bytes_per_s),
                print_duration(link.latency_s),
                "half" if link.half_duplex else "full",
            )
            for link in links
        ],
        show_all,
    )


@command.command(epilog='Example: hocket network generate two-clusters:4+4 --bandwidth "93 Mbit/s" -o two.toml')
@click.argument("kind_and_shape", metavar="KIND:SHAPE")
@click.option("--bandwidth", metavar="TEXT", help='Of each link: "1 Gbit/s", which is the default.')
@click.option("--latency", metavar="TEXT", help='Of each link: "50 us"; default 0.')
@click.option("--second-bandwidth", metavar="TEXT", help="Of the host links of the second of two-clusters.")
@click.option("--trunk-bandwidth", metavar="TEXT", help="Of the link between two-clusters.")
@click.option("--trunk-latency", metavar="TEXT", help="Of the link between two-clusters.")
@routing_options
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write instead of standard output.")
def generate(kind_and_shape: str, output: Path | None, **given: Any) -> None:
    """Write the file of a regular network.

    KIND:SHAPE is star:16, two-clusters:4+4, tree:4x4, fat-tree:8x8x16, a tapered fat-tree:8x8x16/4x2, torus:4x4x4,
    mesh:4x4x4, hypercube:10 or dragonfly:4,8,4 (hosts of a router, routers of a group, global links of a router).
    """
    from hocket.networks.request import GenerateRequest
    from hocket.networks.request import generate as generate_network

    _write(generate_network(GenerateRequest(kind_and_shape, **given)).network, output)


@command.command(epilog="Example: hocket network convert star:4 -o star.toml")
@click.argument("network_text", metavar="FILE|KIND:SHAPE")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write instead of standard output.")
def convert(network_text: str, output: Path | None) -> None:
    """Write a network in hocket's own format, every node and link spelled out where its routes allow."""
    _write(NetworkSource(network_text).load(), output)


@command.command(
    "import", epilog="Example: hocket network import topology.conf --bandwidth '100 Gbit/s' -o cluster.toml"
)
@click.argument("file")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["slurm", "ibnetdiscover", "hwloc", "simgrid"]),
    help="Of FILE.  [default: recognised from its content]",
)
@click.option("--bandwidth", metavar="TEXT", help='Of links whose bandwidth FILE does not say: "100 Gbit/s".')
@click.option("--latency", metavar="TEXT", help='Of links whose latency FILE does not say: "1 us".')
@click.option("--trunk-bandwidth", metavar="TEXT", help="The same of links between switches.")
@click.option("--trunk-latency", metavar="TEXT", help="The same of links between switches.")
@click.option(
    "--routing",
    type=click.Choice(["shortest-path", "ecmp"]),
    help="Where there are several paths and FILE does not say which is taken.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Of the hash of --routing ecmp.  [default: 1]")
@click.option("--hosts", metavar="LIST", help='Only these hosts, in this order: "n[01-16],login".')
@click.option("--ranks", type=click.IntRange(1, 1 << 21), help="Ranks of each host.")
@click.option("--names", metavar="FILE", help="ibnetdiscover: a node name map, with a GUID and a name on each line.")
@click.option(
    "--ranks-on",
    type=click.Choice(["pu", "core", "l3", "numa", "package"]),
    help="hwloc: what carries a rank.  [default: core]",
)
@click.option("-o", "--output", type=OutputPath(), help="File to write instead of standard output.")
@json_option
def import_(file: str, format_name: str | None, output: Path | None, as_json: bool, **given: Any) -> None:
    """Make a network file from a file that a cluster has already.

    FILE is Slurm's topology.conf or topology.yaml, the output of ibnetdiscover, the XML of hwloc (lstopo machine.xml)
    or a SimGrid platform; - is standard input. What it does not say comes from the options, or is assumed; what was
    assumed and left out is reported, and stands in the network file as comments.
    """
    from hocket.interop.networks import Options
    from hocket.networks.request import ImportRequest, import_file
    from hocket.report.text import counted

    done = import_file(ImportRequest(file, format_name, Options(**given)))
    imported = done.imported
    if output is not None:
        _write_text(imported.toml, output)
    if as_json:
        values = done.values | {"output": output}
        print_json(values if output is None else values | {"network": {"is_tree": imported.network.is_tree}})
        return
    if output is None:
        click.echo(imported.toml, nl=False)
    shape = "a tree" if imported.network.is_tree else f"not a tree, routing {imported.routing}"
    message(
        f"{'standard input' if file == '-' else file} ({imported.format}): {counted(imported.hosts, 'host')}, "
        f"{counted(imported.network.num_ranks, 'rank')}, "
        f"{counted(imported.switches, 'switch', 'switches')}, {counted(imported.cables, 'link')}, {shape}"
        + (f", {counted(imported.routes, 'explicit route')}" if imported.routes else "")
    )
    for kind, texts in (("assumed", imported.assumed), ("left out", imported.ignored)):
        for text in texts:
            message(f"{kind}: {text}")
    if imported.network.num_ranks == 1:
        more = "--ranks-on core" if imported.format == "hwloc" else "--ranks 4"
        message(f"one rank, so that there is nothing to tune; {more} makes more")


def _print_rows(title: str, columns: list[str], rows: list[tuple[str, ...]], show_all: bool) -> None:
    shown = rows if show_all else rows[:MOST_ROWS]
    print_table(columns, shown, title)
    if len(shown) < len(rows):
        message(f"{len(rows) - len(shown)} more {title.lower()}: print them with --all")


def _write(network: Network, output: Path | None) -> None:
    text = network.to_toml()
    if output is None:
        click.echo(text, nl=False)
    else:
        _write_text(text, output)


def _write_text(text: str, output: Path) -> None:
    from hocket import InvalidInput
    from hocket.io.files import write_whole

    try:
        write_whole(output, text)
    except OSError as error:
        raise InvalidInput(f"{output}: cannot write the network file: {error.strerror}") from error
