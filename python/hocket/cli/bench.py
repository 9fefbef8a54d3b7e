# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench`: suites that measure with real MPIs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hocket.cli.common import json_option, note, print_json, print_table, progress
from hocket.cli.options import Duration, FiniteRange, OutputPath, generator_options, load_network
from hocket.errors import Error, InvalidInput

if TYPE_CHECKING:
    from hocket.mpi.discover import Mpi

_PLACEMENTS = ("in order", "interleaved")


@click.group()
def command() -> None:
    """Run a benchmark suite with the MPIs of this machine.

    \b
    Examples:
      hocket bench fidelity --quick
      hocket bench overlap --network star:2 --bandwidth "200 Mbit/s" --mpi mpich-5
    """


_mpi_option = click.option(
    "--mpi", "mpi_names", multiple=True, metavar="TEXT", help="Only MPIs with this in their name, such as mpich-5."
)


@command.command()
@click.option("--quick", is_flag=True, help="A spread sample in about ten minutes.")
@click.option(
    "-N", "--network", "network_texts", multiple=True, metavar="FILE|KIND:SHAPE",
    help="To emulate; several times.  [default: a star, two clusters, a tree of three levels, 4 hosts x 2 ranks]",
)  # fmt: skip
@_mpi_option
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
    from hocket.files import write_whole
    from hocket.report.fidelity_page import render

    for name in collectives:
        if name not in COLLECTIVES:
            raise InvalidInput(f"--collective: {name} is not measured; accepted: {', '.join(COLLECTIVES)}")
    options = QUICK if quick else FidelityOptions()
    if launches is not None:
        options = dataclasses.replace(options, launches=launches)
    networks = [load_network(text) for text in network_texts] or bundled_networks()
    mpis = _chosen(mpi_names)
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
        if 0 in given:
            raise InvalidInput("--bytes: a collective of 0 bytes is not measured; accepted: 1 B and more")
        cases = all_cases(given or (QUICK_SIZES if quick else SIZES), collectives or COLLECTIVES)
    chosen = settings(networks, mpis, quick, placement_names or PLACEMENTS)
    if not chosen:
        raise InvalidInput("--placement: on these networks of equal hosts around a switch all orders are one: in order")
    _check_room(output)
    partial = output / "fidelity.partial.json"  # an earlier whole result is not replaced by a part of a new one
    number = 0
    try:
        with progress("fidelity", total=num_launches(chosen, options)) as advance:
            for number, result in enumerate(run(chosen, cases, options, advance, note), start=1):
                document = result.to_json()
                output.mkdir(parents=True, exist_ok=True)
                write_whole(partial, json.dumps(document, indent=1) + "\n")
                note(f"{number} of {len(chosen)} settings: {len(result.points)} points")
    except BaseException:  # such as Ctrl-C
        note(
            f"{number} of {len(chosen)} settings were measured" + (f"; their points are in {partial}" if number else "")
        )
        raise
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


