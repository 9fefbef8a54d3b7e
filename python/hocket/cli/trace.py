# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket trace`: show what was recorded, and exchange traces with other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hocket.cli.common import import_numpy, json_option, message, print_json, print_table
from hocket.cli.options import (
    OutputPath,
    cost_source,
    generator_options,
    message_cost_options,
    network_option,
    refuse_given,
)

if TYPE_CHECKING:
    from hocket.interop.traces.importing import Imported
    from hocket.traces.analysis_request import Analysis

IMPORTED = ["dumpi", "otf2", "liballprof", "ti", "goal", "goal-binary", "chakra"]
EXPORTED = ["otf2", "ti", "goal", "goal-binary", "chakra", "perfetto", "parquet"]
MOST_COMMUNICATORS = 20  # shown


@click.group(epilog="Example: hocket trace show hocket-trace")
def command() -> None:
    """Show recorded traces; import those of other tools, and export them."""


_flops_option = click.option(
    "--flops",
    "flops_per_s",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="SimGrid: what a core computes each second, in flops.  [default: 1e9]",
)


@command.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--rows", default=30, show_default=True, type=click.IntRange(min=1), help="Show so many rows of the table."
)
@json_option
def show(folder: Path, rows: int, as_json: bool) -> None:
    """Show the calls of a trace by function, communicator and size.

    \b
    Example:
      hocket trace show hocket-trace
    """
    from hocket.cli.reporter import TerminalReporter
    from hocket.traces.profile import ProfileRequest, run
    from hocket.traces.rank_summary import shortfalls

    found = run(ProfileRequest(folder), TerminalReporter())
    if as_json:
        print_json(found.values)
        return
    files, table = found.files, found.rows
    # One unit a column, so that its numbers can be compared at a glance.
    print_table(
        ["function", "communicator", "bytes", "calls", "total, ms", "median, us", "share"],
        [
            [
                row.function,
                "" if row.communicator is None else f"{row.communicator} ({row.communicator_size} ranks)",
                "" if row.bytes is None else f"{row.bytes:,}",
                row.calls,
                f"{row.total_s * 1e3:.3f}",
                f"{row.median_s * 1e6:.2f}",
                f"{row.share:.1%}",
            ]
            for row in table[:rows]
        ],
        title=f"{files.ranks} rank(s), {files.meta['mpi']}; times over all ranks, share of their run time",
    )
    if len(table) > rows:
        message(f"{len(table) - rows} more rows: --rows {len(table)}")
    for line in (*files.filters(), *shortfalls(found.ranks)):
        message(line)


