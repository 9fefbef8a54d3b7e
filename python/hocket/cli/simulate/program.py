# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""`hocket simulate` of a schedule, a program or a trace."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hocket.cli.common import available_cores, note, print_json, print_table
from hocket.cli.options import load_network, message_costs
from hocket.cli.simulate.progress import ended, watched

if TYPE_CHECKING:
    from hocket.cli.simulate.outputs import Outputs

_LINKS_SHOWN = 12


def run(
    what: str,
    *,
    network_text: str,
    bandwidth: str | None,
    latency: str | None,
    routing: str | None,
    seed: int | None,
    bytes_text: str | None,
    root: int,
    pieces: int,
    order: str,
    plan_path: Path | None,
    costs_folder: Path | None,
    send_overhead: str | None,
    receive_overhead: str | None,
    rendezvous: str | None,
    sharing: str,
    threads: int | None,
    reference: bool,
    as_json: bool,
    outputs: Outputs,
    **_others: Any,  # of patterns; they were not given
) -> int:
    from hocket import algorithms, parse_bytes
    from hocket.plan import Plan
    from hocket.simulation import ProgramOptions, Request, kind_of, simulate_what
    from hocket.simulation_statistics import peak_rss_bytes

    begin_s = time.perf_counter()
    request = Request(
        None if bytes_text is None else parse_bytes(bytes_text, "--bytes"), root, pieces, order == "depth-first"
    )
    plan = None if plan_path is None else Plan.from_file(plan_path)
    with watched(f"simulating {what}", "operations") as on_progress:
        network = load_network(network_text, bandwidth, latency, routing, seed)
        costs = message_costs(network, send_overhead, receive_overhead, rendezvous, sharing, costs_folder)
        setup_s = time.perf_counter() - begin_s
        found = simulate_what(
            what,
            network,
            request,
            costs,
            plan,
            ProgramOptions(reference, outputs.wanted, threads or available_cores(), on_progress),
        )
    recorded = found[0].recorded
    if recorded:
        from hocket.trace import shortfalls

        for line in shortfalls(recorded.incomplete):
            note(line)
    stopped = [one.timeline for one in found if not one.timeline.completed]
    values: dict[str, Any] = {
        "network": network.name,
        "sharing": costs.sharing,
        "reference": reference,
        "completed": not stopped,
        "setup_s": setup_s,
        "solve_s": time.perf_counter() - begin_s - setup_s,
        "peak_rss_bytes": peak_rss_bytes(),
        "results": [one.to_dict(network) for one in found],
    }
    if outputs.wanted:
        from hocket.simulation_record import recorded_program

        outputs.write(lambda: recorded_program(found[0], network, values))
    if as_json:
        print_json(values)
    else:
        from hocket.report.text import NOT_MEASURED

        rows = [(one.name, f"{one.timeline.makespan_s * 1e3:.3f} ms", one.timeline.num_events) for one in found]
        print_table(["", "time", "events"], rows, f"{what} on {network.name}, sharing {costs.sharing}")
        for sentence in recorded.sentences if recorded else ():
            click.echo(sentence)
        if pieces == 1 and kind_of(what) == "collective":
            collective = what.partition(":")[0]
            pipelined = {a.name for a in algorithms() if a.collective == collective and a.pipelines}
            if pipelined & {one.name for one in found}:
                click.echo(f"(in 1 piece: --pieces N cuts it into N; `hocket schedule {collective}` finds the best)")
        if len(found) == 1:
            cells = [
                (
                    load["source"],
                    load["target"] + (" (half duplex)" if load["half_duplex"] else ""),
                    f"{round(load['bytes']):,}",
                    NOT_MEASURED if load["use"] is None else f"{load['use']:.0%}",
                )
                for load in values["results"][0]["links"]
            ]
            print_table(["from", "to", "bytes", "in use"], cells[:_LINKS_SHOWN])
            if len(cells) > _LINKS_SHOWN:
                click.echo(f"({len(cells) - _LINKS_SHOWN} links less used are not shown; --json has them all)")
    status = ended(on_progress, stopped[0].makespan_s if stopped else None)
    outputs.finish(quiet=as_json)
    return status