@command.command()
@click.option(
    "-N", "--network", "network_text", metavar="FILE|KIND:SHAPE", help="To emulate.  [default: this machine as it is]"
)
@generator_options
@_mpi_option
@click.option("-n", "--ranks", type=click.IntRange(2, 100_000), help="Without --network.  [default: 2]")
@click.option("--collective", default="alltoall", show_default=True, help="One of MPI's with data.")
@click.option(
    "-b", "--bytes", "sizes", multiple=True, metavar="BYTES",
    help="Of a block, as MPI counts: of alltoall what a rank sends to each other one; several times.  [default: 1 MB]",
)  # fmt: skip
@click.option(
    "--in-flight", multiple=True, type=click.IntRange(1, 1000), metavar="K",
    help="Collectives at once; several times.  [default: 1]",
)  # fmt: skip
@click.option(
    "--compute", type=click.Choice(["real", "free-core", "both"]), default="both", show_default=True,
    help="A matrix-vector product, which shares its cores with the communication, or naps, which leave them free.",
)  # fmt: skip
@click.option(
    "--ratio", type=FiniteRange(min=0, min_open=True), default=1.0, show_default=True,
    help="Computation / the MPI's own communication.",
)  # fmt: skip
@click.option("--mode", "modes", multiple=True, metavar="NAME", help="Only these, and MPI.  [default: all]")
@click.option("--algorithm", help="Of the schedules.  [default: one as LibNBC has it]")
@click.option("--pieces", type=click.IntRange(1, 2**31 - 1), default=1, show_default=True, help="Of the algorithm.")
@click.option(
    "--core", default="any", show_default=True, metavar="any|idle|NUMBER", help="Where threads of engines run."
)
@click.option("--launches", type=click.IntRange(1, 100), default=3, show_default=True)
@click.option(
    "--repetitions", type=click.IntRange(1, 10_000), default=5, show_default=True, help="Of each mode in a launch."
)
@click.option(
    "--timeout", "timeout_s", type=Duration(1), default=300.0, show_default="5min", metavar="TIME",
    help="End a launch that takes longer.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=OutputPath(), default=Path("hocket-overlap"), show_default=True, help="Result folder."
)
@click.option("--force", is_flag=True, help="Replace an earlier result.")
@json_option
def overlap(
    network_text: str | None,
    bandwidth: str | None,
    latency: str | None,
    mpi_names: tuple[str, ...],
    ranks: int | None,
    collective: str,
    sizes: tuple[str, ...],
    in_flight: tuple[int, ...],
    compute: str,
    ratio: float,
    modes: tuple[str, ...],
    algorithm: str | None,
    pieces: int,
    core: str,
    launches: int,
    repetitions: int,
    timeout_s: float,
    output: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Compare ways to hide collectives behind computation.

    A program starts collectives, computes for as long as the MPI's own take alone, and waits for them: with the
    function and the thread of LibNBC, with the MPI's blocking collectives in a thread, with engines that nap, with the
    MPI's own non-blocking collectives. All ways run in turns, and their data are compared. Writes overlap.json and
    index.html with plots. OMP_NUM_THREADS threads of each rank compute, one unless it is set.

    \b
    Examples:
      hocket bench overlap --network star:2 --bandwidth "200 Mbit/s" --mpi mpich-5
      hocket bench overlap --network networks/star8.toml --bytes 125kB --compute free-core --in-flight 1 --in-flight 4
    """
    from hocket import parse_bytes
    from hocket.bench.overlap import Case, OverlapOptions
    from hocket.bench.overlap_modes import COMPUTE_MODELS, check_choices
    from hocket.bench.overlap_run import num_launches, run
    from hocket.files import write_whole
    from hocket.report.overlap_page import render

    check_choices(collective, algorithm, modes, core)
    if not force and (output / "overlap.json").exists():
        raise InvalidInput(f"{output}: holds an earlier result", "--force replaces it; -o names another folder")
    if network_text is None and (bandwidth or latency):
        raise InvalidInput("--bandwidth and --latency are for generated networks", "name one: --network star:2")
    network = None if network_text is None else load_network(network_text, bandwidth, latency)
    if network is not None and ranks is not None:
        raise InvalidInput(f"--ranks: network {network.name} says how many there are: {network.num_ranks}")
    if network is not None and network.num_ranks < 2:
        raise InvalidInput(f"network {network.name} has one rank: nothing is sent", "give it more hosts or ranks")
    num_ranks = network.num_ranks if network is not None else ranks or 2
    mpis = _chosen(mpi_names)
    models = COMPUTE_MODELS if compute == "both" else (compute,)
    blocks = [parse_bytes(size, "--bytes") for size in sizes or ("1 MB",)]
    if min(blocks) < 1:
        raise InvalidInput("--bytes: 0 bytes are nothing to hide", "give 1 B or more")
    cases = [
        Case(collective, size, count, model)
        for size in dict.fromkeys(blocks)
        for count in dict.fromkeys(in_flight or (1,))
        for model in models
    ]
    options = OverlapOptions(
        num_ranks, modes, algorithm, pieces, core, ratio, launches, repetitions, timeout_s=timeout_s
    )
    _check_room(output)
    with progress("overlap", total=num_launches(cases, mpis, options)) as advance:
        document = run(cases, mpis, network, options, advance, note)
    if document["rows"]:
        output.mkdir(parents=True, exist_ok=True)
        write_whole(output / "index.html", render(document))
        write_whole(output / "overlap.json", json.dumps(document, indent=1) + "\n")
        if as_json:
            print_json(document)
        else:
            _print_overlap(document)
            click.echo(f"{output / 'index.html'}: plots of all")
    if document["failures"]:
        raise Error(f"{len(document['failures'])} of {len(mpis) * len(cases)} measurements failed, as told above")


def _chosen(names: Sequence[str]) -> list[Mpi]:
    """The MPIs with one of `names` in theirs; without names all."""
    from hocket.mpi.discover import find_mpis

    found = find_mpis()
    mpis = [mpi for mpi in found if not names or any(name in mpi.label for name in names)]
    if not found:
        raise Error("no MPI was found on this machine", "`hocket doctor` tells more")
    if not mpis:
        raise InvalidInput(
            f"--mpi: no MPI of this machine is called {' or '.join(names)}",
            f"found: {', '.join(mpi.label for mpi in found)}; `hocket doctor` tells more",
        )
    return mpis


def _check_room(folder: Path) -> None:
    """To know before a measurement is better than after it; the folder is made when there is something for it."""
    from hocket.files import check_room

    path = folder.absolute()
    try:
        check_room(next(there for there in (path, *path.parents) if there.exists()))
    except OSError as error:
        raise InvalidInput(f"{folder}: cannot write there: {error.strerror}", "name another folder with -o") from None


def _print_overlap(document: dict[str, object]) -> None:
    from hocket.report.overlap_tables import sentences, tables

    for table in tables(document):
        print_table(*table)
    for line in sentences(document):
        click.echo(line)


def _print(document: dict[str, object]) -> None:
    from hocket.report.fidelity_tables import by_mpi, by_network, sentences

    print_table(*by_network(document))
    print_table(*by_mpi(document))
    for line in sentences(document):
        click.echo(line)