@command.command()
@click.argument("folder", metavar="TRACE", type=click.Path(path_type=Path))
@network_option(required=False)
@generator_options
@message_cost_options
@click.option(
    "--plan", "plan_path", type=click.Path(path_type=Path), metavar="FILE", help="Of the predicted run's collectives."
)
@click.option(
    "-o", "--output", type=OutputPath(), metavar="FILE", help="Write a page for the browser.  [default: tables alone]"
)
@json_option
def analyse(
    folder: Path,
    network_text: str | None,
    bandwidth: str | None,
    latency: str | None,
    costs_folder: Path | None,
    send_overhead: str | None,
    receive_overhead: str | None,
    rendezvous: str | None,
    sharing: str,
    plan_path: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Show where the recorded program spent its time: calls, wait states, the critical path.

    With --network the trace is simulated, and the predicted run stands beside the measured one: by call, by rank and
    over time. Wait states have the names and definitions of Scalasca. The page has a timeline of any number of calls.

    \b
    Examples:
      hocket trace analyse hocket-trace -o analysis.html
      hocket trace analyse hocket-result/trace --network hocket-result/network.toml --costs hocket-result
      hocket trace analyse hocket-trace --network star:8 --bandwidth "1 Gbit/s" --json
    """
    import_numpy()
    from hocket.cli.analysis_tables import print_analysis
    from hocket.cli.reporter import TerminalReporter
    from hocket.networks.source import NetworkSource
    from hocket.traces.analysis_request import AnalysisRequest, run

    network = None if network_text is None else NetworkSource(network_text, bandwidth, latency)
    if network is None:
        refuse_given(("bandwidth", "latency"), "goes with --network", "name the network, or leave it out")
    costs = cost_source(costs_folder, send_overhead, receive_overhead, rendezvous, sharing)
    found = run(AnalysisRequest(folder, network, costs, plan_path), TerminalReporter())
    if as_json:
        print_json(found.values)
    else:
        print_analysis(found)
        for note in found.notes:
            message(note)
    if output is not None:
        _write_page(found, output)
        if not as_json:
            click.echo(f"{output}")


def _write_page(found: Analysis, output: Path) -> None:
    from hocket.errors import Error
    from hocket.io.files import write_whole
    from hocket.report.analysis_page import render

    page = render(found.drawn())
    try:
        write_whole(output, page)
    except OSError as error:
        raise Error(
            f"{output}: cannot be written: {error.strerror or error}", "name another file with --output"
        ) from None


@command.command("import")
@click.argument("path", metavar="FILE|FOLDER", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="PATH",
    help="Write the trace into this new folder; GOAL and Chakra: a program as GOAL text into this file.  "
    "[default: count only]",
)
@click.option("--format", "format_name", type=click.Choice(IMPORTED), help="Of FILE.  [default: by its content]")
@_flops_option
@click.option(
    "--align",
    is_flag=True,
    help="DUMPI, liballprof: move the clock of each rank so that MPI_Init returns everywhere at once.",
)
@json_option
def import_command(
    path: Path, output: Path | None, format_name: str | None, flops_per_s: float | None, align: bool, as_json: bool
) -> None:
    """Read a trace of another tool, count its calls, and write it as a trace or a program of hocket.

    DUMPI, OTF2, liballprof and SimGrid's time-independent traces become traces with their communicators; GOAL (text, or
    binary of LogGOPSim) and execution traces of Chakra become programs. FILE is one file of a trace, FOLDER has the
    files of all ranks.

    \b
    Examples:
      hocket trace import dumpi-2019.05.22.11.54.43.meta -o app.trace
      hocket trace import scorep-20261125/traces.otf2 -o app.trace
      hocket trace import ti_traces --flops 5e9 -o app.trace
      hocket simulate app.trace --network fat-tree:2x2x4 --bandwidth "10 Gbit/s" --latency "1 us"
    """
    import_numpy()
    from hocket.cli.reporter import TerminalReporter
    from hocket.interop.traces.importing import ImportRequest, run

    found = run(ImportRequest(path, output, format_name, flops_per_s, align), TerminalReporter())
    if as_json:
        print_json(found.values)
        return
    _print_counts(found)
    for note in found.notes:
        message(note)
    if found.output is None:
        message("nothing was written: -o names the folder of the trace or the file of the program")
    else:
        click.echo(f"{found.output}")


def _print_counts(found: Imported) -> None:
    print_table(
        ["function" if found.trace else "operation", "calls" if found.trace else "number", "bytes"],
        [[one.name, f"{one.calls:,}", f"{one.bytes:,}"] for one in found.calls],
        title=f"{found.format}: {found.ranks} rank(s), {sum(one.calls for one in found.calls):,} "
        f"{'calls' if found.trace else 'operations'}",
    )
    if found.trace is None:
        return
    print_table(
        ["communicator", "ranks", "members", "made by", "calls"],
        [
            [one.id, len(one.members) or "unknown", _members(one.members), one.made_by, f"{one.calls:,}"]
            for one in found.communicators[:MOST_COMMUNICATORS]
        ],
    )
    if len(found.communicators) > MOST_COMMUNICATORS:
        message(f"{len(found.communicators) - MOST_COMMUNICATORS} more communicators: --json has all")
    if not found.notes:
        message("nothing was left out")


def _members(members: tuple[int, ...]) -> str:
    shown = " ".join(map(str, members[:12]))
    return f"{shown} ... {members[-1]}" if len(members) > 12 else shown


@command.command()
@click.argument("what", metavar="TRACE", type=click.Path(path_type=Path))
@click.option("--format", "format_name", type=click.Choice(EXPORTED), required=True)
@click.option("-o", "--output", type=OutputPath(), metavar="PATH", required=True, help="The new folder or the file.")
@_flops_option
@click.option(
    "--reduce-rate",
    type=click.FloatRange(min=0, min_open=True),
    metavar="BYTES",
    help="GOAL: bytes that a rank combines each second.  [default: reductions take no time]",
)
@click.option(
    "--plan", type=click.Path(path_type=Path), metavar="FILE", help="GOAL, Chakra: the plan of the collectives."
)
@click.option("--messages", is_flag=True, help="TI: collectives as the messages of the algorithms that a replay takes.")
@json_option
def export(
    what: Path,
    format_name: str,
    output: Path,
    flops_per_s: float | None,
    reduce_rate: float | None,
    plan: Path | None,
    messages: bool,
    as_json: bool,
) -> None:
    """Write a trace in the format of another tool.

    \b
    --format otf2         for Vampir and others: a folder
             ti           SimGrid's time-independent trace: a folder
             perfetto     JSON for ui.perfetto.dev: a file
             parquet      a table of calls: a file
             goal, goal-binary, chakra
                          the messages of a replay; TRACE may also be a program in one of these formats

    \b
    Examples:
      hocket trace export hocket-trace --format otf2 -o app.otf2
      hocket trace export hocket-trace --format ti --flops 5e9 -o app.ti
      hocket trace export hocket-trace --format goal -o app.goal
    """
    import_numpy()
    from hocket.cli.reporter import TerminalReporter
    from hocket.interop.traces.exporting import ExportRequest, run

    done = run(ExportRequest(what, format_name, output, flops_per_s, reduce_rate, plan, messages), TerminalReporter())
    if as_json:
        print_json(done.values)
        return
    for note in done.notes:
        message(f"not in it: {note}")
    click.echo(f"{done.output}")
