# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket simulate`: the time of a pattern, a schedule, a program or a trace on a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hocket.cli.common import import_numpy, json_option, message, print_json
from hocket.cli.options import generator_options, message_cost_options, network_option
from hocket.cli.reporter import TerminalReporter
from hocket.cli.simulate.options import pattern_options, refuse_others, what_if_options
from hocket.cli.simulate.progress import ended, watched


@click.command()
@click.argument("what", nargs=-1, required=True)
@network_option()
@generator_options
@click.option(
    "-b",
    "--bytes",
    "bytes_text",
    metavar="BYTES",
    help="Of a message of a pattern (1 MB unless given), bcast, reduce or allreduce; or block of a rank.",
)
@click.option("--root", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True)
@click.option(
    "--segments",
    "--pieces",
    "segments",
    type=click.IntRange(1, 2**31 - 1),
    default=1,
    show_default=True,
    help="Segments of a pipelined algorithm.",
)
@click.option(
    "--order", type=click.Choice(["rank", "depth-first"]), default="rank", show_default=True, help="Of the ranks."
)
@click.option(
    "--plan", "plan_path", type=click.Path(path_type=Path), metavar="FILE", help="The plan of a trace's collectives."
)
@message_cost_options
@pattern_options
@what_if_options
@json_option
@click.pass_context
def command(context: click.Context, /, what: tuple[str, ...], **given: Any) -> int:
    """Predict the time of WHAT on a network.

    WHAT is a traffic pattern (random-ring, random-permutation, shift, all-to-all, incast, nearest-neighbour,
    matrix:FILE), a collective or COLLECTIVE:ALGORITHM, a schedule (JSON), a program (GOAL text or binary, Chakra) or a
    trace folder. Rank r of it is rank r of the network. Several WHAT@RANKS are jobs at once, on these ranks of the
    network; they may be traces, programs, schedules and COLLECTIVE:ALGORITHM, and WHAT@RANKS+TIME begins later. Ctrl-C
    ends a simulation with what is known by then.

    FILE has the bytes that rank i sends to rank j in row i, column j, as text or .npy; what a rank sends to itself, on
    the diagonal, counts as a message and takes no time.

    \b
    Examples:
      hocket simulate random-ring --network fat-tree:8x8x16 --bandwidth 1GB/s --messages 10 --bytes-spread 0.5
      hocket simulate random-permutation --network dragonfly:4,8,4 --messages 10 -o result
      hocket simulate bcast --network networks/two-clusters.toml --bytes "1 MB"
      hocket simulate bcast:pipelined_chain --network star:16 --bandwidth "1 Gbit/s" --bytes "1 MB" --segments 64
      hocket simulate program.goal --network fat-tree:2x2x4 --bandwidth "10 Gbit/s" --latency "1 us"
      hocket simulate hocket-trace --network star:8 --bandwidth 1GB/s --cpu-scale 7=1.2 --noise normal:0.05
      hocket simulate hocket-trace@0-7 program.goal@8-15+10ms --network fat-tree:2x2x4 --bandwidth "10 Gbit/s"
    """
    from hocket.errors import InvalidInput

    try:
        from hocket.simulation.jobs import has_ranks

        if len(what) > 1 or has_ranks(what[0]):
            return _simulate_jobs(context, what, given)
        return _simulate(context, what[0], given)
    except InvalidInput as error:
        if error.hint:
            raise
        raise InvalidInput(error.message, f"`{context.command_path} --help` shows what it accepts") from None


def _simulate(context: click.Context, what: str, given: dict[str, Any]) -> int:
    import_numpy()
    from hocket.cli.simulate.outputs import checked_outputs
    from hocket.cli.simulate.request import request_of
    from hocket.cli.simulate.tables import print_pattern, print_program
    from hocket.simulation.patterns import PARAMETERS, pattern_kind
    from hocket.simulation.programs import kind_of
    from hocket.simulation.request import run

    kind = pattern_kind(what) or kind_of(what)
    refuse_others(context, kind, what)
    as_json = given.pop("as_json")
    outputs = checked_outputs(given.pop("output"), given.pop("trace_json"))
    request = request_of(what, kind, as_json=as_json, record=outputs.wanted, **given)
    with watched(f"simulating {what}", "messages" if kind in PARAMETERS else "operations") as watch:
        done = run(request, TerminalReporter(watch))
    for line in done.notes:
        message(line)
    if outputs.wanted:
        outputs.write(done.record)
    if as_json:
        print_json(done.values)
    elif kind in PARAMETERS:
        print_pattern(done.values)
    else:
        print_program(request, done)
    status = ended(watch, None if done.completed else done.simulated_s)
    outputs.finish(quiet=as_json)
    return status


def _simulate_jobs(context: click.Context, what: tuple[str, ...], given: dict[str, Any]) -> int:
    import_numpy()
    from hocket.cli.simulate.request import jobs_request_of
    from hocket.cli.simulate.tables import print_jobs
    from hocket.errors import InvalidInput
    from hocket.simulation.jobs import run
    from hocket.traces.rank_summary import shortfalls

    refuse_others(context, "jobs", " ".join(what))
    for name in ("output", "trace_json", "reference"):
        if given[name]:
            raise InvalidInput(
                f"--{name.replace('_', '-')} goes with one simulation, not with several jobs", "leave it out"
            )
    request = jobs_request_of(what, given)
    with watched(f"simulating {len(request.jobs)} jobs", "operations") as watch:
        done = run(request, TerminalReporter(watch))
    for job in done.jobs:
        for line in shortfalls(job.recorded.incomplete) if job.recorded else job.notes:
            message(f"{job.job.what}: {line}")
    if given["as_json"]:
        print_json(done.values)
    else:
        print_jobs(done)
    return ended(watch, None if done.completed else done.simulated_s)
