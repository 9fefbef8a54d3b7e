# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket schedule`: build, search, check, show and convert the schedule of a collective."""

from __future__ import annotations

from typing import Any

import click

from hocket.cli.common import json_option
from hocket.cli.schedule.circuits import circuit_options
from hocket.cli.schedule.options import asked_for, refuse_others, schedule_options


@click.command()
@click.argument("what", metavar="COLLECTIVE|FILE.json", required=False)
@schedule_options
@circuit_options
@json_option
@click.pass_context
def command(context: click.Context, /, what: str | None, **given: Any) -> int:
    """Search, build or read the schedule of a collective; check it; print it.

    With --network the schedule that is predicted to be fastest is chosen: order, algorithm and chunks; with --optimal
    the fastest broadcast or reduction of one segment on a tree is searched and proven. With --algorithm and --ranks a
    textbook algorithm is built; FILE.json is read. A schedule that is wrong ends with status 1. With --circuits the
    network is circuit-switched; of a TRACE that `hocket record` wrote, circuits stay up between its collectives.

    \b
    --format list                what each rank does
             json                a file of format hocket.schedule/1
             goal, msccl         what LogGOPSim reads, and MSCCL (XML)
             sends               messages in the order of time
             ranks               the order of ranks, one a line; as files for mpiexec:
             openmpi-rankfile, hydra-hosts
    --json prints a summary and all violations, or what the search found.

    \b
    Examples:
      hocket schedule allreduce
      hocket schedule bcast --ranks 8 --algorithm pipelined_chain --segments 4
      hocket schedule my-schedule.json --format goal --bytes "1 MB"
      hocket schedule allgather --network networks/two-clusters.toml --bytes 64KiB
      hocket schedule bcast --network networks/hourai-f14.toml --bytes 1MB --optimal --draw bcast.html
      hocket schedule bcast --circuits --ranks 32 --ports 3 --bytes 100kB --latency 100us --bandwidth 1Gbit/s \\
          --setup 5ms --teardown 5ms
      hocket schedule TRACE --circuits --ports 4 --latency 100us --bandwidth 1Gbit/s --setup 5ms --teardown 5ms
    """
    if given["circuits"]:
        from hocket.cli.schedule import circuits

        return circuits.run(context, what, **given)
    if what is None:
        raise click.MissingParameter(ctx=context, param_type="argument", param_hint="'COLLECTIVE|FILE.json'")
    from hocket.schedules import schedule as schedules

    is_file = schedules.is_file(what)
    if not is_file:
        schedules.algorithms_of(what)
    refuse_others(context, asked_for(given, is_file), what)
    if not is_file and given["network_text"] is not None:
        from hocket.cli.schedule import on_network

        return on_network.run(what, **given)
    from hocket.cli.schedule import build

    return build.run(what, **given)
