# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench`: suites that measure with real MPIs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from hocket.cli.common import json_option, note, print_json, print_table, progress
from hocket.cli.options import OutputPath, load_network
from hocket.errors import Error, InvalidInput

_PLACEMENTS = ("in order", "interleaved")


@click.group()
def command() -> None:
    """Run a benchmark suite with the MPIs of this machine.

    \b
    Example:
      hocket bench fidelity --quick
    """


@command.command()
@click.option("--quick", is_flag=True, help="A spread sample in about ten minutes.")
@click.option(
    "-N", "--network", "network_texts", multiple=True, metavar="FILE|KIND:SHAPE",
    help="To emulate; several times.  [default: a star, two clusters, a tree of three levels, 4 hosts x 2 ranks]",
)  # fmt: skip
@click.option(
    "--mpi", "mpi_names", multiple=True, metavar="TEXT", help="Only MPIs with this in their name, such as mpich-5."
)
@click.option("--placement", "placement_names", multiple=True, type=click.Choice(_PLACEMENTS), help="Only these.")
@click.option("--collective", "collectives", multiple=True, help="Only these.")
@click.option(
    "-b",
    "--bytes",
    "sizes",
    multiple=True,
    metavar="BYTES",
    help="Only these sizes of a rank's buffer.  [default: 8 B to 4 MiB]",
)
@click.option(
    "--launches", type=click.IntRange(1, 100), help="That measure each case, after those that decide.  [default: 3]"
)
@click.option(
    "-o", "--output", type=OutputPath(), default=Path("hocket-fidelity"), show_default=True, help="Result folder."
)
@json_option
def fidelity(
    quick: bool,
    network_texts: tuple[str, ...],
    mpi_names: tuple[str, ...],
    placement_names: tuple[str, ...],
    collectives: tuple[str, ...],
    sizes: tuple[str, ...],
    launches: int | None,
    output: Path,
    as_json: bool,
) -> None:
    """Set predictions of collectives beside measurements, on emulated networks.

    For each network, placement of the ranks and MPI: fits the costs of messages to a few training collectives, predicts
    the schedules that it calls best for each collective and size, and measures them and the MPI's own in turns. Writes
    fidelity.json with every point and index.html with plots.

    \b
    Examples:
      hocket bench fidelity --quick
      hocket bench fidelity --network networks/two-clusters.toml --mpi mpich-5 --collective bcast --bytes "1 MiB"
    """
    import dataclasses

    from hocket import parse_bytes
    from hocket.fidelity.fidelity import QUICK, num_launches, run, settings
    from hocket.fidelity.measure import FidelityOptions
    from hocket.fidelity.settings import COLLECTIVES, PLACEMENTS, QUICK_SIZES, SIZES, all_cases, bundled_networks
    from hocket.files import check_room, write_whole
    from hocket.mpi.discover import find_mpis
    from hocket.report.fidelity_page import render

    for name in collectives:
        if name not in COLLECTIVES:
            raise InvalidInput(f"--collective: {name} is not measured; accepted: {', '.join(COLLECTIVES)}")
    options = QUICK if quick else FidelityOptions()
    if launches is not None:
        options = dataclasses.replace(options, launches=launches)
    networks = [load_network(text) for text in network_texts] or bundled_networks()
    found = find_mpis()
    mpis = [mpi for mpi in found if not mpi_names or any(name in mpi.label for name in mpi_names)]
    if not mpis:
        raise Error(
            f"no MPI of this machine is called {' or '.join(mpi_names) or 'anything'}",
            f"found: {', '.join(mpi.label for mpi in found) or 'none'}; `hocket doctor` tells more",
        )
    names = [network.name for network in networks]
    if len(set(names)) < len(names):
        raise InvalidInput(
            f"--network: two networks are called {max(names, key=names.count)}", "rename one in its file"
        )
    for network in networks:
        if network.num_ranks < 2:
            raise InvalidInput(f"network {network.name} has one rank: nothing is sent", "give it more hosts or ranks")
    cases = None
    if not quick or collectives or sizes:
        given = [parse_bytes(size, "--bytes") for size in sizes]
        cases = all_cases(given or (QUICK_SIZES if quick else SIZES), collectives or COLLECTIVES)
    chosen = settings(networks, mpis, quick, placement_names or PLACEMENTS)
    if not chosen:
        raise InvalidInput("--placement: on these networks of equal hosts around a switch all orders are one: in order")
    try:
        output.mkdir(parents=True, exist_ok=True)
        check_room(output)
    except OSError as error:
        raise InvalidInput(f"{output}: cannot write there: {error.strerror}", "name another folder with -o") from None
    partial = output / "fidelity.partial.json"  # an earlier whole result is not replaced by a part of a new one
    with progress("fidelity", total=num_launches(chosen, options), lines=True) as advance:
        for number, result in enumerate(run(chosen, cases, options, advance, note), start=1):
            document = result.to_json()
            write_whole(partial, json.dumps(document, indent=1) + "\n")
            note(f"{number} of {len(chosen)} settings: {len(result.points)} points")
    if not document["points"]:
        raise Error(
            f"nothing could be measured: all {len(document['failures'])} attempts failed, as told above",
            "`hocket doctor` tells what works",
        )
    write_whole(output / "index.html", render(document))
    partial.replace(output / "fidelity.json")
    if as_json:
        print_json(document)
        return
    _print(document)
    click.echo(f"{output / 'index.html'}: every point")


def _print(document: dict[str, object]) -> None:
    from hocket.report.fidelity_tables import by_mpi, by_network, sentences

    print_table(*by_network(document))
    print_table(*by_mpi(document))
    for line in sentences(document):
        click.echo(line)
