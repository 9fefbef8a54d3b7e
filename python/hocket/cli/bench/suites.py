# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket bench run`, `show` and `compare`: suites of MPI functions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hocket.bench.mpi.statistics import AVERAGES
from hocket.cli.common import command_argument, json_option, print_json, print_table
from hocket.cli.options import Duration, FiniteRange, OutputPath
from hocket.cli.reporter import TerminalReporter
from hocket.errors import Error, InvalidInput

if TYPE_CHECKING:
    from hocket.bench.mpi.comparison import Comparison
    from hocket.bench.mpi.request import InTurns, PlanResult
    from hocket.bench.mpi.summary import BenchResult

_average_option = click.option(
    "--average", type=click.Choice(AVERAGES), default="median", show_default=True, help="In the table."
)

_within_option = click.option(
    "--within", type=FiniteRange(0.001, 0.5), default=0.05, show_default=True,
    help="Times that differ by at most this part are the same.",
)  # fmt: skip
_fail_option = click.option(
    "--fail-if", type=click.Choice(["slower", "different"]), help="End with status 3 if a point is."
)
_all_option = click.option("--all", "shows_all", is_flag=True, help="Also the points that are the same or undecided.")


@click.command()
@click.argument("suite")
@click.option(
    "--quick", is_flag=True,
    help="As the suite's [quick] says: fewer sizes; about two minutes with one that comes along.",
)  # fmt: skip
@click.option("--launches", type=click.IntRange(1, 1000), help="Instead of the suite's.")
@click.option(
    "--budget", "budget_s", type=Duration(1), metavar="TIME",
    help="For all launches of each command, without their start, instead of the suite's.",
)  # fmt: skip
@click.option(
    "--timeout", "timeout_s", type=Duration(1), default=20.0, show_default="20s", metavar="TIME",
    help="An item that shows no life for so long has hung.",
)  # fmt: skip
@click.option(
    "--against", "others", multiple=True, metavar="COMMAND",
    help="Measure this command too, launch by launch in turns, and compare; in quotes; several times.",
)  # fmt: skip
@click.option(
    "--find", type=FiniteRange(0.001, 0.5), metavar="PART",
    help="With --against: as many launches of one round as it takes to find a difference of this part, --launches at "
    "most, while --budget lasts.",
)  # fmt: skip
@_within_option
@_fail_option
@_all_option
@click.option(
    "-N", "--network", metavar="FILE|KIND:SHAPE",
    help="To emulate: ranks run on its hosts.  [default: the hosts of the launcher]",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print the points and the time that they take.")
@click.option("--probe-again", is_flag=True, help="Find out again what the MPI can do.")
@_average_option
@click.option(
    "-o", "--output", type=OutputPath(), default=Path("hocket-bench"), show_default=True, help="Result folder."
)
@click.option("--force", is_flag=True, help="Begin anew: remove the results that are there.")
@json_option
@command_argument
@click.pass_context
def run(
    context: click.Context,
    suite: str,
    quick: bool,
    launches: int | None,
    budget_s: float | None,
    timeout_s: float,
    others: tuple[str, ...],
    find: float | None,
    within: float,
    fail_if: str | None,
    shows_all: bool,
    network: str | None,
    dry_run: bool,
    probe_again: bool,
    average: str,
    output: Path,
    force: bool,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Measure MPI functions as a suite says.

    SUITE is a file, or one that comes along: arrival, collectives, guidelines, io, mbl2-io, mbl2-rma, overlap, p2p,
    rma. The command is the launcher with its options, without a program. Every item is tried first: one that crashes,
    hangs or leaves wrong data is reported, and the others go on. An interrupted run continues when the same command is
    given again. index.html in the result folder shows all.

    \b
    Examples:
      hocket bench run mbl2-rma --quick -- mpiexec -n 2
      hocket bench run my-suite.toml -o cluster -- srun -N 4 -n 64
      hocket bench run mbl2-rma --network networks/star8.toml -- mpiexec -n 8
      hocket bench run mbl2-rma --launches 10 --against '/opt/old/bin/mpiexec -n 4' -- mpiexec -n 4
      hocket bench run p2p --find 0.1 --against '/opt/old/bin/mpiexec -n 2' --fail-if slower -- mpiexec -n 2
    """
    from hocket.bench.mpi.request import BenchRequest, InTurns, PlanResult, command_of
    from hocket.bench.mpi.request import run as run_request
    from hocket.bench.mpi.summary import BenchResult

    if find and not others:
        raise InvalidInput("--find needs something to compare with", "name a command with --against")
    if fail_if and not others:
        raise InvalidInput("--fail-if needs something to compare with", "name a command with --against")
    request = BenchRequest(
        suite, command, output, quick, launches, budget_s, timeout_s, dry_run, probe_again, force,
        tuple(map(command_of, others)), within, network, find=find,
    )  # fmt: skip
    done = run_request(request, TerminalReporter())
    if isinstance(done, PlanResult):
        _print_plan(done, as_json)
        return
    if isinstance(done, InTurns):
        _print_in_turns(done, shows_all, within, as_json)
    elif isinstance(done, BenchResult):
        _print(done, average, as_json)
    if not as_json:
        click.echo(f"{output / 'results.jsonl'}: every sample; {output / 'index.html'}: figures and tables")
    if isinstance(done, InTurns) and any(_fails(one, fail_if) for one in done.comparisons):
        context.exit(3)


@click.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@_average_option
@click.option("--as", "kind", type=click.Choice(["table", "html", "csv", "openmetrics", "parquet"]), default="table",
              show_default=True, help="Parquet and HTML need --output, Parquet also pyarrow.")  # fmt: skip
@click.option("-o", "--output", type=OutputPath(), help="Write there instead of printing.")
@json_option
def show(results: tuple[Path, ...], average: str, kind: str, output: Path | None, as_json: bool) -> None:
    """Print the results of `hocket bench run`, or write them for another tool.

    HTML is one page that loads nothing: of several results with all in the same figures, and each compared with the
    first one of its suite.

    \b
    Examples:
      hocket bench show hocket-bench
      hocket bench show hocket-bench --as csv -o results.csv
      hocket bench show before after --as html -o both.html
    """
    from hocket.bench.mpi.request import ShowRequest
    from hocket.bench.mpi.request import run as run_request
    from hocket.bench.mpi.summary import BenchResult

    found = [done for path in results if isinstance(done := run_request(ShowRequest(path)), BenchResult)]
    if kind == "table":
        if as_json and len(found) > 1:
            raise InvalidInput(f"--json prints one result; {len(found)} are named", "name one")
        for done in found:
            _print(done, average, as_json)
        return
    from hocket.bench.mpi.export import write

    text = write(found, kind, output)
    if text is not None:
        click.echo(text, nl=False)


@click.command()
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@_within_option
@_fail_option
@_all_option
@json_option
@click.pass_context
def compare(
    context: click.Context,
    before: Path,
    after: Path,
    within: float,
    fail_if: str | None,
    shows_all: bool,
    as_json: bool,
) -> None:
    """Compare two results: faster, slower, the same, or undecided, for each point of both.

    A difference must show between launches: with fewer than 4 in each result none can be proven, and with many points
    more are needed; the table says so. `hocket bench run --against` measures two commands in turns.

    \b
    Examples:
      hocket bench compare before after
      hocket bench compare before after --fail-if slower
    """
    from hocket.bench.mpi.comparison import Comparison
    from hocket.bench.mpi.request import CompareRequest
    from hocket.bench.mpi.request import run as run_request

    comparison = run_request(CompareRequest(before, after, within))
    assert isinstance(comparison, Comparison)
    if as_json:
        print_json(comparison.values)
    else:
        _print_comparison(comparison, ("before", "after"), shows_all, within)
    if _fails(comparison, fail_if):
        context.exit(3)


def _fails(comparison: Comparison, fail_if: str | None) -> bool:
    if fail_if and not comparison.differences:
        raise Error(
            "nothing was compared: no point is measured on both sides, so --fail-if has nothing to judge by",
            'compare results of one suite and the same number of ranks; the lines "only" say what is missing',
        )
    counts = comparison.counts
    return bool((fail_if and counts["slower"]) or (fail_if == "different" and counts["faster"]))


def _print_comparison(
    comparison: Comparison, names: tuple[str, str], shows_all: bool, within: float, has_goal: bool = False
) -> None:
    from hocket.bench.mpi.comparison import VERDICTS
    from hocket.bench.mpi.tables import COMPARED, compared_rows

    rows = compared_rows(comparison, VERDICTS if shows_all else VERDICTS[:2])
    if rows:
        columns = [{"before": names[0], "after": names[1]}.get(name, name) for name in COMPARED]
        print_table(columns, rows)
    click.echo(", ".join(f"{count} {verdict}" for verdict, count in comparison.counts.items()))
    if comparison.least_p > 0.05:
        click.echo(
            "too few launches to prove a difference for so many points: measure more with --launches and --budget"
        )
    if comparison.counts["undecided"] and comparison.launches_needed and not has_goal:
        launches = comparison.launches_needed
        click.echo(
            f"to tell differences of {within:.0%}, about {launches} launches of each; many short ones cost least"
        )
    for name, missing in zip(names, (comparison.only_before, comparison.only_after), strict=True):
        for variant in missing:
            click.echo(f"only {name}: {variant}")


def _print_in_turns(done: InTurns, shows_all: bool, within: float, as_json: bool) -> None:
    if as_json:
        print_json(done.values)
        return
    own = done.result.values["mpi"]
    for i, (other, comparison) in enumerate(zip(done.others, done.comparisons, strict=True)):
        click.echo(f"{own} (after), compared with {other.values['mpi']} (before, against-{i + 1}):")
        _print_comparison(comparison, ("before", "after"), shows_all, within, done.found is not None)
    if done.found is not None:
        click.echo(done.found.sentence)


def _print(result: BenchResult, average: str, as_json: bool) -> None:
    from hocket.bench.mpi.tables import COLUMNS, rows, sentences

    if as_json:
        print_json(result.values)
        return
    columns = [average if name == "median" else name for name in COLUMNS]
    run_ = result.results.runs[0] if result.results.runs else {}
    title = f"{result.results.suite['name']}: {result.mpi}, {run_.get('ranks', '')} ranks"
    print_table(columns, rows(result, average), title)
    for line in sentences(result):
        click.echo(line)


def _print_plan(plan: PlanResult, as_json: bool) -> None:
    values = plan.values
    if as_json:
        print_json(values)
        return
    rows = [
        (
            point["number"] or "",
            point["item"],
            " ".join(f"{name}={value}" for name, value in point["options"].items()),
            "" if point["bytes"] is None else point["bytes"],
            point["ranks"],
            point["obstacle"],
        )
        for point in values["points"]
    ]
    print_table(("no.", "item", "options", "bytes", "ranks", "left out"), rows)
    each_s = values["budget_s"] / values["visits"]
    minutes = values["commands"] * values["budget_s"] / 60
    several = f", of {values['commands']} commands in turns" if values["commands"] > 1 else ""
    click.echo(
        f"{len(rows)} points, {values['launches']} launches of {values['rounds']} rounds: {values['visits']} visits of "
        f"{each_s:.2f} s, {minutes:.1f} min in all{several}"
    )
    if values["find"] is not None:
        click.echo("--find then goes on to as many launches as it needs, while that time lasts")
    if values["most_launches"] > values["launches"]:
        click.echo(
            f"up to {values['most_launches']} launches in that time, for points whose interval is wider than the target"
        )
