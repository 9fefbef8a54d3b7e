# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench`: suites that measure with real MPIs."""

from __future__ import annotations

from pathlib import Path

import click

from hocket.cli.bench.circuits import circuits
from hocket.cli.bench.guidelines import guidelines
from hocket.cli.bench.items import items
from hocket.cli.bench.new import new
from hocket.cli.bench.suites import compare, run, show
from hocket.cli.common import json_option, print_json, print_table
from hocket.cli.options import Duration, FiniteRange, OutputPath, generator_options
from hocket.cli.reporter import TerminalReporter
from hocket.errors import Error, InvalidInput
from hocket.networks.source import NetworkSource

_PLACEMENTS = ("in order", "interleaved")


@click.group()
def command() -> None:
    """Run a benchmark suite with the MPIs of this machine.

    \b
    Examples:
      hocket bench run mbl2-io --quick -- mpiexec -n 2
      hocket bench fidelity --quick
      hocket bench overlap --network star:2 --bandwidth "200 Mbit/s" --mpi mpich-5
      hocket bench circuits --mpi mpich-5
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
    from hocket import parse_bytes
    from hocket.bench.fidelity.request import FidelityRequest, run

    request = FidelityRequest(
        output,
        quick,
        tuple(map(NetworkSource, network_texts)),
        mpi_names,
        placement_names,
        collectives,
        tuple(parse_bytes(size, "--bytes") for size in sizes),
        launches,
    )
    document = run(request, TerminalReporter()).values
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
@click.option(
    "--segments", "--pieces", "segments", type=click.IntRange(1, 2**31 - 1), default=1, show_default=True,
    help="Of the algorithm.",
)  # fmt: skip
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
    segments: int,
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
    from hocket.bench.overlap.request import OverlapRequest, run

    if network_text is None and (bandwidth or latency):
        raise InvalidInput("--bandwidth and --latency are for generated networks", "name one: --network star:2")
    request = OverlapRequest(
        output,
        None if network_text is None else NetworkSource(network_text, bandwidth, latency),
        mpi_names,
        ranks,
        collective,
        tuple(parse_bytes(size, "--bytes") for size in sizes or ("1 MB",)),
        in_flight or (1,),
        compute,
        ratio,
        modes,
        algorithm,
        segments,
        core,
        launches,
        repetitions,
        timeout_s,
        force,
    )
    done = run(request, TerminalReporter())
    if done.values["rows"]:
        if as_json:
            print_json(done.values)
        else:
            _print_overlap(done.values)
            click.echo(f"{output / 'index.html'}: plots of all")
    if failures := done.values["failures"]:
        raise Error(f"{len(failures)} of {done.attempts} measurements failed, as reported above")


for _command in (circuits, run, show, compare, guidelines, items, new):
    command.add_command(_command)


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
